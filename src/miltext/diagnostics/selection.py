"""Selection of findings by their codes, or by the beginnings of codes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Note, codes
from miltext.diagnostics.codes import TITLES
from miltext.diagnostics.suggestions import did_you_mean, nearest

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic

ALL = "ALL"
"""The word for all codes."""

AROUND_PROGRAMS = (
    "MIL26",
    codes.TYPE_NOT_IN_DESCRIPTIONS,
    codes.PIPELINE_TYPE_CLASH,
    codes.PIPELINE_CONNECTION_LOST,
)
"""Beginnings of the codes about mismatches in the files of a compiled model, between the models of a pipeline, and
between a program and the description of a model.
"""

CANNOT_IGNORE = Note("this cannot be ignored here: a type that the draft leaves out does not follow; write that type")
"""The note under an error that a comment or an option ignores, although it stops a draft."""


class Selection(NamedTuple):
    """The codes and beginnings of codes to select, and to ignore.

    The longest beginning of a code decides, as in ruff: with `MIL6` selected and `MIL603` ignored, MIL603 is ignored.
    Of two equally long ones, the ignored one decides. If `drafts` is false, a draft is an error.
    """

    select: tuple[str, ...] = (ALL,)
    ignore: tuple[str, ...] = ()
    drafts: bool = True

    def chosen(self, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the findings that are selected or always reported."""
        kept = (each if self.asks_for(each) else noted(each) for each in found if self.keeps(each))
        return [each if self.drafts else _without_drafts(each) for each in kept]

    def keeps(self, diagnostic: Diagnostic) -> bool:
        """Return whether a finding is selected, or is always reported."""
        return self.asks_for(diagnostic) or diagnostic.stops or keeps_from_reading(diagnostic)

    def asks_for(self, diagnostic: Diagnostic) -> bool:
        """Return whether a finding is selected by its code."""
        return _reach(self.select, diagnostic.code) > _reach(self.ignore, diagnostic.code)


def noted(diagnostic: Diagnostic) -> Diagnostic:
    """Return a finding reported although ignored, with a note if it stops a draft."""
    if not diagnostic.stops or CANNOT_IGNORE in diagnostic.notes:
        return diagnostic
    return diagnostic._replace(notes=(*diagnostic.notes, CANNOT_IGNORE))


def _without_drafts(diagnostic: Diagnostic) -> Diagnostic:
    """Return a finding; the note about a draft becomes an error."""
    if diagnostic.code != codes.DRAFT:
        return diagnostic
    note = Note("drafts are refused here, by `miltext check --no-drafts` or by `drafts = false` in a pyproject.toml")
    return diagnostic._replace(severity="error", notes=(note,))


def keeps_from_reading(diagnostic: Diagnostic) -> bool:
    """Return whether a finding prevented the check of its input, or of a part of the input. Such a finding is always
    reported.
    """
    is_of_programs = diagnostic.code >= codes.UNKNOWN_OPERATION  # the first of them
    is_read = is_of_programs or diagnostic.code.startswith(AROUND_PROGRAMS)
    return (diagnostic.severity == "error" and not is_read) or diagnostic.code == codes.INTERNAL_ERROR


def means(word: str, code: str) -> bool:
    """Return whether a word, in the spelling of `normal`, selects a code."""
    return word == ALL or code.startswith(word)


def _reach(words: Iterable[str], code: str) -> int:
    """Return the length of the longest word that selects a code, 0 for `ALL`; -1 if no word selects it."""
    return max((0 if word == ALL else len(word) for word in words if means(word, code)), default=-1)


def normal(word: str) -> str:
    """Return the normal spelling of a code, of a beginning of codes, or of `ALL`: in capital letters, without spaces
    around it.
    """
    return word.strip().upper()


def unknown(word: str) -> str | None:
    """Return the message about an unknown code; None for a known one."""
    code = normal(word)
    if code == ALL or (re.fullmatch("MIL[0-9]*", code) and any(known.startswith(code) for known in TITLES)):
        return None
    return f"unknown code `{word.strip()}`{did_you_mean(near_code(word)) or '; `miltext explain` lists all codes'}"


def near_code(word: str) -> str | None:
    """Return the known code most like a misspelled one."""
    return nearest(normal(word).replace("O", "0"), [*TITLES, ALL])
