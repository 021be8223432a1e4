"""The first text of a process: a short one is read without coarse tokens, with the same result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import GOLDEN, corpus_files, wire

from miltext import ParseError, parse
from miltext.parsing import parser

TEXTS = sorted(path for path in GOLDEN.rglob("*.mil") if path.stat().st_size <= parser.SHORT)


@pytest.fixture(autouse=True)
def _new_process() -> Iterator[None]:
    forget()
    yield
    forget()


def forget() -> None:
    for made in (parser._parser, parser._fine_parser):
        made.cache_clear()


def outcome(text: str) -> object:
    """The bytes of the Program, or the errors of a text."""
    try:
        return wire(parse(text))
    except ParseError as refused:
        return refused.diagnostics


@pytest.mark.parametrize("path", [*TEXTS, *corpus_files("**/*.mil")], ids=str)
def test_both_ways_have_one_result(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")[: parser.SHORT]
    for changed in (text, text.replace("\n", "\r\n"), text.replace(" ", "  /* c */ ")):
        each = changed[: parser.SHORT]
        first, second = outcome(each), outcome(each)
        assert first == second
        assert parser._fine_parser.cache_info().currsize == parser._parser.cache_info().currsize == 1
        forget()


@pytest.mark.parametrize(("size", "is_fine"), [(parser.SHORT, True), (parser.SHORT + 1, False)])
def test_a_long_first_text_has_coarse_tokens(size: int, is_fine: bool) -> None:
    text = "program(1.3) {}"
    parse(text + " " * (size - len(text)))
    assert bool(parser._fine_parser.cache_info().currsize) is is_fine
    assert bool(parser._parser.cache_info().currsize) is not is_fine
    parse(text)
    assert parser._parser.cache_info().currsize == 1
