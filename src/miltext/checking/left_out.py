"""What a check makes of a text that leaves values out: filled in, or as it stands with their types alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import Diagnostic, ParseError, Span
from miltext.parsing.lowering.left_out import LeavingOut
from miltext.parsing.parser import attempt
from miltext.syntax.lexer import FINE, lexer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from miltext.schema.proto import Program

CODES = {"$elided": "MIL107", "$npy": "MIL111"}
"""What stands in place of values that are left out, and the codes for that."""

UNFIT = ("MIL410", "MIL411", *(f"MIL{number}" for number in range(412, 420)))
"""The codes of values that are not to be had, or are not of their type."""


def program_of(text: str, folder: Path | None, originals: Sequence[Program]) -> tuple[Program | None, list[Diagnostic]]:
    """Return the Program of a text that leaves values out, None if it has other mistakes; and what to tell of them.

    The `originals` and the arrays in `folder` give the values. If one cannot be had or does not fit, or `folder` is
    None, only the type of each is known.
    """
    if not any(word in text for word in CODES):
        return None, []
    places = [(word, Span(at, at + len(word))) for _, word, at in lexer(FINE).tokens(text, 0) if word in CODES]
    if not places:  # it stands in strings and comments only
        return None, []
    unfit: list[Diagnostic] = []
    if folder is not None:
        from miltext.models.building.filling import fill

        try:
            return fill(text, "", folder, originals).program, []
        except ParseError as failure:
            unfit = [found for found in failure.diagnostics if found.code in UNFIT]
    return attempt(text, LeavingOut()), unfit or [_note(len(places), *places[0])]


def _note(count: int, word: str, span: Span) -> Diagnostic:
    left = "1 literal is" if count == 1 else f"{count} literals are"
    message = f"{left} left out, and all but the values is checked; `miltext check --from MODEL` fills in what it has"
    return Diagnostic("note", CODES[word], message, span)
