"""Formatting keeps the program and every comment, wherever comments stand, and is done after one time."""

from __future__ import annotations

import random
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from conftest import rules_read, wire
from support.gaps import FORMS, tokens

from miltext import Diagnostic, ParseError, format_text, parse
from miltext.formatting.document import Document
from miltext.formatting.layout import FinePhrase, Layout
from miltext.parsing.parser import parse_tree
from miltext.syntax.tree import Statement, walk

BOTH = " /* %d */ // %d too\n"


def inserted(text: str, forms: dict[int, str]) -> str:
    """The text with a comment more in each of these gaps, at the token before: gap 0 is before the first token."""
    ends = [0, *(token.end for token in tokens(text))]
    pieces, last = [], 0
    for gap in sorted(forms):
        pieces += [text[last : ends[gap]], forms[gap].replace("%d", str(gap))]
        last = ends[gap]
    return "".join([*pieces, text[last:]])


@lru_cache(maxsize=8)
def _comments(text: str) -> tuple[str, ...]:
    found = [text[span.start : span.end] for span in parse_tree(text).comments]
    return tuple(re.sub("\r+\n", "\n", comment).rstrip() for comment in found)


def comments(text: str) -> list[str]:
    """The comments of a text in their order, line ends as LF. A law asks several times; the text is read once."""
    return [*_comments(text)]


@lru_cache(maxsize=2)
def _operations(text: str) -> list[tuple[int, int, bool]]:
    """The places of a text's operations, and which are plain. The text is read once for all gaps that are tried."""
    nodes = walk(parse_tree(text, whole=True).root)
    return [(node.start, node.end, isinstance(node, Statement)) for node in nodes if node.name == "operation"]


def left_plain(text: str, gaps: set[int]) -> int:
    """How many plain operations have none of these gaps inside."""
    places = sorted(token.start for gap, token in enumerate(tokens(text)) if gap in gaps)
    plain = ((start, end) for start, end, is_plain in _operations(text) if is_plain)
    return sum(bisect_right(places, start) == bisect_left(places, end) for start, end in plain)


@contextmanager
def paths() -> Iterator[list[bool]]:
    """How the formatter lays out each plain operation meanwhile: True is as one token, False by its phrases."""
    lay_out, taken = Layout.plain_operation, list[bool]()

    def spy(layout: Layout, token: str) -> Document:
        try:
            text = lay_out(layout, token)
        except FinePhrase:
            taken.append(False)
            raise
        taken.append(True)
        return text

    Layout.plain_operation = spy  # type: ignore[method-assign, assignment]
    try:
        yield taken
    finally:
        Layout.plain_operation = lay_out  # type: ignore[method-assign]


@lru_cache(maxsize=8)
def said(text: str) -> bytes | None:
    """The wire of the Program that a text spells; None if it spells none. A law asks several times for one text."""
    try:
        return wire(parse(text))
    except ParseError:
        return None


def refusal(read: Callable[[str], object], text: str) -> list[Diagnostic]:
    """What keeps a text from being read; nothing if nothing does."""
    try:
        read(text)
    except ParseError as refused:
        return refused.diagnostics
    return []


def check_laid_out_or_refused(text: str) -> None:
    """What the fine rules read is laid out, if there is such a dialect; what they refuse is refused for the same."""
    found = refusal(format_text, text)
    assert found == refusal(parse_tree, text) or [each.code for each in found] == ["MIL101"]


def check_formatting(text: str) -> str:
    """The laws of any text that can be laid out, with the comments that it has. Return it laid out."""
    return _check_laid_out(text, format_text(text))


def _check_laid_out(text: str, formatted: str) -> str:
    assert sorted(comments(formatted)) == sorted(comments(text))
    assert said(formatted) == said(text)
    assert format_text(formatted) == formatted
    assert format_text(text.replace("\n", "\r\n")).replace("\r\n", "\n") == formatted
    return formatted


def check_gaps(text: str, forms: dict[int, str], *, canonical: bool = True) -> str:
    """What must hold of a text with comments more in some gaps. Of a canonical text, they keep their order, too."""
    crowded = inserted(text, forms)
    before = comments(crowded)
    plain = left_plain(text, set(forms))
    assert len(before) == len(comments(text)) + sum(form.count("%d") for form in forms.values())
    assert rules_read(crowded, fast=True)["plain_operation"] == plain
    with paths() as taken:
        formatted = format_text(crowded)
    assert taken == [True] * plain
    assert not canonical or comments(formatted) == before
    assert said(formatted) == said(text)
    return _check_laid_out(crowded, formatted)


def between_operations(text: str) -> list[int]:
    """The gaps before and after the operations of a text; before one that is plain or not, and before a block's end."""
    starts = {start for start, _, _ in _operations(text)}
    return [gap for gap, token in enumerate(tokens(text)) if token.start in starts or token.text == "}"]


def check_some_gaps(text: str, seed: int, *, canonical: bool = True) -> None:
    """The laws with comments more between all operations, and in a few gaps anywhere."""
    rng = random.Random(seed)
    check_gaps(text, {gap: rng.choice([*FORMS, BOTH]) for gap in between_operations(text)}, canonical=canonical)
    few = rng.sample(range(len(tokens(text)) + 1), min(9, len(tokens(text))))
    check_gaps(text, {gap: rng.choice([*FORMS, BOTH]) for gap in few}, canonical=canonical)
