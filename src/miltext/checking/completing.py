"""A draft made complete: the types that it leaves out are written into its text."""

from __future__ import annotations

from collections.abc import Iterator

from miltext.checking import check
from miltext.checking.drafts import fill
from miltext.diagnostics import ParseError, Span
from miltext.formatting.formatter import verified_format
from miltext.formatting.line_ends import keep_line_ends
from miltext.parsing.parser import parse
from miltext.parsing.recovery import recover


def infer_draft(text: str, *, path: str | None = None) -> str:
    """The canonical MIL text of a draft, with the types that it leaves out; comments, numbers and line ends stay.

    A text that leaves nothing out is only laid out. `path` is the name that errors show. Raises ParseError with all
    that keeps the text from being a Program, what cannot be inferred included; MiltextError if the layout cannot be
    proved to say the same.
    """
    read = recover(text)
    filled = fill(text, read)
    if read.diagnostics or filled.diagnostics or filled.open:
        found = [diagnostic for diagnostic in check(text) if diagnostic.severity == "error"]
        raise ParseError(found, text=text, path=path)
    complete = "".join(_edited(text, filled.edits))
    parse(complete, path=path)
    return keep_line_ends(text, verified_format(complete, path=path))


def _edited(text: str, edits: dict[Span, str]) -> Iterator[str]:
    end = 0
    for span in sorted(edits, key=lambda span: span.start):
        yield text[end : span.start]
        yield edits[span]
        end = span.end
    yield text[end:]
