"""The scopes of the differing operations of two paired blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from miltext.diffing.repeats import Repeats
from miltext.diffing.structure import ChangedOperation, RemovedOperation, UnpairedOperation
from miltext.scopes.scopes import scopes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.diffing.structure import OperationDifference
    from miltext.ir.functions import Block

FEW = 2
"""The most differing operations of a block reported without their scopes."""


def with_scopes(operations: Sequence[OperationDifference], old: Block, new: Block) -> list[OperationDifference]:
    """Return the differences of operations, causes with their scopes and keys, unless there are only a few causes."""
    causes = [each for each in operations if not isinstance(each, ChangedOperation) or not each.follows]
    if len(causes) <= FEW:
        return [*operations]
    is_removed = any(isinstance(each, RemovedOperation) for each in operations)
    sides = scopes_of(old) if is_removed else [], scopes_of(new)
    repeats = Repeats(([*old], [*new]), sides)
    return [
        each
        if each.follows
        else replace(each, scope=sides[not isinstance(each, RemovedOperation)][_place(each)], repeat=repeats.key(each))
        for each in operations
    ]


def _place(operation: OperationDifference) -> int:
    return operation.index if isinstance(operation, UnpairedOperation) else operation.new_index
