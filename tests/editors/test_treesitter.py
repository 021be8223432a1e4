"""The grammar of tree-sitter reads what miltext reads: by Lark's tables here, and by tree-sitter where its tool is."""

from __future__ import annotations

import logging
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS, GOLDEN, ROOT
from lark import Lark, Token, Tree
from lark.exceptions import GrammarError, LarkError
from support.highlighters import absent
from support.treesitter import FOLDER, LarkGrammar, Refused, TreeSitter, grammar_json

from miltext.syntax.tables import lark_parser

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason=str(absent("node")))

LONG = 1 << 17
"""Bytes of a text that takes too long here."""

SHORT = GOLDEN / "highlight" / "short.mil"
TERMINALS = set(re.findall(r"^([A-Z_]+)(?:\.\d)?:", (ROOT / "grammar" / "mil.lark").read_text(), re.MULTILINE))


@cache
def grammar() -> dict[str, Any]:
    return grammar_json()


@cache
def tree_sitter() -> TreeSitter:
    return TreeSitter(grammar())


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
def test_each_golden_and_each_text_of_the_corpus_is_read_or_refused_as_lark_does() -> None:
    texts = texts_below(GOLDEN, ROOT / "examples", CORPUS)
    verdicts = {path: is_read_by_lark(text) for path, text in texts.items()}
    assert {path for path, text in texts.items() if is_read(text) != verdicts[path]} == set()
    assert {*verdicts.values()} == {True, False}


@needs_node
def test_a_text_without_one_of_its_tokens_is_read_or_refused_as_lark_does() -> None:
    text = SHORT.read_text(encoding="utf-8")
    cuts = [(f"{text[: at.start_pos]} {text[at.end_pos :]}", at) for at in tokens_of(lark().parse(text))]
    assert [token for cut, token in cuts if is_read(cut) != is_read_by_lark(cut)] == []


@needs_node
def test_the_nodes_are_those_of_larks_trees() -> None:
    for path, text in texts_below(GOLDEN / "highlight", GOLDEN / "print", CORPUS / "apple").items():
        if is_read_by_lark(text):
            assert nodes(text) == larks_nodes(text), path


def nodes(text: str) -> list[tuple[str, int, int]]:
    found = (node for node in tree_sitter().parse(text).walk() if node.is_named and node.name != "comment")
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
        assert tree_sitter().parse(text).shown() == re.sub(r"\s+", " ", expected).strip()
    assert cases
