"""The foldable parts of a document, and the selections around a place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.syntax.tree import Statement

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.lsp.documents import View
    from miltext.syntax.tree import Node

_FOLDED = ("program", "function", "block", "specialization", "operation", "inner_block")
"""The phrases that can be folded if they are longer than a line."""


# ---- folding


def folding(view: View, _: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
    """Return the functions, operations and blocks of several lines, and comments that follow one another."""
    found = {}
    for phrase in _phrases(view.reading.root):
        start, end = _lines(view, phrase.span)
        if end > start + 1:
            found[start] = lsp.FoldingRange(start, end - 1)
    return [*found.values(), *_comments(view)]


def _phrases(root: Node) -> Iterator[Node]:
    """Yield the foldable phrases, outer ones first. A plain operation contains none."""
    todo = [root]
    while todo:
        phrase = todo.pop()
        if phrase.name in _FOLDED:
            yield phrase
        if phrase.name in (*_FOLDED, "bodies") and not isinstance(phrase, Statement):
            todo += phrase.children


def _lines(view: View, span: Span) -> tuple[int, int]:
    place = view.range(*span)
    return place.start.line, place.end.line


def _comments(view: View) -> Iterator[lsp.FoldingRange]:
    """Yield the spans of comments over more than one line."""
    stretches: list[tuple[int, int]] = []
    for start, end in (_lines(view, span) for span in view.reading.comments):
        if stretches and start <= stretches[-1][1] + 1:
            start, _ = stretches.pop()
        stretches.append((start, end))
    kind = lsp.FoldingRangeKind.Comment
    return (lsp.FoldingRange(start, end, kind=kind) for start, end in stretches if end > start)


# ---- selection


def selections(view: View, params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange]:
    """Return for each place the phrases around it, from the innermost outwards."""
    return [_selection(view, position) for position in params.positions]


def _selection(view: View, position: lsp.Position) -> lsp.SelectionRange:
    offset = view.offset(position)
    found: lsp.SelectionRange | None = None
    place: tuple[int, int] | None = None
    for phrase in view.chain(offset):
        if (phrase.start, phrase.end) != place and phrase.start <= offset <= phrase.end:
            place = (phrase.start, phrase.end)
            found = lsp.SelectionRange(view.range(*place), found)
    return found or lsp.SelectionRange(view.range(offset, offset))
