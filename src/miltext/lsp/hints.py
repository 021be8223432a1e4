"""Inlay hints: the omitted types of a draft, and the parameters of positional arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.lsp.calls import by_place, operations_in, opset_at
from miltext.syntax.names import DRAFT
from miltext.syntax.phrases import name_in, used_name

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.lsp.documents import View
    from miltext.syntax.tree import Node


def inlay_hints(view: View, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    """Return the hints in a range, in the order of the text; accepting a type writes it out, if it can be there."""
    if not view.scopes.is_draft:
        return []
    chosen = view.span(params.range)
    types = [
        (place.start, 1, _type(view, place, text))
        for place, text in view.reading.inferred.items()
        if place.start <= chosen.end and place.end >= chosen.start
    ]
    parameters = ((place, 0, hint) for place, hint in _parameters(view, chosen))
    return [hint for *_, hint in sorted([*parameters, *types], key=lambda found: found[:2])]


def _type(view: View, place: Span, text: str) -> lsp.InlayHint:
    """Return the hint of an inferred type. It comes behind an output's `_`, and before a name without a type, a
    literal or a nested operation, whose type cannot be written.
    """
    written = view.text[place.start : place.end]
    shown = text.removesuffix(f"({written})")
    is_behind, can_stand = written == DRAFT, written in (DRAFT, "") or shown != text
    span = view.range(*place)
    return lsp.InlayHint(
        span.end if is_behind else span.start,
        shown.rstrip(),
        lsp.InlayHintKind.Type,
        [lsp.TextEdit(span, text)] if can_stand and not view.shift else None,
        padding_left=is_behind,
        padding_right=not is_behind,
    )


def _parameters(view: View, chosen: Span) -> Iterator[tuple[int, lsp.InlayHint]]:
    """Yield the parameters of positional arguments, except before a value of the same name."""
    for operation in operations_in(view.reading.root, chosen):
        for argument, parameter in by_place(operation, opset_at(view.scopes, operation.start)):
            if parameter != _value(argument) and argument.start <= chosen.end and argument.end >= chosen.start:
                place = view.range(argument.start, argument.start).start
                kind = lsp.InlayHintKind.Parameter
                yield argument.start, lsp.InlayHint(place, f"{parameter} =", kind, padding_right=True)


def _value(argument: Node) -> str | None:
    """Return the name of an argument's value, if it is one."""
    *_, binding = argument.children
    return name_in(used_name(binding)) or None
