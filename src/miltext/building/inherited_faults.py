"""The faults of the original in the connections of a rewritten pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import warning
from miltext.pipelines.faults import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.building.new_model import NewModel
    from miltext.diagnostics import Diagnostic


def known_faults(new: NewModel) -> Iterator[Diagnostic]:
    """Yield a warning for each fault of a pipeline that its original has; a checked build refuses other faults."""
    for fault in faults(new.spec):
        yield warning(fault.code, f"{fault.message}; the original has this error, too")
