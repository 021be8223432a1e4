"""Formatting: the canonical layout, as edits of the lines that it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.diagnostics import MiltextError, Span
from miltext.formatting.formatter import format_text, verified_format
from miltext.formatting.line_ends import keep_line_ends
from miltext.models.pairing.sequences import common

if TYPE_CHECKING:
    from miltext.lsp.documents import View

Edit = tuple[int, int, str]


def format_document(view: View, _: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    """Return the edits that lay the document out; none where the text is broken."""
    return _sent(view, _line_edits(view.document.text, _formatted(view.document.text)))


def format_range(view: View, params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit]:
    """Those edits of the whole layout that touch the lines of a range, if the text says the same with only these.

    It does not where a function, say, moves from inside the range to outside of it.
    """
    text = view.document.text
    formatted = _formatted(text)
    touched = _lines(view, params.range)
    edits = [
        edit
        for edit in _line_edits(text, formatted)
        if edit[0] < touched.end and edit[1] + (edit[0] == edit[1]) > touched.start
    ]
    changed = text
    for start, end, replacement in reversed(edits):
        changed = changed[:start] + replacement + changed[end:]
    try:
        return _sent(view, edits) if keep_line_ends(text, format_text(changed)) == formatted else []
    except MiltextError:
        return []


def _formatted(text: str) -> str:
    """Return the text in canonical layout, with its own line ends; as it is where it is broken."""
    try:
        return keep_line_ends(text, verified_format(text))
    except MiltextError:
        return text


def _lines(view: View, range: lsp.Range) -> Span:
    """Return the lines of a range, with what ends them; a line at whose beginning it ends is not touched."""
    positions = view.document.positions
    start, end = sorted([(range.start.line, range.start.character), (range.end.line, range.end.character)])
    last = end[0] - (end[1] == 0 and end[0] > start[0])
    return Span(positions.offset(start[0], 0), positions.offset(last + 1, 0))


def _line_edits(text: str, formatted: str) -> list[Edit]:
    """Return the edits, in order, that make one text of another, each of a line where as many come as go."""
    old, new = text.splitlines(keepends=True), formatted.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    edits: list[Edit] = []
    i, j = 0, 0
    for end, edge in [*common(old, new), (len(old), len(new))]:
        if end - i == edge - j:
            edits += [(starts[i + nth], starts[i + nth + 1], new[j + nth]) for nth in range(end - i)]
        else:
            edits.append((starts[i], starts[end], "".join(new[j:edge])))
        i, j = end + 1, edge + 1
    return edits


def _sent(view: View, edits: list[Edit]) -> list[lsp.TextEdit]:
    positions = view.document.positions
    return [
        lsp.TextEdit(
            lsp.Range(lsp.Position(*positions.position(start)), lsp.Position(*positions.position(end))), replacement
        )
        for start, end, replacement in edits
    ]
