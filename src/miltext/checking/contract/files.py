"""Findings in the files of a model, each at its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic


class FileFindings(NamedTuple):
    """The findings in one file of a model, or in its folder, and the text of the file that their places refer to."""

    path: str
    diagnostics: list[Diagnostic]
    text: str | None
