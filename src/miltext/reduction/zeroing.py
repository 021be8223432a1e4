"""Constants whose numbers do not matter: they become zeros of the same type."""

from __future__ import annotations

from collections.abc import Collection
from math import prod
from typing import TYPE_CHECKING

from miltext.schema.packing import packed_size
from miltext.schema.proto import Program
from miltext.schema.walk import values
from miltext.weights.tensors import literal, tensor_dtype, tensor_shape, tensor_value

if TYPE_CHECKING:
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import Value
    from miltext.schema.walk import Held

FEWEST = 2
"""The least elements of a constant: a single number is as short as zero is."""


def numbers(program: Program, most: int) -> list[int]:
    """Return the places among a program's values of possible zeros, up to a number of elements.

    These are weights of floats; integers may be shapes, axes, or places in other weights.
    """
    return [place for place, held in enumerate(values(program)) if _may_be_zero(held, most)]


def zeroed(program: Program, places: Collection[int]) -> Program:
    """Return a Program with zeros at some places."""
    made = Program()
    made.CopyFrom(program)
    for place, held in enumerate([*values(made)]):
        found = _dtype_and_count(held.value) if place in places else None
        if found is not None:
            dtype, count = found
            held.value.immediateValue.tensor.CopyFrom(tensor_value(dtype, bytes(packed_size(count, dtype.bits))))
    return made


def _may_be_zero(held: Held, most: int) -> bool:
    found = _dtype_and_count(held.value) if held.is_weight else None
    if found is None or found[0].kind != "float" or not FEWEST <= found[1] <= most:
        return False
    tensor = literal(held.value)
    return any(tensor.data) if tensor is not None else held.value.WhichOneof("value") == "blobFileValue"


def _dtype_and_count(value: Value) -> tuple[DType, int] | None:
    """Return the data type of a tensor and its number of elements; None for any other value, or an unknown shape."""
    dtype, shape = tensor_dtype(value.type), tensor_shape(value.type)
    return None if dtype is None or shape is None else (dtype, prod(shape))
