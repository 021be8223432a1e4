"""Make the editors' files from the grammar, the tables and the Pygments lexer; `--check` fails if one is stale.

python editors/generate.py [--check]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from generated import settle

from miltext.syntax.vocabulary import KEYWORDS_FILE, keywords_of_the_grammar

EDITORS = Path(__file__).resolve().parent


def keywords() -> str:
    """Make `keywords.json`, which the lexer is made from, and all that follows."""
    return json.dumps(keywords_of_the_grammar()._asdict(), indent=1) + "\n"


def made_of_the_lexer() -> dict[Path, Callable[[], str]]:
    """Name the function that makes each file."""
    from generator import emacs, highlightjs, queries, rouge, snippets, textmate, treesitter, vim

    return {
        EDITORS / "web" / "highlightjs-mil.mjs": highlightjs.highlightjs_module,
        EDITORS / "rouge" / "mil.rb": rouge.rouge_lexer,
        EDITORS / "vscode" / "syntaxes" / "mil.tmLanguage.json": textmate.textmate_grammar,
        EDITORS / "vscode" / "snippets" / "operations.json": snippets.operation_snippets,
        EDITORS / "sublime" / "MIL.sublime-syntax": textmate.sublime_syntax,
        EDITORS / "tree-sitter" / "grammar.js": treesitter.treesitter_grammar,
        EDITORS / "tree-sitter" / "queries" / "highlights.scm": lambda: queries.highlights(queries.STANDARD),
        EDITORS / "helix" / "runtime" / "queries" / "mil" / "highlights.scm": lambda: queries.highlights(queries.HELIX),
        EDITORS / "zed" / "languages" / "mil" / "highlights.scm": lambda: queries.highlights(queries.ZED),
        EDITORS / "vim" / "syntax" / "mil.vim": vim.vim_syntax,
        EDITORS / "vim" / "words" / "mil.txt": vim.vim_words,
        EDITORS / "emacs" / "mil-tables.el": emacs.emacs_tables,
    }


def files() -> Iterator[tuple[Path, str | bytes]]:
    """Yield the keywords, and the files that are made from the lexer, which reads the keywords."""
    from generator.icon import icon

    yield Path(KEYWORDS_FILE), keywords()
    yield EDITORS / "vscode" / "icon.png", icon()
    yield from ((path, make()) for path, make in made_of_the_lexer().items())


if __name__ == "__main__":
    settle(__doc__, files())
