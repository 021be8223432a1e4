"""The functions of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.ir.attributes import Attributed
from miltext.ir.parts import GraphError, Value
from miltext.schema import proto
from miltext.schema.paths import Path, block_path
from miltext.schema.types import Type, write_type
from miltext.schema.walk import own_opset
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.names import FreshNames

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.ir.parts import Block, Op, Use


class Function(Attributed[proto.Function]):
    """A function: its inputs, which are in scope in all of its blocks, and the blocks by opset.

    `undefined` are the used names without a definition. `clashing` maps each value whose name was in use at its
    definition to the value with that name. `opset` is the function's opset, which may differ from its blocks' opsets.
    `journal`, if any, contains the operations that edits insert or take out, and whether each was in a block.
    """

    __slots__ = ("_has_uses", "_names", "blocks", "clashing", "inputs", "journal", "name", "opset", "undefined")

    def __init__(self, name: str, message: proto.Function) -> None:
        super().__init__(message)
        self.name = name
        self.opset = message.opset
        self.inputs: list[Value] = []
        self.blocks: dict[str, Block] = {}
        self.undefined: dict[str, Value] = {}
        self.clashing: dict[Value, Value] = {}
        self.journal: dict[Op, bool] | None = None
        self._names: FreshNames | None = None
        self._has_uses = False

    def read_uses(self) -> None:
        """Read the uses of all values, on the first request; several threads may do so at the same time."""
        if self._has_uses:
            return
        found: dict[Value, dict[Use, None]] = {}
        with gc_paused:
            for block in self.blocks.values():
                block.read_uses(found)
        for value, uses in found.items():
            value.uses = uses
        self._has_uses = True

    @property
    def block(self) -> Block | None:
        """The block of the function's own opset, or the only block."""
        opset = self.own_opset
        return None if opset is None else self.blocks[opset]

    @property
    def outputs(self) -> Sequence[Value]:
        """The values that the function's own block returns; none without one."""
        return self.block.outputs if self.block is not None else ()

    @property
    def own_opset(self) -> str | None:
        """The opset of the function's own block."""
        return own_opset(self.opset, self.blocks)

    def value(self, name: str) -> Value:
        """Return the value of a name, or the first of several in the order of the text. Raise GraphError for none."""
        for value in self.defined():
            if value.name == name:
                return value
        raise GraphError(f"the function `{self.name}` has no value `{name}`: `defined` yields all that it has")

    def add_input(self, name: str, type: Type) -> Value:
        """Add a last input, and return it."""
        return self.declare_input(proto.NamedValueType(name=name, type=write_type(type)))

    def declare_input(self, message: proto.NamedValueType) -> Value:
        """Add a last input with the name and the type in a message, and return it."""
        value = Value(message.name, message, self)
        self.inputs.append(value)
        self.touch()
        return value

    def remove_input(self, value: Value) -> None:
        """Remove an input. Raise GraphError if it is used."""
        if value.uses:
            raise GraphError(f"`{value.name}` is still used: replace its uses before the input is removed")
        self.inputs.remove(value)
        self.touch()

    def remove_block(self, opset: str) -> None:
        """Remove the block for an opset."""
        self.touch()
        self.blocks.pop(opset).release()

    def set_opsets(self, own: str, blocks: dict[str, Block]) -> None:
        """Set the opset of the function, and its blocks by opset."""
        self.touch()
        self.opset, self.blocks = own, blocks

    def unknown(self, name: str) -> Value:
        """Return the value for a name that the function uses without a definition, one for each name."""
        return self.undefined.setdefault(name, Value(name, None, None))

    def walk(self) -> Iterator[Op]:
        """Yield the operations of all blocks, each before those inside it, in the order of the text."""
        for opset in sorted(self.blocks):
            yield from self.blocks[opset].walk()

    def parts(self) -> Iterator[tuple[Path, Block | Op]]:
        """Yield each block and operation of the function, with the path of its message in the Program."""
        for opset in sorted(self.blocks):
            yield from self.blocks[opset].parts(block_path(self.name, opset))

    def defined(self) -> Iterator[Value]:
        """Yield the inputs and all values of all blocks, in the order of the text."""
        yield from self.inputs
        for opset in sorted(self.blocks):
            yield from self.blocks[opset].defined()

    def fresh(self, stem: str, *, first: int = 1) -> str:
        """Return an identifier that no value of the function has: the stem, or the stem with a number after it.

        `first` is the first number to try.
        """
        if self._names is None:
            self._names = FreshNames({value.name for value in self.defined()}.union(self.undefined))
        return self._names.fresh(stem, first=first)

    def touch(self) -> None:
        """Mark the function as edited, before the edit, so that the original uses are read first."""
        self.read_uses()
        self.is_edited = True
