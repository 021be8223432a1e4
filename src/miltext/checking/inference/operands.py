"""The input of a rule: operands with their types and, where they are known, their values.

A value is a Python scalar (bool, int, float, str) or, of any higher rank, the flat tuple of its elements in C order; an
unknown element is None, and so is an entirely unknown value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from miltext.diagnostics import codes
from miltext.schema.dtypes import BY_NAME
from miltext.schema.operations import opset_place
from miltext.schema.tensors import numbers
from miltext.schema.types import Dimension, ListType, Shape, StateType, TensorType, Type

if TYPE_CHECKING:
    from miltext.schema import proto

Scalar: TypeAlias = "bool | int | float | str"
Row: TypeAlias = "tuple[Scalar | None, ...]"
Value: TypeAlias = "Scalar | Row | None"
Kind = TypeVar("Kind", TensorType, ListType, StateType)
Plain = TypeVar("Plain", bound="bool | int | str")
Element = TypeVar("Element")
PlainKind: TypeAlias = type[Plain]

LARGEST = 256
"""The most elements of a constant whose value is read: constants that state shapes are small."""


class Unknown(Exception):
    """Too little is known for a result of a rule."""


class InputClash(NamedTuple):
    """The reason why an op rejects its inputs: a clause after the name of the wrong parameter.

    Without a parameter, the clause is about all inputs. `place` is the place of the wrong operand among the operands of
    the parameter; `beside` are the parameters that determine the right value.
    """

    clause: str
    parameter: str | None = None
    beside: Sequence[str] = ()
    code: str = codes.INCOMPATIBLE_INPUTS
    suggestion: str | None = None
    place: int = 0


class InputConflict(ValueError):
    """An operation rejects its inputs. `clash` contains the reason; the arguments are those of InputClash."""

    def __init__(self, clause: str, parameter: str | None = None, *beside: str, **facts: Any) -> None:
        super().__init__(clause)
        self.clash = InputClash(clause, parameter, beside, **facts)


class Operand:
    """An operand: its type, and its value, which is read on demand.

    `constant` is true for a compile-time constant, even with an unknown value.
    """

    __slots__ = ("_read", "_value", "constant", "type")

    def __init__(
        self, type: Type, read: Callable[[], Value] | None = None, constant: bool = True, value: Value = None
    ) -> None:
        self.type = type
        self.constant = constant
        self._read = read
        self._value = value

    def settle(self, type: Type, read: Callable[[], Value]) -> None:
        """Set the type and the value of a constant that were open."""
        self.type = type
        self._read = read

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


@dataclass(eq=False, slots=True)
class Arguments:
    """The operands of an op, by parameter.

    Each accessor checks the kind, the rank and the number of elements that its rule needs, and raises Unknown for a
    missing, unknown or different operand. `doubts` are unusual but valid arguments that a rule found.
    """

    op_type: str
    operands: Mapping[str, Sequence[Operand]]
    opset: str | None = None
    blocks: Sequence[NestedBlock] = ()
    doubts: list[InputClash] = field(default_factory=list)

    def doubt(self, clause: str, parameter: str, *beside: str, **facts: Any) -> None:
        """Record an unusual but valid argument, with the arguments of an InputConflict."""
        self.doubts.append(InputClash(clause, parameter, beside, **facts))

    @property
    def key(self) -> Hashable:
        """All facts that determine the result of an op without blocks; most ops repeat the inputs of another one.

        The value of a `const` is not among them, and not read.
        """
        key: list[Hashable] = [self.op_type, self.opset]
        is_read = self.op_type != "const"
        for name, operands in self.operands.items():
            key.append(name)
            for operand in operands:
                key += operand.type, operand.constant, operand.value if is_read else None
        return tuple(key)

    def since(self, opset: str) -> bool:
        """Return whether the op has this opset (text spelling) or a later one; an unknown opset is the newest."""
        return opset_place(self.opset) >= opset_place(opset)

    def has(self, name: str) -> bool:
        """Return whether a parameter is bound."""
        return bool(self.operands.get(name))

    def given(self, *names: str) -> list[str]:
        """Return the bound parameters among the names."""
        return [name for name in names if self.has(name)]

    def all(self, name: str) -> Sequence[Operand]:
        """Return all operands of a parameter, at least one."""
        operands = self.operands.get(name)
        if not operands:
            raise Unknown
        return operands

    def count(self, name: str) -> int:
        """Return the number of a parameter's operands."""
        if name not in self.operands:
            raise Unknown
        return len(self.operands[name])

    # ---- types

    def type(self, name: str) -> Type:
        """Return the type of a parameter's operand."""
        return self.all(name)[0].type

    def tensor(self, name: str) -> TensorType:
        """Return the type of a parameter bound to a tensor."""
        return expect(self.type(name), TensorType)

    def tensors(self, name: str) -> list[TensorType]:
        """Return the types of all tensors bound to a parameter."""
        return [expect(operand.type, TensorType) for operand in self.all(name)]

    def shape(self, name: str, rank: int | None = None, *, least: int = 0) -> Shape:
        """Return the shape of a tensor of the given `rank`, or of at least the rank `least`."""
        shape = self.tensor(name).shape
        if len(shape) < least or len(shape) != (len(shape) if rank is None else rank):
            raise Unknown
        return shape

    def dtype(self, name: str, default: str) -> str:
        """Return the data type of a tensor, `default` when the parameter is left out."""
        return self.tensor(name).dtype if self.has(name) else default

    # ---- values

    def single(self, name: str) -> Scalar | None:
        """Return the value of a scalar parameter, None when it is unknown. Raise InputConflict for a vector."""
        value = self.all(name)[0].value
        if isinstance(value, tuple):
            raise InputConflict(f"takes a scalar, not a tensor of {len(value)}", name, code=codes.WRONG_ARGUMENT_RANK)
        return value

    def scalar(
        self, name: str, kind: PlainKind[Plain], default: Plain | None = None, *, least: int | None = None
    ) -> Plain:
        """Return the value of a parameter that takes a scalar; `default`, if there is one, when it is left out.

        Raise InputConflict for a vector, and for a number below `least`.
        """
        if default is not None and not self.has(name):
            return default
        return _expected(name, self.single(name), kind, least)

    def size(self, name: str, default: int | None = None) -> Dimension:
        """Return the number of a scalar, None when it is unknown. Raise InputConflict for a vector."""
        left_out = default is not None and not self.has(name)
        return self.scalar(name, int, default) if left_out or self.single(name) is not None else None

    def axis(self, rank: int, default: int | None = None, *, name: str = "axis") -> int:
        """Return the axis in a parameter, counted from the front."""
        return position(self.scalar(name, int, default), rank)

    def vector(
        self,
        name: str,
        kind: PlainKind[Plain],
        count: int | None = None,
        default: Plain | None = None,
        *,
        least: int | None = None,
    ) -> tuple[Plain, ...]:
        """Return the elements of a parameter of any rank, all known: `count` of them if given.

        Each is the `default`, if there is one, when the parameter is left out. Raise InputConflict for a number below
        `least`.
        """
        if default is not None and not self.has(name):
            return (default,) * (count or 0)
        value = self.all(name)[0].value
        row = value if isinstance(value, tuple) else (value,)
        return _counted(tuple(_expected(name, element, kind, least) for element in row), count)

    def sizes(self, name: str, count: int | None = None, *, least: int | None = None) -> Shape:
        """Return the numbers of a vector, None for each unknown number: `count` of them if given.

        Raise Unknown when not even their number is known, and InputConflict for a number below `least`.
        """
        operand = self.all(name)[0]
        if not isinstance(operand.value, tuple):
            self.shape(name, 1)
        row = elements(operand)
        return _counted(
            tuple(None if element is None else _expected(name, element, int, least) for element in row), count
        )


def _counted(row: tuple[Element, ...], count: int | None) -> tuple[Element, ...]:
    if count is not None and len(row) != count:
        raise Unknown
    return row


def _expected(name: str, value: Scalar | None, kind: type[Plain], least: int | None) -> Plain:
    """Return the value, which must be of the kind; a truth value is not a number."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Unknown
    if least is not None and isinstance(value, int) and value < least:
        raise InputConflict(f"takes numbers from {least} on, not {value}", name, code=codes.VALUE_OUT_OF_RANGE)
    return value


def elements(operand: Operand) -> Row:
    """Return the elements of a constant; all None if only their number is known."""
    value = operand.value
    if value is not None:
        return value if isinstance(value, tuple) else (value,)
    size = count(expect(operand.type, TensorType).shape)
    if size is None or size > LARGEST:
        raise Unknown
    return (None,) * size


def number(value: Value) -> float | None:
    """Return the number of a value, None for another value."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def finite(value: Value) -> float | None:
    """Return the finite number of a value, None for another value."""
    found = number(value)
    return None if found is None or not math.isfinite(found) else found


def position(axis: int, rank: int) -> int:
    """Return an axis counted from the front. Raise Unknown if the rank has no such axis."""
    if not -rank <= axis < rank:
        raise Unknown
    return axis % rank


def count(sizes: Shape) -> Dimension:
    """Return the product of dimensions, None for an unknown one."""
    product = 1
    for size in sizes:
        if size is None:
            return None
        product *= size
    return product


def expect(type: Type, kind: type[Kind]) -> Kind:
    """Return the type, which must be of the kind. Raise Unknown when it is not."""
    if isinstance(type, kind):
        return type
    raise Unknown


def read_value(message: proto.Value, type: Type) -> Value:
    """Return the value inside a `Value` of the Program; None for a stored or large value, for a number of elements that
    differs from the type, and for elements that cannot be unpacked.
    """
    if not isinstance(type, TensorType) or message.WhichOneof("value") != "immediateValue":
        return None
    tensor = message.immediateValue.tensor
    field = tensor.WhichOneof("value")
    size = count(type.shape)
    if field is None or size is None or size > LARGEST:
        return None
    is_packed = field == "bytes"
    held = numbers(tensor.bytes.values, BY_NAME[type.dtype], size) if is_packed else getattr(tensor, field).values
    if len(held) != size:
        return None
    return tuple(held) if type.shape else held[0]
