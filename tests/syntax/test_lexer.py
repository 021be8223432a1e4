"""The lexer has two expressions, one for ASCII alone: on such texts, both find the same tokens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import GOLDEN, corpus_files
from hypothesis import given
from hypothesis import strategies as st

from miltext.syntax.lexer import COARSE, FINE, STATEMENTS, lexer

LEXERS = [lexer(coarse) for coarse in (FINE, STATEMENTS, COARSE)]

FILES = [*sorted(GOLDEN.rglob("*.mil")), *corpus_files("**/*.mil")]

PIECES = [
    "tensor<fp16, [1]> ",
    "y = relu(x = x)",
    '$"a b"',
    '"\\u{e9}"',
    '"\\',
    "/* c */",
    "// d\n",
    "[[1, 2], [3]])",
    "$npy",
]
"""Tokens, whole or broken, that stand beside any other character."""


def found(expression: re.Pattern[str], text: str) -> list[tuple[int | None, tuple[int, int]]]:
    return [(match.lastindex, match.span(match.lastindex or 0)) for match in expression.finditer(text)]


def assert_equal_tokens(text: str) -> None:
    for each in LEXERS:
        assert each.expression(text) is each._of_ascii
        assert found(each._of_ascii, text) == found(each._of_all, text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name[:60])
def test_both_expressions_find_the_same_tokens_in_files(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    text = text.encode("ascii", "ignore").decode()
    for part in text, text.replace("\n", "\r\n"), text[1 : len(text) // 2], text.replace(";", "\x7f;\x00", 9):
        assert_equal_tokens(part)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_both_expressions_find_the_same_tokens_in_any_characters(text: str) -> None:
    assert_equal_tokens(text)


@given(st.lists(st.sampled_from(PIECES) | st.characters(max_codepoint=127), max_size=20))
def test_both_expressions_find_the_same_tokens_in_any_pieces(pieces: list[str]) -> None:
    assert_equal_tokens("".join(pieces))


@pytest.mark.parametrize("character", ["\x80", "\x9f", "é", "\u2028", "\ufeff", "\U0001f600"])
def test_another_character_needs_the_whole_expression(character: str) -> None:
    for each in LEXERS:
        assert each.expression(f'"{character}"') is each._of_all


def test_the_expression_for_ascii_contains_no_other_character() -> None:
    for each in LEXERS:
        assert each._of_ascii.pattern.isascii()
        assert not re.search(r"\\u|\\x[89a-f]", each._of_ascii.pattern)
        assert not each._of_all.pattern.isascii()
