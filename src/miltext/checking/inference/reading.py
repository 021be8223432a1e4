"""A Program read once, into a light form that names, values, operations and inference all go over.

Each look into a protobuf message makes an object; here each message is looked into once, and each type of the same
bytes is read once. The class names are mostly the schema's. Messages are read by their fields, so that messages of
`miltext.schema.proto` and of coremltools both serve.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.inference.operands import Value as Known
from miltext.checking.inference.operands import read_value
from miltext.schema.types import Type, read_type
from miltext.syntax.memo import LONGEST

if TYPE_CHECKING:
    from miltext.schema import proto
    from miltext.schema.paths import Path


class StatedType:
    """A type that messages state: one object for equal bytes, unaffected by later changes of them."""

    __slots__ = ("message", "type")

    def __init__(self, message: proto.ValueType) -> None:
        self.message = message.__class__()
        self.message.CopyFrom(message)
        self.type: Type = read_type(message)

    @property
    def is_missing(self) -> bool:
        """Return whether no type is stated at all, not even an unreadable one."""
        return self.type is None and self.message.WhichOneof("type") is None


class Declared(NamedTuple):
    """An input or an output."""

    name: str
    stated: StatedType


class Constant(NamedTuple):
    """A Value of an attribute or an argument.

    The `form` is None except for a tensor in the Program itself, and the `value` is None where `read_value` returns
    None.
    """

    message: proto.Value
    stated: StatedType
    form: Form | None
    value: Known


Form: TypeAlias = "tuple[StatedType, str, int]"
"""The facts that decide whether a tensor in the Program itself fits its type: the type, the field, and the number of
values.
"""

Read: TypeAlias = "tuple[StatedType, Form | None, Known]"
"""The parts of a Constant besides its message."""

Binding: TypeAlias = "str | Constant | None"
"""The binding of an argument: a name (perhaps an empty one), a value, or nothing."""


class Operation(NamedTuple):
    """An operation; `message` is the message that it was read from."""

    message: proto.Operation
    type: str
    inputs: dict[str, list[Binding]]
    attributes: dict[str, Constant]
    outputs: list[Declared]
    blocks: list[ReadBlock]


class ReadBlock(NamedTuple):
    """A block, of a function or inside an operation."""

    inputs: list[Declared]
    outputs: list[str]
    operations: list[Operation]
    attributes: dict[str, Constant]

    def made(self) -> Iterator[Declared]:
        """Yield the outputs of the block's own operations."""
        return (output for operation in self.operations for output in operation.outputs)

    def parts(self, path: Path) -> Iterator[tuple[Path, ReadBlock | Operation]]:
        """Yield the block, at a path, and each operation and block inside it, with its path."""
        yield path, self
        for index, operation in enumerate(self.operations):
            place = (*path, "operations", index)
            yield place, operation
            for nested, block in enumerate(operation.blocks):
                yield from block.parts((*place, "blocks", nested))


class ReadFunction(NamedTuple):
    """A function; `blocks` are its specializations by opset."""

    opset: str
    inputs: list[Declared]
    blocks: dict[str, ReadBlock]
    attributes: dict[str, Constant]


class Program(NamedTuple):
    """A Program."""

    functions: dict[str, ReadFunction]
    attributes: dict[str, Constant]


def read_program(message: proto.Program) -> Program:
    """Read the Program in a message."""
    return MessageReader().program(message)


class MessageReader:
    """Reads messages; it remembers each type and each short value by its bytes, for a Program has few."""

    def __init__(self) -> None:
        self._types: dict[bytes, StatedType] = {}
        self._values: dict[bytes, Read] = {}
        self._labels: dict[int, tuple[bytes, Read]] = {}

    def program(self, message: proto.Program) -> Program:
        functions = message.functions
        return Program({name: self.function(functions[name]) for name in functions}, self.values(message.attributes))

    def function(self, message: proto.Function) -> ReadFunction:
        blocks = message.block_specializations
        read = {opset: self.block(blocks[opset]) for opset in blocks}
        return ReadFunction(message.opset, self.declared(message.inputs), read, self.values(message.attributes))

    def block(self, message: proto.Block) -> ReadBlock:
        return ReadBlock(
            self.declared(message.inputs),
            list(message.outputs),
            [self.operation(operation) for operation in message.operations],
            self.values(message.attributes),
        )

    def operation(self, message: proto.Operation) -> Operation:
        inputs, blocks = message.inputs, message.blocks
        return Operation(
            message,
            message.type,
            {name: [self.binding(each) for each in inputs[name].arguments] for name in inputs} if inputs else {},
            self.values(message.attributes),
            self.declared(message.outputs),
            [self.block(block) for block in blocks] if blocks else [],
        )

    def bind(self, operation: Operation, parameter: str, place: int, value: proto.Value) -> Constant:
        """Give an operation and its message a value in the place of an argument."""
        operation.message.inputs[parameter].arguments[place].value.CopyFrom(value)
        constant = operation.inputs[parameter][place] = self.value(value)
        return constant

    def binding(self, message: proto.Argument.Binding) -> Binding:
        if name := message.name:
            return name
        member = message.WhichOneof("binding")
        return self.value(message.value) if member == "value" else None if member is None else ""

    def values(self, messages: Mapping[str, proto.Value]) -> dict[str, Constant]:
        return {name: (self.label if name == "name" else self.value)(messages[name]) for name in messages}

    def value(self, message: proto.Value) -> Constant:
        """Read a value; most short ones come again."""
        wire = message.SerializeToString()
        read = self._values.get(wire)
        if read is None:
            stated, form, _ = self.form(message)
            read = stated, form, None if form is None else read_value(message, stated.type)
            if len(wire) <= LONGEST:
                self._values[wire] = read
        return Constant(message, *read)

    def label(self, message: proto.Value) -> Constant:
        """Read the name of an operation; names of one length differ only in the string, which is at the end."""
        wire = message.SerializeToString()
        known = self._labels.get(len(wire))
        if known is not None and wire.startswith(known[0]):
            return Constant(message, *known[1])
        read = self.form(message)
        strings = message.immediateValue.tensor.strings.values
        if len(strings) == 1 and wire.endswith(text := strings[0].encode()):
            self._labels[len(wire)] = wire[: len(wire) - len(text)], read
        return Constant(message, *read)

    def form(self, message: proto.Value) -> Read:
        """Read all of a value except its known elements."""
        stated, tensor = self.type(message.type), message.immediateValue.tensor
        field = tensor.WhichOneof("value")
        return stated, None if field is None else (stated, field, len(getattr(tensor, field).values)), None

    def declared(self, messages: Iterable[proto.NamedValueType]) -> list[Declared]:
        return [Declared(message.name, self.type(message.type)) for message in messages]

    def type(self, message: proto.ValueType) -> StatedType:
        wire = message.SerializeToString()
        stated = self._types.get(wire)
        if stated is None:
            stated = self._types[wire] = StatedType(message)
        return stated
