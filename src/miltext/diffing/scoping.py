"""The scopes of the operations of two paired blocks, as the graph of `print --html` divides them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from miltext.diffing.repeats import Repeats
from miltext.diffing.structure import ChangedOperation, RemovedOperation, UnpairedOperation
from miltext.printing.graph_scopes import GraphNode, scopes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.diffing.structure import OperationDifference
    from miltext.ir.functions import Function
    from miltext.ir.parts import Block, Op

FEW = 2
"""The most differing operations of a block that are reported without their scopes."""

_NUMBER = re.compile(r"\d+")


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


def function_scopes(function: Function) -> dict[Op, str]:
    """Return the scopes of the operations of a function; operations of inner blocks are in the scope around them."""
    found: dict[Op, str] = {}
    for block in function.blocks.values():
        for op, scope in zip(block, scopes_of(block), strict=True):
            found.update(dict.fromkeys((op, *op.walk()), scope))
    return found


def scopes_of(block: Block) -> list[str]:
    """Return the outermost numbered scope of each operation of a block, or else its outermost one; "" without any.

    A constant is in the scope of its first user.
    """
    ops = [op for op in block if not op.is_constant]
    nodes = [GraphNode("op", "", place) for place in range(len(ops))]
    found: dict[Op, str] = {}
    for node in scopes(nodes, [_names(op) for op in ops], _crossing(block, ops)):
        found.update((ops[place], label) for place, label in _labels(node, ""))
    for op in reversed([*block]):
        if op.is_constant:
            users = [user for value in op.outputs for user in value.users]
            found[op] = next((found[user] for user in users if user in found), "")
    return [found.get(op, "") for op in block]


def _labels(node: GraphNode, label: str) -> Iterator[tuple[int, str]]:
    """Yield the place of each operation in a node, with the label of its scope."""
    if node.kind == "op":
        yield node.line, label
        return
    if not _NUMBER.search(label):
        label = node.label or label
    for inner in node.inside:
        yield from _labels(inner, label)


def _names(op: Op) -> list[str]:
    constants = [value.name for value in op.operands if value.is_constant]
    return [*[value.name for value in op.outputs], *constants]


def _last(places: Mapping[Op, int], block: Block, user: Op | Block, place: int) -> int:
    """Return the place of a user of a value made at a place, or of the operation around it; the end for an output."""
    if user in places:
        return places[user]  # type: ignore[index]
    around = block.holding(user)
    return len(places) if around is None else places.get(around, place)


def _crossing(block: Block, ops: Sequence[Op]) -> list[int]:
    """Return, for each place between operations, the number of values made before it and used after it."""
    places = {op: place for place, op in enumerate(ops)}
    steps = [0] * (len(ops) + 2)
    for place, op in enumerate(ops):
        for value in op.outputs:
            last = max((_last(places, block, use.user, place) for use in value.uses), default=place)
            steps[place + 1] += 1
            steps[last + 1] -= 1
    return [*accumulate(steps)]
