"""The order of operations after the edits of a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.ir.parts import GraphError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.applying.partners import Partners
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.ir.planting import Planting


def place_operations(moved: Iterable[Op], partners: Partners, planting: Planting) -> None:
    """Put copied and moved operations after their predecessor in the new program.

    If that operation is missing, the nearest one before it counts. `moved` are operations of the new program. Raise
    GraphError for a missing block.
    """
    wanted: dict[Block, set[Op]] = {}
    copied = [new for new, own in planting.ops.items() if own.block is None]
    for op in (*copied, *moved):
        assert op.block is not None, "it is in the new program"
        wanted.setdefault(op.block, set()).add(op)
    for block, ops in wanted.items():
        own = planting.blocks.get(block) or partners.new_blocks.get(block)
        if own is None:
            raise GraphError("operations are added to a block that no entry adds")
        _place(block, ops, own, partners, planting)


def _place(block: Block, ops: set[Op], own: Block, partners: Partners, planting: Planting) -> None:
    """Put operations of a new block into our own block."""
    before: Op | None = None
    for op in block:
        made = planting.ops.get(op) or partners.new_ops.get(op)
        if made is None:
            continue
        if op in ops:
            own.insert_before(own.first if before is None else before.next, made)
        if made.block is own:
            before = made


def precede_uses(constants: Iterable[Op]) -> None:
    """Put each constant before the first operation of its block that uses it."""
    for op in constants:
        block = op.block
        assert block is not None, "it was not removed"
        users = {block.holding(use.user) for value in op.outputs for use in value.uses}
        first = next((each for each in block if each in users or each is op), None)
        if first is not None and first is not op:
            block.insert_before(first, op)
