"""Small constants of Programs, as flat lists of numbers and back."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from miltext.schema.dtypes import BY_NAME
from miltext.schema.packing import pack_array, unpack
from miltext.schema.proto import Value
from miltext.schema.types import Shape, TensorType, read_type, write_type

MOST = 64
"""The most elements of a constant that is read."""


class Constant(NamedTuple):
    """A tensor: its data type, its shape, and its elements in C order."""

    dtype: str
    shape: Shape
    flat: list[Any]

    @property
    def is_integer(self) -> bool:
        return BY_NAME[self.dtype].kind in ("int", "uint")


def size(shape: Shape) -> int:
    """Return how many elements a shape has; its sizes are known."""
    return math.prod(each for each in shape if each is not None)


def read(value: Value | None) -> Constant | None:
    """Return a constant that is in its Program and is small."""
    stated = None if value is None else read_type(value.type)
    if value is None or not isinstance(stated, TensorType) or not value.immediateValue.HasField("tensor"):
        return None
    dtype, tensor, field = (
        BY_NAME[stated.dtype],
        value.immediateValue.tensor,
        value.immediateValue.tensor.WhichOneof("value"),
    )
    if field is None or size(stated.shape) > MOST or (field == "bytes" and np.dtype(dtype.numpy).kind == "O"):
        return None
    if field == "bytes":
        return Constant(*stated, unpack(tensor.bytes.values, dtype, size(stated.shape)).tolist())
    return Constant(*stated, list(getattr(tensor, field).values))


def made(constant: Constant) -> Value:
    """Return the Value of a constant; a number that its data type does not have becomes another one."""
    dtype = BY_NAME[constant.dtype]
    value = Value(type=write_type(TensorType(constant.dtype, constant.shape)))
    holder = getattr(value.immediateValue.tensor, dtype.field)
    holder.SetInParent()
    if dtype.field != "bytes":
        holder.values.extend(constant.flat)
    elif dtype.packed:
        holder.values = pack_array(np.array(constant.flat, np.int64), dtype.bits)
    else:
        with np.errstate(all="ignore"):
            holder.values = np.array(constant.flat).astype(np.dtype(dtype.numpy)).tobytes()
    return value


def in_weight_file(dtype: str, shape: Shape) -> Value:
    """Return a Value that a weight file holds."""
    value = Value(type=write_type(TensorType(dtype, shape)))
    value.blobFileValue.fileName = "@model_path/weights/weight.bin"
    value.blobFileValue.offset = 64
    return value
