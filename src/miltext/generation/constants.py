"""Values of constants from Python's numbers, and the numbers that fill a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.inference.operands import Operand, read_value
from miltext.schema.dtypes import BY_NAME
from miltext.schema.packing import pack
from miltext.schema.proto import Value
from miltext.schema.tensors import Literal
from miltext.schema.types import ListType, TensorType, write_type
from miltext.schema.value_builders import immediate

if TYPE_CHECKING:
    from miltext.generation.choices import Choices

Number = bool | int | float | str


class NumberChoice(NamedTuple):
    """Numbers for a tensor by one choice: all ones for 0, the simplest; `positive` ones for divisors and the like."""

    seed: int
    positive: bool = False

    def numbers(self, type: TensorType) -> list[Number]:
        """Return the elements of a tensor whose sizes are all known."""
        dtype, count = BY_NAME[type.dtype], prod(size or 0 for size in type.shape)
        if dtype.kind == "bool":
            return [(place + self.seed) % (self.seed + 1) == 0 for place in range(count)]
        if not self.seed:
            return [1] * count
        steps = [(place * 7 + self.seed * 5) % 17 for place in range(count)]
        if dtype.kind == "float":
            return [(step + 1 if self.positive else step - 8) / 8 for step in steps]
        if self.positive:
            return [1 + step % min(8, dtype.maximum) for step in steps]
        low = max(dtype.minimum, -4)
        return [low + step % (min(dtype.maximum, 4) - low + 1) for step in steps]


def filling(choices: Choices, *, positive: bool = False) -> NumberChoice:
    """Choose the numbers of a tensor."""
    return NumberChoice(choices.integer(0, 16), positive)


def tensor_constant(type: TensorType, elements: Sequence[Number]) -> Value:
    """Return the immediate Value of a tensor, given its elements in C order, in coremltools' form."""
    import numpy as np

    dtype = BY_NAME[type.dtype]
    if dtype.kind == "string":
        return immediate(type, [*map(str, elements)])
    array, value = np.array(elements, np.dtype(dtype.numpy)), Value(type=write_type(type))
    value.immediateValue.tensor.CopyFrom(Literal(dtype, array.shape, pack(array, dtype)).message())
    return value


def list_constant(type: TensorType, elements: Sequence[Number]) -> Value:
    """Return the immediate Value of a list of scalars."""
    value = Value(type=write_type(ListType(type, len(elements))))
    value.immediateValue.list.SetInParent()
    value.immediateValue.list.values.extend(tensor_constant(type, [element]) for element in elements)
    return value


def operand_of(value: Value, type: TensorType | ListType) -> Operand:
    """Return the operand of a constant, as inference uses it."""
    return Operand(type, partial(read_value, value, type))
