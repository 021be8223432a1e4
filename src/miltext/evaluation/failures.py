"""What goes wrong while a program runs, told at its operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.evaluation.planning import Step


class OperationFailure(Exception):
    """An operation that has no result for the values that it is given; `clause` says why."""

    def __init__(self, step: Step, clause: str) -> None:
        name = step.names[0] if step.names else ""
        super().__init__(f"`{step.operation.type}` {name}: {clause}")
        self.step = step
        self.clause = clause
