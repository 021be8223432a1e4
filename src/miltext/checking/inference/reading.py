"""A graph with the types and values of its messages, shared by all checks.

Each access to a protobuf message creates an object; here each message is accessed once, and types with equal bytes are
read once. Messages are read by their fields, so that messages of `miltext.schema.proto` and of coremltools both serve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.inference.operands import Value as Known
from miltext.checking.inference.operands import read_value
from miltext.ir.graph import Graph
from miltext.ir.parts import Use, Value
from miltext.schema.types import Type, read_type
from miltext.syntax.memo import LONGEST, Memo

if TYPE_CHECKING:
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op, Operand
    from miltext.schema import proto


class StatedType:
    """A type in messages: one object for equal bytes, unaffected by later changes of the messages."""

    __slots__ = ("message", "type")

    def __init__(self, message: proto.ValueType) -> None:
        self.message = message.__class__()
        self.message.CopyFrom(message)
        self.type: Type = read_type(message)

    @property
    def is_missing(self) -> bool:
        """Return whether the type is missing, rather than unreadable."""
        return self.type is None and self.message.WhichOneof("type") is None


class Constant(NamedTuple):
    """A Value of an attribute or an argument.

    The `form` is None except for a tensor in the Program itself, and the `value` is None where `read_value` returns
    None.
    """

    message: proto.Value
    stated: StatedType
    form: Form | None
    value: Known


_constant = tuple.__new__
"""Creates a Constant from its fields, faster than its class."""

Form: TypeAlias = "tuple[StatedType, str, int]"
"""The facts that determine whether a tensor in the Program matches its type: the type, the field, and the number of
values.
"""

Read: TypeAlias = "tuple[StatedType, Form | None, Known]"
"""The parts of a Constant besides its message."""

Binding: TypeAlias = "Value | Constant | None"
"""The binding of an argument: a value of the graph, a constant, or nothing."""

Part: TypeAlias = "Function | Block | Op"


class StatedGraph(Graph):
    """A graph, and the types and constants that its messages state, each read once.

    `stated` contains the types of values, `attributes` the constants in attributes of functions, blocks and operations,
    and `inputs` the arguments of operations, with constants in place of literals. With `read`, a graph of the same
    Program that nobody edits, its functions are shared, and messages are read on demand.
    """

    stated: dict[Value, StatedType]
    attributes: dict[Part, dict[str, Constant]]
    inputs: dict[Op, dict[str, list[Binding]]]

    def __init__(self, program: proto.Program, read: Graph | None = None) -> None:
        self.reader = reader = MessageReader()
        self.own_attributes = reader.values(program.attributes)
        if read is not None:
            self.message, self.functions = program, read.functions
            self.stated = Memo(lambda value: reader.type(value.message.type))  # type: ignore[union-attr]
            self.attributes = Memo(lambda part: reader.values(part.message.attributes))
            self.inputs = Memo(reader.inputs)
            return
        super().__init__(program)
        self.stated, self.attributes, self.inputs = {}, {}, {}
        for function in self.functions.values():
            self._read(function, function.inputs)
            for block in function.blocks.values():
                self._read(block, block.inputs)
                for op in block.walk():
                    self._read(op, op.outputs)
                    self.inputs[op] = reader.inputs(op)
                    for inner in op.blocks:
                        self._read(inner, inner.inputs)

    def _read(self, part: Part, values: Iterable[Value]) -> None:
        """Read the attributes of a part, and the types of the values that it defines."""
        self.attributes[part] = self.reader.values(part.message.attributes)
        for value in values:
            self.stated[value] = self.reader.type(value.message.type)  # type: ignore[union-attr]  # it is declared

    def type(self, value: Value) -> Type:
        """Return the declared type of a value; None for an undefined name."""
        return self.stated[value].type if value in self.stated else None

    def bound_type(self, binding: Binding) -> Type:
        """Return the declared type of an argument; None without one."""
        return self.type(binding) if isinstance(binding, Value) else binding and binding.stated.type

    def reread(self, value: Value) -> None:
        """Read the type of a value again after it was written into the message."""
        if value.message is not None:
            self.stated[value] = self.reader.type(value.message.type)

    def bind(self, op: Op, parameter: str, place: int, value: proto.Value) -> Constant:
        """Bind an argument of an operation and of its message to a value."""
        bound = self.inputs[op]
        if bound is op.inputs:
            bound = self.inputs[op] = {name: [*several] for name, several in bound.items()}
        use = Use(op, parameter, place)
        binding = use.binding
        binding.value.CopyFrom(value)
        if isinstance(before := use.operand, Value):
            before.replace_uses(binding.value, [use])
        op.inputs[parameter][place] = binding.value
        constant = bound[parameter][place] = self.reader.value(binding.value)
        return constant


class MessageReader:
    """Reads messages, and caches types and short values by their bytes, for a Program has few of them."""

    def __init__(self) -> None:
        self._types: dict[bytes, StatedType] = {}
        self._values: dict[bytes, Read] = {}
        self._labels: dict[int, tuple[bytes, Read]] = {}

    def inputs(self, op: Op) -> dict[str, list[Binding]]:
        """Return the arguments of an operation, with constants in place of literals."""
        for operands in op.inputs.values():
            for each in operands:
                if each.__class__ is not Value:
                    return {name: [*map(self.binding, several)] for name, several in op.inputs.items()}
        return op.inputs  # type: ignore[return-value]  # there is no literal

    def binding(self, operand: Operand) -> Binding:
        return operand if operand is None or isinstance(operand, Value) else self.value(operand)

    def values(self, messages: Mapping[str, proto.Value]) -> dict[str, Constant]:
        return {name: (self.label if name == "name" else self.value)(messages[name]) for name in messages}

    def value(self, message: proto.Value) -> Constant:
        """Read a value; short ones are cached."""
        wire = message.SerializeToString()
        read = self._values.get(wire)
        if read is None:
            stated, form, _ = self.form(message)
            read = stated, form, None if form is None else read_value(message, stated.type)
            if len(wire) <= LONGEST:
                self._values[wire] = read
        return _constant(Constant, (message, *read))

    def label(self, message: proto.Value) -> Constant:
        """Read the name of an operation; names of one length differ only in the string, which is at the end."""
        wire = message.SerializeToString()
        known = self._labels.get(len(wire))
        if known is not None and wire.startswith(known[0]):
            return _constant(Constant, (message, *known[1]))
        read = self.form(message)
        strings = message.immediateValue.tensor.strings.values
        if len(strings) == 1 and wire.endswith(text := strings[0].encode()):
            self._labels[len(wire)] = wire[: len(wire) - len(text)], read
        return Constant(message, *read)

    def form(self, message: proto.Value) -> Read:
        """Read all of a value except its known elements."""
        if message.WhichOneof("value") == "blobFileValue":
            return self.type(message.type), None, None
        stated, tensor = self.type(message.type), message.immediateValue.tensor
        field = tensor.WhichOneof("value")
        return stated, None if field is None else (stated, field, len(getattr(tensor, field).values)), None

    def type(self, message: proto.ValueType) -> StatedType:
        wire = message.SerializeToString()
        stated = self._types.get(wire)
        if stated is None:
            stated = self._types[wire] = StatedType(message)
        return stated
