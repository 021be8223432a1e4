"""The facts that a description loses in a build."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import codes, error, warning
from miltext.files.refusals import refusal

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic


class DescriptionLoss(NamedTuple):
    """A fact that a description lost; `is_meant` if the program itself lost it.

    A number rounded to the data type of the program is only reported.
    """

    message: str
    is_meant: bool = False
    is_rounding: bool = False


def warnings_of(losses: Sequence[DescriptionLoss], *, refused: bool) -> list[Diagnostic]:
    """Return a warning for each unintended loss; raise ModelError (MIL454) for all of them if `refused`."""
    if refused and not all(loss.is_rounding for loss in losses):
        failure = refusal(codes.DESCRIPTION_LOSS, "")
        (way,) = failure.diagnostics[0].notes
        failure.diagnostics = [
            error(codes.DESCRIPTION_LOSS, loss.message, None, way) for loss in losses if not loss.is_rounding
        ]
        raise failure
    return [warning(codes.FEWER_DETAILS, loss.message) for loss in losses if not loss.is_meant]
