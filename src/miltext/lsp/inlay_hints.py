"""Inlay hints: the types that a draft leaves out, where they would stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.syntax.names import DRAFT

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.lsp.documents import View


def inlay_hints(view: View, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    """Return the inferred types in a range; accepting one writes it out."""
    span = view.span(params.range)
    return [
        _hint(view, place, text)
        for place, text in sorted(view.reading.inferred.items(), key=lambda hint: hint[0].start)
        if place.start <= span.end and place.end >= span.start
    ]


def _hint(view: View, place: Span, text: str) -> lsp.InlayHint:
    """Behind the `_` of an output its type, before a literal the type that it gets."""
    written = view.text[place.start : place.end]
    edit = lsp.TextEdit(view.range(place.start, place.end), text)
    if written == DRAFT:
        label, position = text, view.position(place.end)
    else:
        label, position = text.removesuffix(f"({written})"), view.position(place.start)
    is_output = written == DRAFT
    return lsp.InlayHint(
        position,
        label,
        lsp.InlayHintKind.Type,
        None if view.shift else [edit],
        padding_left=is_output,
        padding_right=not is_output,
    )
