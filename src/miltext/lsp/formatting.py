"""Formatting: the canonical layout, as edits of the lines that it changes."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError, Span
from miltext.formatting.document import keep_line_ends
from miltext.formatting.formatter import format_text, verified_format
from miltext.pairing.sequences import common
from miltext.syntax.editing import Edit, edited

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from miltext.lsp.documents import View


def format_document(view: View, _: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    """Return the edits that lay the document out; none if the text is broken."""
    document = view.document
    return document.edits(_line_edits(document.text, _formatted(document.text)))


def format_range(view: View, params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit]:
    """Return the edits of the whole layout that touch the lines of a range, if they alone leave the meaning unchanged.

    They would change it if, for example, a function moved from inside the range to outside of it.
    """
    text = view.document.text
    formatted = _formatted(text)
    touched = _lines(view, params.range)
    edits = [
        edit
        for edit in _line_edits(text, formatted)
        if edit[0] < touched.end and edit[1] + (edit[0] == edit[1]) > touched.start
    ]
    try:
        is_same = keep_line_ends(text, format_text(edited(text, edits).text)) == formatted
    except MiltextError:
        return []
    return view.document.edits(edits) if is_same else []


def _formatted(text: str) -> str:
    """Return the text in canonical layout, with its own line ends; a broken text as it is."""
    try:
        return keep_line_ends(text, verified_format(text))
    except MiltextError:
        return text


def _lines(view: View, range: lsp.Range) -> Span:
    """Return the lines of a range, with their line ends; a range that ends at the beginning of a line does not touch
    it.
    """
    start, end = sorted([(range.start.line, range.start.character), (range.end.line, range.end.character)])
    last = end[0] - (end[1] == 0 and end[0] > start[0])
    return Span(view.document.positions.offset(start[0], 0), view.document.positions.offset(last + 1, 0))


def _line_edits(text: str, formatted: str) -> list[Edit]:
    """Return the edits, in order, that turn one text into another: one a line if the numbers of lines are equal."""
    old, new = text.splitlines(keepends=True), formatted.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, old))]
    edits: list[Edit] = []
    i, j = 0, 0
    for end, edge in [*common(old, new), (len(old), len(new))]:
        if end - i == edge - j:
            edits += [(starts[i + nth], starts[i + nth + 1], new[j + nth]) for nth in range(end - i)]
        else:
            edits.append((starts[i], starts[end], "".join(new[j:edge])))
        i, j = end + 1, edge + 1
    return edits
