"""Parts of one graph in another: operations with their blocks, blocks, and inputs, whose uses are connected anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from miltext.ir.functions import Block
from miltext.ir.parts import Op, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from miltext.ir.functions import Function
    from miltext.ir.parts import Operand
    from miltext.schema import proto

Taken: TypeAlias = "Callable[[proto.Value], proto.Value]"
"""A function that returns a literal as the other graph has it: the same, or a copy with changes."""

Find: TypeAlias = "Callable[[Value], Value]"
"""A function that returns the value of this graph for a value of the other one."""


class Planting:
    """Copies of parts of another graph: `ops`, `blocks` and `values` are the copies by the originals.

    A copy uses nothing until `connect`, so that parts can be copied in any order. Literals and attributes are those
    that `taken` returns.
    """

    def __init__(self, taken: Taken) -> None:
        self._taken = taken
        self.ops: dict[Op, Op] = {}
        self.blocks: dict[Block, Block] = {}
        self.values: dict[Value, Value] = {}

    def op(self, op: Op) -> Op:
        """Return a copy of an operation, to be inserted, with its outputs and all of its blocks."""
        made = self.ops[op] = Op(op.message)
        made.own()
        take_attributes(made, self._taken)
        made.outputs = self.declared(op.outputs, made)
        if op.blocks:
            made.set_blocks([self._whole(block, made) for block in op.blocks])
        return made

    def block(self, block: Block, owner: Function | Op) -> Block:
        """Return a copy of a block with its inputs, without operations and outputs."""
        made = self.blocks[block] = Block(block.message, owner)
        made.is_edited = made.is_rebuilt = True
        made.inputs = self.declared(block.inputs, made)
        made.changed = {key: self._taken(value) for key, value in block.attributes.items()}
        return made

    def declared(self, values: Iterable[Value], owner: Op | Block | Function) -> list[Value]:
        """Return copies of values, with an owner."""
        made = []
        for value in values:
            copy = self.values[value] = Value(value.name, value.message, owner)
            made.append(copy)
        return made

    def connect(self, find: Find) -> None:
        """Give each copied operation its arguments, and each copied block its outputs."""
        for op, made in self.ops.items():
            for parameter, operands in op.inputs.items():
                made.set_input(parameter, connected(operands, find, self._taken))
        for block, copy in self.blocks.items():
            copy.outputs = [find(value) for value in block.outputs]

    def _whole(self, block: Block, owner: Op) -> Block:
        made = self.block(block, owner)
        made.append(*[self.op(op) for op in block])
        return made


def connected(operands: Sequence[Operand], find: Find, taken: Taken) -> list[Operand]:
    """Return the operands of another graph as operands of this one."""
    return [find(each) if isinstance(each, Value) else None if each is None else taken(each) for each in operands]


def take_attributes(op: Op, taken: Taken) -> None:
    """Replace the attributes of an operation from another graph by the results of `taken`."""
    for key, value in op.attributes.items():
        other = taken(value)
        if other is not value:
            op.own().attributes[key].CopyFrom(other)


def take_literals(op: Op, taken: Taken) -> None:
    """Replace the attributes and literal arguments of an operation from another graph by the results of `taken`."""
    take_attributes(op, taken)
    for parameter, operands in op.inputs.items():
        others = connected(operands, lambda value: value, taken)
        if any(other is not each for each, other in zip(operands, others, strict=True)):
            op.set_input(parameter, others)
