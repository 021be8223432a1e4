"""Further checks: findings about a Program that a higher room adds to those of the verifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from miltext.checking.findings import Finding
    from miltext.schema.proto import Program

Further: TypeAlias = "Callable[[Program, Path | None], list[Finding]]"
"""A check of a Program whose weight files are in a folder, if they are anywhere."""


def together(checks: Sequence[Further]) -> Further:
    """Return the check that adds the findings of several checks."""
    return lambda program, folder: [found for each in checks for found in each(program, folder)]


def further_findings(also: Further | None, program: Program | None, folder: Path | None) -> list[Finding]:
    """Return the findings of a further check; none without a check or a Program."""
    return [] if also is None or program is None else also(program, folder)
