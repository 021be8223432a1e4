"""Further checks: findings about a Program that a higher room adds to the verifier's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from miltext.checking.findings import Finding
    from miltext.schema.proto import Program

Further: TypeAlias = "Callable[[Program, Path | None], list[Finding]]"
"""A check of a Program whose weight files are in a folder, if they are anywhere."""


def together(several: Iterable[Further | None]) -> Further | None:
    """Return one check with the findings of several; None for none."""
    checks = [each for each in several if each is not None]
    return (lambda program, folder: [found for each in checks for found in each(program, folder)]) if checks else None


def further_findings(also: Further | None, program: Program | None, folder: Path | None) -> list[Finding]:
    """Return the findings of a further check; none without a check or a Program."""
    return [] if also is None or program is None else also(program, folder)
