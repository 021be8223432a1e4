"""The facts that a description loses in a build."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import codes, error, warning
from miltext.files.refusals import refusal

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic


class DescriptionLoss(NamedTuple):
    """A fact that a description lost; `is_meant` if the program itself lost it.

    A number rounded to the data type of the program is only reported. `gone` are the function and the name of a removed
    entry, whose loss is none where another model has the entry.
    """

    message: str
    is_meant: bool = False
    is_rounding: bool = False
    gone: tuple[str, str] | None = None


def warnings_of(
    losses: Iterable[DescriptionLoss], *, refused: bool, elsewhere: Collection[tuple[str, str]] = ()
) -> list[Diagnostic]:
    """Return a warning for each unintended loss; raise ModelError (MIL454) for all of them if `refused`.

    Entries `elsewhere`, by function and name, are not lost.
    """
    losses = [loss for loss in losses if loss.gone is None or loss.gone not in elsewhere]
    if refused and not all(loss.is_rounding for loss in losses):
        failure = refusal(codes.DESCRIPTION_LOSS, "")
        (way,) = failure.diagnostics[0].notes
        failure.diagnostics = [
            error(codes.DESCRIPTION_LOSS, loss.message, None, way) for loss in losses if not loss.is_rounding
        ]
        raise failure
    return [warning(codes.FEWER_DETAILS, loss.message) for loss in losses if not loss.is_meant]
