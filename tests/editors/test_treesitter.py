"""The grammar of tree-sitter reads what miltext reads: by Lark's tables here, and by tree-sitter where its tool is."""

from __future__ import annotations

import json
import logging
import re
import shutil
import subprocess
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from conftest import CORPUS, GOLDEN, ROOT
from lark import Lark, Token, Tree
from lark.exceptions import GrammarError, LarkError
from support.highlighters import EDITORS, SCRIPTS, absent, emacs, run, vim
from support.token_roles import Piece, contradictions
from support.treesitter import FOLDER, LarkGrammar, Refused, SyntaxNode, TreeSitter, grammar_json
from support.treesitter_queries import Pattern, pieces, read_query

from miltext.syntax.tables import lark_parser

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason=str(absent("node")))

LONG = 1 << 17
"""Bytes of a text that takes too long here."""

READ = [GOLDEN / "highlight" / "everything.mil", GOLDEN / "highlight" / "short.mil"]
"""A program and a draft with all that the language has."""

TERMINALS = set(re.findall(r"^([A-Z_]+)(?:\.\d)?:", (ROOT / "grammar" / "mil.lark").read_text(), re.MULTILINE))


@cache
def grammar() -> dict[str, Any]:
    return grammar_json()


@cache
def tree_sitter() -> TreeSitter:
    return TreeSitter(grammar())


@cache
def tree_of(text: str) -> SyntaxNode:
    return tree_sitter().parse(text)


@cache
def lark() -> Lark:
    return lark_parser(propagate_positions=True)


def texts_below(*folders: Path) -> dict[Path, str]:
    paths = (path for folder in folders for path in sorted(folder.rglob("*.mil")) if path.stat().st_size < LONG)
    return {path: path.read_bytes().decode(errors="replace") for path in paths}


def is_read_by_lark(text: str) -> bool:
    try:
        lark().parse(text)
    except LarkError:
        return False
    return True


def is_read(text: str) -> bool:
    try:
        tree_sitter().parse(text)
    except Refused:
        return False
    return True


# ---- the grammar


def conflicts(rules: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """What Lark says of the places in a grammar where one token does not decide."""
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="lark"):
        try:
            Lark(rules, parser="lalr", start="program", debug=True)
        except GrammarError as error:
            return [str(error)]
    return [record.getMessage() for record in caplog.records if "conflict" in record.getMessage().lower()]


@needs_node
def test_the_grammar_has_no_conflict(caplog: pytest.LogCaptureFixture) -> None:
    assert conflicts(LarkGrammar(grammar()).rules, caplog) == []


@pytest.mark.parametrize("rules", ["name: word word?", "name: word | ours\nours: WORD"])
def test_conflicts_are_seen(rules: str, caplog: pytest.LogCaptureFixture) -> None:
    assert conflicts(f"program: name name?\nword: WORD\n{rules}\n%declare WORD", caplog)


@needs_node
def test_no_rule_is_empty() -> None:
    assert [name for name, body in grammar()["rules"].items() if can_be_empty(body)] == []


def can_be_empty(body: dict[str, Any]) -> bool:
    """Whether a rule matches nothing, if no other rule does so: tree-sitter refuses it."""
    if body["type"] in ("BLANK", "REPEAT"):
        return True
    if "members" in body:
        return (all if body["type"] == "SEQ" else any)(map(can_be_empty, body["members"]))
    return "content" in body and can_be_empty(body["content"])


@needs_node
def test_texts_of_goldens_and_corpus_are_read_as_by_lark() -> None:
    texts = texts_below(GOLDEN, ROOT / "examples", CORPUS)
    verdicts = {path: is_read_by_lark(text) for path, text in texts.items()}
    assert {path for path, text in texts.items() if is_read(text) != verdicts[path]} == set()
    assert {*verdicts.values()} == {True, False}


@needs_node
def test_a_text_with_one_wrong_token_is_read_as_by_lark() -> None:
    text = READ[1].read_text(encoding="utf-8")
    tokens = tokens_of(lark().parse(text))
    for token, following in pairwise(tokens):
        for wrong in ("", f"{token} {token}", str(following)):
            edited = f"{text[: token.start_pos]} {wrong} {text[token.end_pos :]}"
            assert is_read(edited) == is_read_by_lark(edited), (token, token.line, wrong)


@needs_node
def test_the_nodes_equal_those_of_larks_trees() -> None:
    for path, text in texts_below(GOLDEN / "highlight", GOLDEN / "print", CORPUS / "apple").items():
        if is_read_by_lark(text):
            assert nodes(text) == larks_nodes(text), path


def nodes(text: str) -> list[tuple[str, int, int]]:
    found = (node for node in tree_of(text).walk() if node.is_named and node.name != "comment")
    return sorted((node.name, node.start, node.end) for node in found)


def larks_nodes(text: str) -> list[tuple[str, int, int]]:
    from generator.treesitter import RENAMED

    tree = lark().parse(text)
    phrases = [(str(part.data), part.meta.start_pos, part.meta.end_pos) for part in tree.iter_subtrees()]
    tokens = [token for token in tokens_of(tree) if token.type in TERMINALS]
    names = [RENAMED.get(token.type, token.type.lower()) for token in tokens]
    places = [(token.start_pos or 0, (token.start_pos or 0) + len(token)) for token in tokens]
    return sorted([*phrases, *((name, *place) for name, place in zip(names, places, strict=True))])


def tokens_of(tree: Tree[Token]) -> list[Token]:
    return list(tree.scan_values(lambda part: isinstance(part, Token)))


@needs_node
def test_words_that_touch_the_next_name_are_the_one_difference() -> None:
    program = "program(1.3) {{ func main({} x) {{ }} -> (); }}"
    texts = [program.format(type_).replace(" x", "x") for type_ in ("$5", "$empty", "$absent")]
    assert [is_read(text) for text in texts] == [True, True, True]
    assert [is_read_by_lark(text) for text in texts] == [False, False, False]


@needs_node
@pytest.mark.parametrize("case", [*(FOLDER / "test" / "corpus").glob("*.txt")], ids=lambda path: path.stem)
def test_the_corpus_of_the_tool_is_read_into_its_trees(case: Path) -> None:
    _, *cases = re.split(r"=+\n.+\n=+\n", case.read_text(encoding="utf-8"))
    for text, _, expected in (part.partition("\n---\n") for part in cases):
        assert tree_of(text).shown() == re.sub(r"\s+", " ", expected).strip()
    assert cases


# ---- queries

QUERIES = sorted(path for path in EDITORS.rglob("*.scm") if "node_modules" not in path.parts)
HIGHLIGHTS = {
    "STANDARD": FOLDER / "queries" / "highlights.scm",
    "HELIX": EDITORS / "helix" / "runtime" / "queries" / "mil" / "highlights.scm",
    "ZED": EDITORS / "zed" / "languages" / "mil" / "highlights.scm",
}
"""By the table of captures in the generator."""


def query_of(path: Path) -> list[Pattern]:
    return read_query(path.read_text(encoding="utf-8"))


@needs_node
@pytest.mark.parametrize("editor", HIGHLIGHTS)
def test_a_token_has_the_class_that_the_parser_gives_it(editor: str) -> None:
    from generator import queries

    query, names = query_of(HIGHLIGHTS[editor]), getattr(queries, editor)
    for path, text in texts_below(GOLDEN / "highlight", CORPUS / "handwritten", CORPUS / "runtime_dumps").items():
        if is_read_by_lark(text):
            found = pieces(query, tree_of(text), text)
            assert contradictions(text, found, names) == [], path


@needs_node
@pytest.mark.parametrize("editor", HIGHLIGHTS)
def test_no_token_has_two_captures(editor: str) -> None:
    query = query_of(HIGHLIGHTS[editor])
    for path in READ:
        text = path.read_text(encoding="utf-8")
        places = Counter(start for start, *_ in pieces(query, tree_of(text), text))
        assert [start for start, count in places.items() if count > 1] == [], path


@needs_node
@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.relative_to(EDITORS).as_posix())
def test_each_part_of_a_query_matches_something(path: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in READ]
    trees = [(tree_of(text), text) for text in texts]
    parts = [part for pattern in query_of(path) for part in alternatives(pattern)]
    unmatched = [part for part in parts if not any(pieces([part], root, text) for root, text in trees)]
    assert unmatched == []


def alternatives(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern with each of its options alone."""
    for option in pattern.options or (pattern,):
        yield pattern._replace(options=(option,)) if pattern.options else pattern


@needs_node
@pytest.mark.parametrize("path", [*READ, *sorted(CORPUS.glob("apple/*.mil"))], ids=lambda path: path.name)
def test_helix_indents_as_texts_are_laid_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    query = query_of(EDITORS / "helix" / "runtime" / "queries" / "mil" / "indents.scm")
    levels = helix_levels(pieces(query, tree_of(text), text), text)
    lines = enumerate(text.splitlines())
    read = ((number, line) for number, line in lines if line.strip() and not line.strip().startswith("//"))
    laid_out = {number: (len(line) - len(line.lstrip())) / 4 for number, line in read}
    assert {number: levels[number] for number in laid_out} == laid_out


def helix_levels(captured: list[Piece], text: str) -> list[int]:
    """The level of each line, by the rules of Helix's manual.

    A node adds a level to the lines behind its first; of those that begin on one line only one counts, unless they
    `always` do. A node at the begin of a line takes a level away.
    """
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
    nodes = [(capture, bisect(starts, start) - 1, start, start + len(piece)) for start, capture, piece in captured]
    levels = []
    for number, start in enumerate(starts):
        place = start + len(text[start:]) - len(text[start:].lstrip(" "))
        around = [node for node in nodes if node[2] <= place < node[3]]
        always = Counter(line for capture, line, *_ in around if capture == "indent.always" and line < number)
        once = {line for capture, line, *_ in around if capture == "indent" and line < number} - always.keys()
        less = {line for capture, line, at, _ in around if capture == "outdent" and not text[starts[line] : at].strip()}
        levels.append(always.total() + len(once) - len(less))
    return levels


# ---- what editors are set up with


@needs_node
def test_emacs_gives_a_token_the_face_of_its_kind(tmp_path: Path) -> None:
    from generator.emacs import FACES

    if reason := absent("emacs"):
        pytest.skip(reason)
    emacs(SCRIPTS / "treesit.el", MIL_OUT=tmp_path / "patterns.scm")
    query = query_of(tmp_path / "patterns.scm")
    for path in READ:
        text = path.read_text(encoding="utf-8")
        found = [piece for pattern in reversed(query) for piece in pieces([pattern], tree_of(text), text)]
        assert contradictions(text, found, FACES) == [], path


def test_emacs_without_tree_sitter_has_the_older_mode(tmp_path: Path) -> None:
    if reason := absent("emacs"):
        pytest.skip(reason)
    shown = (
        "(with-temp-buffer (mil-ts-mode) (princ (list mode-name (car font-lock-defaults) (fboundp 'treesit-ready-p))))"
    )
    found = run("emacs", "-Q", "--batch", "-L", EDITORS / "emacs", "-l", "mil-ts-mode", "--eval", shown)
    if found.endswith("t)"):
        pytest.skip("this Emacs has tree-sitter")
    assert found == "(MIL ((mil--fontify . 0)) nil)"


def test_neovim_finds_the_grammar_and_the_type_of_a_file(tmp_path: Path) -> None:
    if reason := absent("nvim"):
        pytest.skip(reason)
    configuration = EDITORS / "neovim" / "tree-sitter.lua"
    output = tmp_path / "found.json"
    vim("nvim", SCRIPTS / "treesitter.lua", MIL_LUA=configuration, MIL_OUT=output)
    found = json.loads(output.read_text(encoding="utf-8"))
    assert found["filetype"] == "mil"
    assert Path(found["installed"]["path"]) == FOLDER
    assert (FOLDER / found["installed"]["queries"] / "highlights.scm").exists()


def toml_of(path: Path) -> dict[str, Any]:
    return tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()


def test_helix_and_zed_name_the_grammar_and_its_files() -> None:
    (grammar,) = json.loads((FOLDER / "tree-sitter.json").read_text(encoding="utf-8"))["grammars"]
    helix = toml_of(EDITORS / "helix" / "languages.toml")
    (language,), (source,) = helix["language"], helix["grammar"]
    assert (language["name"], language["file-types"]) == (grammar["name"], grammar["file-types"])
    assert (source["name"], Path(source["source"]["path"]).name) == (grammar["name"], FOLDER.name)
    assert HIGHLIGHTS["HELIX"].parent.name == grammar["name"]
    zed = toml_of(EDITORS / "zed" / "languages" / "mil" / "config.toml")
    assert (zed["grammar"], zed["path_suffixes"]) == (grammar["name"], grammar["file-types"])
    assert grammar["name"] in toml_of(EDITORS / "zed" / "extension.toml")["grammars"]
    assert all((FOLDER / grammar[kind]).exists() for kind in ("highlights", "locals", "injections"))
    assert re.match(zed["first_line_pattern"], "program(1.3)")


def test_helix_starts_the_language_server() -> None:
    helix = toml_of(EDITORS / "helix" / "languages.toml")
    servers = [helix["language-server"][name] for name in helix["language"][0]["language-servers"]]
    (lsp,) = ([server["command"], *server["args"]] for server in servers)
    assert lsp == ["miltext", "lsp"]


def test_all_parts_have_one_version() -> None:
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    metadata = json.loads((FOLDER / "tree-sitter.json").read_text(encoding="utf-8"))["metadata"]
    extension = toml_of(EDITORS / "zed" / "extension.toml")
    vscode = json.loads((EDITORS / "vscode" / "package.json").read_text(encoding="utf-8"))
    assert {package["version"], metadata["version"], extension["version"]} == {vscode["version"]}


# ---- tree-sitter itself


def tool() -> str | None:
    """The command of tree-sitter, on the path or installed beside the grammar, if it runs."""
    places = [shutil.which("tree-sitter") or "", str(FOLDER / "node_modules" / ".bin" / "tree-sitter")]
    return next((place for place in places if place and Path(place).exists() and runs(place)), None)


def runs(command: str) -> bool:
    return subprocess.run([command, "--version"], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the grammar's folder, with the parser that tree-sitter has made."""
    if tool() is None:
        pytest.skip("tree-sitter is not installed: run `npm ci` in editors/tree-sitter, which downloads its program")
    folder = tmp_path_factory.mktemp("grammar") / "tree-sitter-mil"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("node_modules"))
    assert asked(folder, "generate").returncode == 0
    return folder


def asked(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(tool()), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_tree_sitter_and_lark_read_the_same_texts(generated: Path) -> None:
    for path, text in texts_below(GOLDEN, ROOT / "examples", CORPUS).items():
        done = asked(generated, "parse", "--quiet", path)
        assert (done.returncode == 0) == is_read_by_lark(text), done.stdout


def test_tree_sitter_reads_its_corpus_into_our_trees(generated: Path) -> None:
    done = asked(generated, "test")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.relative_to(EDITORS).as_posix())
def test_tree_sitter_takes_each_query(path: Path, generated: Path) -> None:
    done = asked(generated, "query", path, *READ)
    assert done.returncode == 0, done.stderr
