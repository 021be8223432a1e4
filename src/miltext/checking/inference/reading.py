"""A Program read once, into something light that names, values, operations and inference all go over.

Each look into a protobuf message makes an object; here each message is looked into once, and each type of the same
bytes is read once. The class names are mostly the schema's. Messages are read by their fields, so that those of
`miltext.schema.proto` and of coremltools both serve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.schema.types import Type, read_type

if TYPE_CHECKING:
    from miltext.schema import proto


class Stated:
    """A type that messages state: one object for all of the same bytes, which later changes leave alone."""

    __slots__ = ("message", "type")

    def __init__(self, message: proto.ValueType) -> None:
        self.message = message.__class__()
        self.message.CopyFrom(message)
        self.type: Type = read_type(message)

    @property
    def is_missing(self) -> bool:
        """Whether no type is stated at all, not even one of which nothing can be told."""
        return self.type is None and self.message.WhichOneof("type") is None


class Declared(NamedTuple):
    """An input or an output."""

    name: str
    stated: Stated


class Constant(NamedTuple):
    """A Value, as an attribute or an argument has it."""

    message: proto.Value
    stated: Stated


Binding: TypeAlias = "str | Constant | None"
"""What an argument is bound to: a name (perhaps an empty one), a value, or nothing."""


class Operation(NamedTuple):
    """An operation; `message` is where it was read from."""

    message: proto.Operation
    type: str
    inputs: dict[str, list[Binding]]
    attributes: dict[str, Constant]
    outputs: list[Declared]
    blocks: list[Block]


class Block(NamedTuple):
    """A block, of a function or inside an operation."""

    inputs: list[Declared]
    outputs: list[str]
    operations: list[Operation]
    attributes: dict[str, Constant]


class Function(NamedTuple):
    """A function; `blocks` are its specializations by opset."""

    opset: str
    inputs: list[Declared]
    blocks: dict[str, Block]
    attributes: dict[str, Constant]


class Program(NamedTuple):
    """A Program."""

    functions: dict[str, Function]
    attributes: dict[str, Constant]


def read_program(message: proto.Program) -> Program:
    """Read the Program that a message holds."""
    return Reader().program(message)


class Reader:
    """Reads messages; it remembers each type by its bytes, for a Program has few."""

    def __init__(self) -> None:
        self._types: dict[bytes, Stated] = {}

    def program(self, message: proto.Program) -> Program:
        functions = message.functions
        return Program({name: self.function(functions[name]) for name in functions}, self.values(message.attributes))

    def function(self, message: proto.Function) -> Function:
        blocks = message.block_specializations
        read = {opset: self.block(blocks[opset]) for opset in blocks}
        return Function(message.opset, self.declared(message.inputs), read, self.values(message.attributes))

    def block(self, message: proto.Block) -> Block:
        return Block(
            self.declared(message.inputs),
            list(message.outputs),
            [self.operation(operation) for operation in message.operations],
            self.values(message.attributes),
        )

    def operation(self, message: proto.Operation) -> Operation:
        inputs = message.inputs
        return Operation(
            message,
            message.type,
            {name: [self.binding(binding) for binding in inputs[name].arguments] for name in inputs},
            self.values(message.attributes),
            self.declared(message.outputs),
            [self.block(block) for block in message.blocks],
        )

    def binding(self, message: proto.Argument.Binding) -> Binding:
        if name := message.name:
            return name
        member = message.WhichOneof("binding")
        return self.value(message.value) if member == "value" else None if member is None else ""

    def values(self, messages: Mapping[str, proto.Value]) -> dict[str, Constant]:
        return {name: Constant(message := messages[name], self.type(message.type)) for name in messages}

    def value(self, message: proto.Value) -> Constant:
        return Constant(message, self.type(message.type))

    def declared(self, messages: Iterable[proto.NamedValueType]) -> list[Declared]:
        return [Declared(message.name, self.type(message.type)) for message in messages]

    def type(self, message: proto.ValueType) -> Stated:
        wire = message.SerializeToString()
        return self._types.get(wire) or self._types.setdefault(wire, Stated(message))
