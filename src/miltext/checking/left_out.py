"""The Program of a text with omitted values: with the values filled in, or only with their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import Diagnostic, ParseError, Span, codes
from miltext.parsing.lowering.left_out import LeavingOut
from miltext.parsing.parser import attempt
from miltext.syntax.lexer import FINE, lexer
from miltext.syntax.names import FILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.schema.proto import Program

UNFIT = (codes.UNKNOWN_ELIDED_LITERAL, codes.ELIDED_LITERAL_TYPE)
"""The codes of unreadable values, and of values that do not match their type."""


def program_of(text: str, originals: Sequence[Program]) -> tuple[Program | None, list[Diagnostic]]:
    """Return the Program of a text with omitted values, None if it has other mistakes; and findings about these values.

    The `originals` give the values. If a value is missing or does not fit, only the type of each is known. Arrays and
    imports stay in their files, and values and operations name them.
    """
    if "$elided" not in text and not any(word in text for word in FILES):
        return None, []
    places = [at for _, word, at in lexer(FINE).tokens(text, 0) if word == "$elided"]
    findings = [_note(len(places), places[0])] if places else []
    if places and originals:
        from miltext.building.filling import fill

        try:
            return fill(text, "", None, originals, imports=True).program, []
        except ParseError as failure:
            findings = [found for found in failure.diagnostics if found.code in UNFIT] or findings
    return attempt(text, LeavingOut()), findings


def _note(count: int, start: int) -> Diagnostic:
    left = "1 literal is" if count == 1 else f"{count} literals are"
    message = (
        f"{left} left out, and everything else is checked; `miltext check --from MODEL` fills in the values of MODEL"
    )
    return Diagnostic("note", codes.ELIDED_LITERAL, message, Span(start, start + len("$elided")))
