"""The functions of a graph, and their blocks: both have inputs, attributes, and operations in order.

Edits mark the changed parts; `ir.writing` writes these again and copies all others from the original messages.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

from miltext.ir.parts import GraphError, Op, Use, Value, around
from miltext.schema import proto
from miltext.schema.paths import Path, block_path
from miltext.schema.types import Type, write_type
from miltext.schema.walk import own_opset
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.names import FreshNames

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Message = TypeVar("Message", "proto.Block", "proto.Function")


class Attributed(Generic[Message]):
    """A function or a block: its inputs and attributes.

    `message` is the original message, and `changed` are the set attributes, None for removed ones.
    """

    __slots__ = ("changed", "inputs", "is_edited", "message")

    def __init__(self, message: Message) -> None:
        self.message: Message = message
        self.inputs: list[Value] = []
        self.changed: dict[str, proto.Value | None] = {}
        self.is_edited = False

    @property
    def attributes(self) -> dict[str, proto.Value]:
        """The attributes, read-only; `set_attribute` changes one."""
        stated = {**self.message.attributes, **self.changed}
        return {key: value for key, value in stated.items() if value is not None}

    def set_attribute(self, key: str, value: proto.Value | None) -> None:
        """Set an attribute, or remove it for None."""
        self.touch()
        self.changed[key] = value

    def set_inputs(self, values: Iterable[Value]) -> None:
        """Set the inputs: values with this owner, in any order. Raise GraphError for others, and for one twice."""
        inputs: list[Value] = [*values]
        if len({*inputs}) < len(inputs) or any(value.owner is not self for value in inputs):
            raise GraphError("each input is another value of its function or block: `add_input` of a function adds one")
        self.touch()
        self.inputs = inputs
        self.take(value.name for value in inputs)

    def take(self, names: Iterable[str]) -> None:
        """Record names that an edit adds, which are not fresh any more."""

    def touch(self) -> None:
        """Mark the part as edited, before the edit."""
        self.is_edited = True


class Block(Attributed[proto.Block]):
    """A block of a function, by opset, or inside an operation; its operations are linked in order.

    `is_rebuilt` is true if operations or inputs were inserted, moved or removed.
    """

    __slots__ = ("_outputs", "_returned", "first", "is_rebuilt", "last", "owner")

    def __init__(self, message: proto.Block, owner: Function | Op) -> None:
        super().__init__(message)
        self.owner = owner
        self._outputs: list[Value] = []
        self._returned: Counter[Value] | None = None
        self.first: Op | None = None
        self.last: Op | None = None
        self.is_rebuilt = False

    def __iter__(self) -> Iterator[Op]:
        """Yield the present operations, except any removed meanwhile."""
        linked = []
        op = self.first
        while op is not None:
            linked.append(op)
            op = op.next
        return (op for op in linked if op.block is self)

    @property
    def outputs(self) -> Sequence[Value]:
        """The values that the block returns."""
        return self._outputs

    @outputs.setter
    def outputs(self, values: Iterable[Value]) -> None:
        returned = [*values]
        for new in returned:
            _require_value(new)
        self.touch()
        for index, value in enumerate(self._outputs):
            del value.uses[Use(self, "", index)]
        self._outputs, self._returned = returned, None
        for index, value in enumerate(self._outputs):
            value.uses[Use(self, "", index)] = None

    def read_outputs(self, values: list[Value]) -> None:
        """Set the outputs without marking an edit, for `ir.reading`."""
        self._outputs, self._returned = values, None

    def returns(self, value: Value) -> bool:
        """Return whether a value is an output, in constant time."""
        if self._returned is None:
            self._returned = Counter(self._outputs)
        return self._returned[value] > 0

    @property
    def outermost(self) -> Block:
        """The block of the function that the block is or is inside."""
        block = self
        while isinstance(block.owner, Op):
            assert block.owner.block is not None, "a block of a removed operation belongs to no function"
            block = block.owner.block
        return block

    @property
    def function(self) -> Function:
        """The function that the block belongs to."""
        function = self.holder
        assert function is not None, "a block of a removed operation belongs to no function"
        return function

    @property
    def holder(self) -> Function | None:
        """The function that the block belongs to; None if the block is inside a removed operation."""
        owner: Function | Op | None = self.owner
        while isinstance(owner, Op):
            owner = owner.block.owner if owner.block is not None else None
        return owner

    @property
    def opset(self) -> str:
        """The opset of the function's block that the block is or is inside."""
        outermost = self.outermost
        return next(opset for opset, each in self.function.blocks.items() if each is outermost)

    def read_uses(self, found: dict[Value, dict[Use, None]]) -> None:
        """Record the uses of values by the operations, by those inside them, and by the block."""
        for op in self:
            for parameter, operands in op.inputs.items():
                for index, operand in enumerate(operands):
                    if isinstance(operand, Value):
                        found.setdefault(operand, {})[Use(op, parameter, index)] = None
            for block in op.blocks:
                block.read_uses(found)
        for index, value in enumerate(self.outputs):
            found.setdefault(value, {})[Use(self, "", index)] = None

    def walk(self) -> Iterator[Op]:
        """Yield the operations, each before those inside it."""
        for op in self:
            yield op
            if op.blocks:
                yield from op.walk()

    def parts(self, path: Path = ()) -> Iterator[tuple[Path, Block | Op]]:
        """Yield the block and each operation and block inside it, with the path of its message below `path`."""
        yield path, self
        for index, op in enumerate(self):
            place = (*path, "operations", index)
            yield place, op
            for nested, block in enumerate(op.blocks):
                yield from block.parts((*place, "blocks", nested))

    def holding(self, user: Op | Block) -> Op | None:
        """Return the block's own operation that is or contains a user; None for the block itself, and outside of it."""
        return next((each for each in around(user) if each.block is self), None)

    def made(self) -> Iterator[Value]:
        """Yield the outputs of the block's own operations."""
        return (value for op in self for value in op.outputs)

    def defined(self) -> Iterator[Value]:
        """Yield the inputs and the outputs of operations, of inner blocks too, in the order of the text."""
        yield from self.inputs
        for op in self:
            for block in op.blocks:
                yield from block.defined()
            yield from op.outputs

    def append(self, *ops: Op) -> None:
        """Append operations."""
        for op in ops:
            self.insert_before(None, op)

    def insert_before(self, place: Op | None, *ops: Op) -> None:
        """Insert operations before an operation of the block, in order, or at the end for None."""
        if place is not None and place.block is not self:
            raise GraphError("the operation to insert before is in another block")
        self.touch()
        while place is not None and place in ops:
            place = place.next
        for op in ops:
            self.note(op)
            self.take(value.name for value in chain(op.outputs, op.inner_values()))
            op.detach()
            op.block, op.next, op.previous = self, place, self.last if place is None else place.previous
            if op.previous is None:
                self.first = op
            else:
                op.previous.next = op
            if place is None:
                self.last = op
            else:
                place.previous = op
        self.is_rebuilt = True

    def note(self, op: Op) -> None:
        """Enter an operation, before it is inserted or taken out, in the function's journal, if any."""
        function = self.holder
        if function is not None and function.journal is not None:
            function.journal.setdefault(op, op.block is not None)

    def put(self, use: Use, new: Value | proto.Value) -> None:
        """Return another value; `Value.replace_uses` calls this."""
        new = _require_value(new)
        self.touch()
        if self._returned is not None:
            self._returned[self._outputs[use.place]] -= 1
            self._returned[new] += 1
        self._outputs[use.place] = new
        new.uses[use] = None

    def release(self) -> None:
        """Remove all uses of values by the finally removed block or its operation."""
        for op in self:
            op.release()
        self.outputs = []

    def take(self, names: Iterable[str]) -> None:
        if (function := self.holder) is not None:
            function.take(names)

    def touch(self) -> None:
        """Mark the block as edited, before the edit, and all enclosing operations and blocks."""
        if not self.is_edited:
            super().touch()
            self.owner.touch()


def _require_value(output: Value | proto.Value) -> Value:
    """Return an output of a block. Raise GraphError for a literal."""
    if not isinstance(output, Value):
        raise GraphError("a block returns values, and no literals")
    return output


class Function(Attributed[proto.Function]):
    """A function: its inputs, which are in scope in all of its blocks, and the blocks by opset.

    `undefined` are the used names without a definition. `clashing` maps each value whose name was in use at its
    definition to the value with that name. `opset` is the function's opset, which may differ from its blocks' opsets.
    `journal`, if any, contains the operations that edits insert or take out, and whether each was in a block.
    """

    __slots__ = ("_has_uses", "_names", "blocks", "clashing", "journal", "name", "opset", "undefined")

    def __init__(self, name: str, message: proto.Function) -> None:
        super().__init__(message)
        self.name = name
        self.opset = message.opset
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
        self.set_inputs([*self.inputs, value])
        return value

    def remove_input(self, value: Value) -> None:
        """Remove an input. Raise GraphError if it is used."""
        if value.uses:
            raise GraphError(f"`{value.name}` is still used: replace its uses before the input is removed")
        if value not in self.inputs:
            raise GraphError(f"`{value.name}` is no input of the function `{self.name}`")
        self.touch()
        self.inputs.remove(value)

    def remove_block(self, opset: str) -> None:
        """Remove the block for an opset."""
        self.touch()
        self.blocks.pop(opset).release()

    def set_opsets(self, own: str, blocks: dict[str, Block]) -> None:
        """Set the opset of the function, and its blocks by opset."""
        self.touch()
        self.opset, self.blocks = own, blocks
        self.take(value.name for value in self.defined())

    def unknown(self, name: str) -> Value:
        """Return the value for a name that the function uses without a definition, one for each name."""
        return self.undefined.get(name) or self.undefined.setdefault(name, Value(name, None, None, self))

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

    def take(self, names: Iterable[str]) -> None:
        if self._names is not None:
            self._names.taken.update(names)

    def touch(self) -> None:
        """Mark the function as edited, before the edit, so that the original uses are read first."""
        self.read_uses()
        super().touch()
