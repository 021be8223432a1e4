"""What a rule is given: operands with their types and, where they are known, their values.

A value is a Python scalar (bool, int, float, str) or, of any higher rank, the flat tuple of its elements
in C order; an element that is unknown is None, and so is a value of which nothing is known.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from miltext.checking.inference.value_types import ListType, Shape, StateType, TensorType, Type
from miltext.schema.dtypes import BY_NAME
from miltext.schema.operations import opset_place

if TYPE_CHECKING:
    from miltext.schema import proto

Value: TypeAlias = "bool | int | float | str | tuple[Any, ...] | None"
Kind = TypeVar("Kind", TensorType, ListType, StateType)

LARGEST = 256
"""How many elements a constant may have for its value to be looked at: those that say shapes are small."""

_FORMATS = {"bool": "?", "fp16": "e", "fp32": "f", "fp64": "d"}
_INTEGERS = {("int", 8): "b", ("int", 16): "h", ("int", 32): "i", ("int", 64): "q"}
_INTEGERS |= {("uint", bits): code.upper() for (_, bits), code in _INTEGERS.items()}


class Unknown(Exception):
    """Too little is known for a rule to say anything."""


class Conflict(ValueError):
    """What an op is given cannot go together; the message says why, as a clause."""


class Operand:
    """One thing that an argument binds: its type, and its value, looked at only when it is asked for.

    `constant` tells whether the value is settled when the program is compiled, known here or not.
    """

    __slots__ = ("_read", "_value", "constant", "type")

    def __init__(
        self, type: Type, read: Callable[[], Value] | None = None, value: Value = None, *, constant: bool = True
    ) -> None:
        self.type = type
        self._read = read
        self._value = value
        self.constant = constant

    @property
    def value(self) -> Value:
        """The value, None when it is unknown."""
        if self._read is not None:
            self._value, self._read = self._read(), None
        return self._value


class NestedBlock(NamedTuple):
    """The types of a nested block's inputs and outputs."""

    inputs: Sequence[Type]
    outputs: Sequence[Type]


class Arguments:
    """What one op is given, by parameter. Each accessor raises Unknown for what is not there or not known."""

    __slots__ = ("blocks", "op_type", "operands", "opset")

    def __init__(
        self,
        op_type: str,
        operands: Mapping[str, Sequence[Operand]],
        opset: str | None = None,
        blocks: Sequence[NestedBlock] = (),
    ) -> None:
        self.op_type = op_type
        self.operands = operands
        self.blocks = blocks
        self.opset = opset

    def since(self, opset: str) -> bool:
        """Whether the op is of this opset (text spelling) or a later one; one that is not known is the newest."""
        return opset_place(self.opset) >= opset_place(opset)

    def has(self, name: str) -> bool:
        """Whether a parameter is bound."""
        return bool(self.operands.get(name))

    def all(self, name: str) -> Sequence[Operand]:
        """All that a parameter is bound to, at least one."""
        operands = self.operands.get(name)
        if not operands:
            raise Unknown
        return operands

    def type(self, name: str) -> Type:
        """The type of what a parameter is bound to."""
        return self.all(name)[0].type

    def tensor(self, name: str) -> TensorType:
        """The type of a parameter that is bound to a tensor."""
        return expect(self.type(name), TensorType)

    def tensors(self, name: str) -> list[TensorType]:
        """The types of all the tensors that a parameter is bound to."""
        return [expect(operand.type, TensorType) for operand in self.all(name)]

    def shape(self, name: str, rank: int | None = None) -> Shape:
        """The shape of a tensor, which must have the rank if one is given."""
        shape = self.tensor(name).shape
        if rank is not None and len(shape) != rank:
            raise Unknown
        return shape

    def dtype(self, name: str, default: str) -> str:
        """The data type of a tensor, `default` when the parameter is left out."""
        return self.tensor(name).dtype if self.has(name) else default

    def value(self, name: str, default: Any = None, *, least: int | None = None) -> Any:
        """The value of a parameter that takes a scalar; `default`, if there is one, when it is left out.

        Raises Conflict for a vector, and for a number below `least`.
        """
        value = default if default is not None and not self.has(name) else self.scalar(name)
        if value is None:
            raise Unknown
        return _from(least, name, (value,))[0]

    def scalar(self, name: str) -> Any:
        """The value of a parameter that takes a scalar, None when it is unknown. Raises Conflict for a vector."""
        value = self.all(name)[0].value
        if isinstance(value, tuple):
            raise Conflict(f"`{name}` takes a scalar, and is given a tensor of {len(value)}")
        return value

    def vector(self, name: str, default: Sequence[int] | None = None, *, least: int | None = None) -> tuple[int, ...]:
        """The elements of a parameter, all known, whatever its rank; `default`, if there is one, when it is left out.

        Raises Conflict for a number below `least`.
        """
        value = tuple(default) if default is not None and not self.has(name) else self.all(name)[0].value
        row = value if isinstance(value, tuple) else (value,)
        if None in row:
            raise Unknown
        return _from(least, name, row)

    def elements(self, name: str, *, least: int | None = None) -> tuple[Any, ...]:
        """The elements of a vector, None for each that is unknown; Unknown when not even their number is known.

        Raises Conflict for a number below `least`.
        """
        operand = self.all(name)[0]
        if isinstance(operand.value, tuple):
            return _from(least, name, operand.value)
        shape = expect(operand.type, TensorType).shape
        if len(shape) != 1 or shape[0] is None or shape[0] > LARGEST:
            raise Unknown
        return (None,) * shape[0]


def _from(least: int | None, name: str, numbers: tuple[Any, ...]) -> tuple[Any, ...]:
    """The numbers, none of which may be below `least`. Raises Conflict."""
    for number in numbers:
        if least is not None and isinstance(number, int) and number < least:
            raise Conflict(f"`{name}` takes numbers from {least} on, and is given {number}")
    return numbers


def expect(type: Type, kind: type[Kind]) -> Kind:
    """The type, which must be of the kind; Unknown is raised when it is not."""
    if isinstance(type, kind):
        return type
    raise Unknown


def read_value(message: proto.Value, type: Type) -> Value:
    """The value that a `Value` holds in the Program itself, None for any other and for large ones."""
    if not isinstance(type, TensorType) or message.WhichOneof("value") != "immediateValue":
        return None
    tensor = message.immediateValue.tensor
    field = tensor.WhichOneof("value")
    if field is None or None in type.shape:
        return None
    elements = _unpack(tensor.bytes.values, type.dtype) if field == "bytes" else getattr(tensor, field).values
    if len(elements) > LARGEST:
        return None
    if not type.shape:
        return elements[0] if len(elements) == 1 else None
    return tuple(elements)


def _unpack(data: bytes, dtype: str) -> Sequence[Any]:
    described = BY_NAME[dtype]
    code = _FORMATS.get(dtype) or _INTEGERS.get((described.kind, described.bits))
    if code is None or len(data) > LARGEST * 8:
        return ()
    size = struct.calcsize(code)
    return struct.unpack(f"<{len(data) // size}{code}", data[: len(data) // size * size])
