"""Make the editors' files from the grammar, the tables and the Pygments lexer; `--check` fails if one is stale.

python editors/generate.py [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from miltext.syntax.vocabulary import KEYWORDS_FILE, keywords_of_the_grammar

EDITORS = Path(__file__).resolve().parent


def keywords() -> str:
    """Make `keywords.json`, which the lexer is made from, and all that follows."""
    return json.dumps(keywords_of_the_grammar()._asdict(), indent=1) + "\n"


def made_of_the_lexer() -> dict[Path, Callable[[], str]]:
    """Name the function that makes each file."""
    from generator import emacs, highlightjs, rouge, snippets, textmate, vim

    return {
        EDITORS / "web" / "highlightjs-mil.mjs": highlightjs.highlightjs_module,
        EDITORS / "rouge" / "mil.rb": rouge.rouge_lexer,
        EDITORS / "vscode" / "syntaxes" / "mil.tmLanguage.json": textmate.textmate_grammar,
        EDITORS / "vscode" / "snippets" / "operations.json": snippets.operation_snippets,
        EDITORS / "sublime" / "MIL.sublime-syntax": textmate.sublime_syntax,
        EDITORS / "vim" / "syntax" / "mil.vim": vim.vim_syntax,
        EDITORS / "vim" / "words" / "mil.txt": vim.vim_words,
        EDITORS / "emacs" / "mil-tables.el": emacs.emacs_tables,
    }


def settle(path: Path, text: str, check: bool) -> bool:
    """Return whether a file already holds the text, and without `check` write it otherwise."""
    current = path.read_bytes().decode() if path.exists() else None
    if current == text:
        return True
    print(f"{'stale' if check else 'written'}: {path.relative_to(EDITORS.parent)}")
    if not check:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is stale")
    check = parser.parse_args().check
    current = [settle(Path(KEYWORDS_FILE), keywords(), check)]
    current += [settle(path, make(), check) for path, make in made_of_the_lexer().items()]
    return int(check and not all(current))


if __name__ == "__main__":
    sys.exit(main())
