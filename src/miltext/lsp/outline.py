"""The shape of a document: its symbols, its foldable parts, and the selections around a place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.syntax import phrases
from miltext.syntax.phrases import Name
from miltext.syntax.tree import Statement

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.diagnostics import Span
    from miltext.lsp.documents import View
    from miltext.syntax.tree import Node

_FOLDED = ("program", "function", "block", "specialization", "operation", "inner_block")
"""The phrases that can be folded if they are longer than a line."""


# ---- symbols


def symbols(view: View, _: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    """Return the functions, in each its operations by their outputs, and in these the operations of their blocks."""
    return symbols_in(view.reading.root, view.range)


def symbols_in(root: Node, place: Callable[[int, int], lsp.Range]) -> list[lsp.DocumentSymbol]:
    """Return the symbols of a tree; `place` returns the range of a span of its text."""
    return [_function(place, function) for function in phrases.functions(root)]


def _function(place: Callable[[int, int], lsp.Range], function: Node) -> lsp.DocumentSymbol:
    inside: list[lsp.DocumentSymbol] = []
    for body in phrases.bodies(function):
        inside += _block(place, body)
    opset = phrases.opset_name(function) or None
    return _symbol(place, function, phrases.made(function), lsp.SymbolKind.Function, opset, inside)


def _block(place: Callable[[int, int], lsp.Range], body: Node) -> list[lsp.DocumentSymbol]:
    return [_operation(place, each) for each in phrases.operations(phrases.block(body))]


def _operation(place: Callable[[int, int], lsp.Range], operation: Node) -> lsp.DocumentSymbol:
    detail, made = phrases.name_in(operation), phrases.made(operation)
    inside = [symbol for inner in phrases.inner_blocks(operation) for symbol in _block(place, inner)]
    if made:
        kind = lsp.SymbolKind.Constant if detail == "const" else lsp.SymbolKind.Variable
        return _symbol(place, operation, made, kind, detail, inside)
    token = phrases.name_token(operation)
    named = [Name.of(token)] if token else []
    return _symbol(place, operation, named, lsp.SymbolKind.Event, detail or None, inside)


def _symbol(
    place: Callable[[int, int], lsp.Range],
    phrase: Node,
    names: list[Name],
    kind: lsp.SymbolKind,
    detail: str | None,
    inside: list[lsp.DocumentSymbol],
) -> lsp.DocumentSymbol:
    """Return a symbol with the first name; the protocol requires a nonempty name, at a place inside the symbol."""
    name = next(iter(names), None)
    is_inside = name is not None and phrase.start <= name.start <= name.end <= phrase.end
    whole, chosen = (place(each.start, each.end) for each in (phrase, name if name and is_inside else phrase))
    return lsp.DocumentSymbol(
        name.text if name and name.text else "?", kind, whole, chosen, detail, children=inside or None
    )


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
