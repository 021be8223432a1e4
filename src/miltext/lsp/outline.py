"""The shape of a document: its symbols, what can be folded, and what to select round a place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.lsp.trees import first
from miltext.parsing.spans import name_of
from miltext.syntax.tree import named

if TYPE_CHECKING:
    from miltext.lsp.documents import View
    from miltext.syntax.tree import Node

_FOLDED = ("program", "function", "block", "specialization", "operation", "inner_block")
"""The phrases that can be folded where they are longer than a line."""


# ---- symbols


def symbols(view: View, _: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    """Return the functions, in each its operations by what they make, and in these the operations of their blocks."""
    return [_function(view, function) for function in named(view.reading.root, "function")]


def _function(view: View, function: Node) -> lsp.DocumentSymbol:
    inside: list[lsp.DocumentSymbol] = []
    for bodies in named(function, "bodies"):
        for body in named(bodies, "block", "specialization"):
            inside += _block(view, body)
    opset = first(function, "opset")
    detail = "" if opset is None else opset.children[1].token or ""
    return _symbol(view, function, first(function, "NAME"), lsp.SymbolKind.Function, detail, inside)


def _block(view: View, body: Node) -> list[lsp.DocumentSymbol]:
    block = body if body.name == "block" else first(body, "block")
    return [_operation(view, each) for each in named(block, "operation")] if block else []


def _operation(view: View, operation: Node) -> lsp.DocumentSymbol:
    results = first(operation, "results")
    values = list(named(results, "named_value", "draft_value")) if results else []
    type_name = first(operation, "NAME")
    token = values[0].children[-1] if values else type_name
    made = name_of(type_name.token or "") if type_name else ""
    kind = lsp.SymbolKind.Constant if made == "const" else lsp.SymbolKind.Variable
    inside = [symbol for inner in named(operation, "inner_block") for symbol in _block(view, inner)]
    return _symbol(view, operation, token, kind if values else lsp.SymbolKind.Event, made, inside)


def _symbol(
    view: View, phrase: Node, token: Node | None, kind: lsp.SymbolKind, detail: str, inside: list[lsp.DocumentSymbol]
) -> lsp.DocumentSymbol:
    """Return a symbol, whose name must say something and stand inside of it."""
    place = token if token is not None and phrase.start <= token.start <= token.end <= phrase.end else phrase
    name = (name_of(token.token or "") if token is not None else "") or "?"
    whole, chosen = view.range(phrase.start, phrase.end), view.range(place.start, place.end)
    return lsp.DocumentSymbol(name, kind, whole, chosen, detail or None, children=inside or None)


# ---- folding


def folding(view: View, _: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
    """Functions, operations and blocks of several lines, and comments that follow one another."""
    found = {}
    for phrase in _phrases(view.reading.root):
        start, end = view.position(phrase.start).line, view.position(phrase.end).line
        if end > start + 1:
            found[start] = lsp.FoldingRange(start, end - 1)
    return [*found.values(), *_comments(view)]


def _phrases(root: Node) -> Iterator[Node]:
    """Yield the phrases that can be folded, outer ones first."""
    todo = [root]
    while todo:
        phrase = todo.pop()
        if phrase.name in _FOLDED:
            yield phrase
        if phrase.name in (*_FOLDED, "bodies"):
            todo += [child for child in phrase.children if child.children]


def _comments(view: View) -> Iterator[lsp.FoldingRange]:
    first_line, last_line = 0, -2
    for span in [*view.reading.comments, None]:
        start = view.position(span.start).line if span else last_line + 2
        if start > last_line + 1:
            if last_line > first_line:
                yield lsp.FoldingRange(first_line, last_line, kind=lsp.FoldingRangeKind.Comment)
            first_line = start
        last_line = view.position(span.end).line if span else last_line


# ---- selection


def selections(view: View, params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange]:
    """For each place the phrases round it, from the innermost outwards."""
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
