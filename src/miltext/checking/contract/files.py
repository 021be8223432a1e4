"""Findings in the files of a model, each at its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

MOST = 20
"""How many findings of a kind are reported one by one in a file."""

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic


class FileFindings(NamedTuple):
    """The findings in one file of a model, or in its folder, and the text of the file that their places refer to."""

    path: str
    diagnostics: list[Diagnostic]
    text: str | None


def capped(found: list[Diagnostic], subject: str) -> list[Diagnostic]:
    """Return the first findings of a file, and the number of the others, which are about the subject."""
    if len(found) <= MOST:
        return found
    rest = {each.severity for each in found[MOST:]}
    worst = next(each for each in ("error", "warning", "note") if each in rest)
    return [*found[:MOST], found[0]._replace(severity=worst, message=f"{subject}: {len(found) - MOST} more")]
