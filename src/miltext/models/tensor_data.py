"""The bytes of a tensor Value, read from and written into immediate values; and the shape in its type."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from miltext.printing.tensors import field_data
from miltext.schema.dtypes import BY_NUMBER, DType
from miltext.schema.packing import packed_size
from miltext.schema.proto import TensorValue
from miltext.schema.wire import sized, tag

if TYPE_CHECKING:
    from miltext.schema.proto import Value, ValueType

VALUES = tag(1)


def tensor_dtype(value_type: ValueType) -> DType | None:
    """Return the data type of a tensor's type; None for any other type."""
    return BY_NUMBER.get(value_type.tensorType.dataType) if value_type.WhichOneof("type") == "tensorType" else None


def tensor_shape(value_type: ValueType) -> tuple[int, ...] | None:
    """Return the sizes of a tensor's type, None if one is unknown or rank and dimensions disagree."""
    tensor = value_type.tensorType
    if tensor.rank != len(tensor.dimensions):
        return None
    if any(dimension.WhichOneof("dimension") != "constant" for dimension in tensor.dimensions):
        return None
    return tuple(dimension.constant.size for dimension in tensor.dimensions)


def immediate_data(value: Value) -> tuple[DType, bytes] | None:
    """Return the data type of an immediate tensor and its elements, little-endian and packed as in a weight file.

    None for strings, for any other value, and for elements that are not in their type's usual field, do not fill its
    shape, or exceed its range.
    """
    dtype, shape = tensor_dtype(value.type), tensor_shape(value.type)
    if dtype is None or shape is None or value.immediateValue.WhichOneof("value") != "tensor":
        return None
    tensor = value.immediateValue.tensor
    if tensor.WhichOneof("value") != dtype.field or dtype.kind == "string":
        return None
    held = field_data(tensor, dtype.field)
    try:
        data = held if isinstance(held, bytes) else _little_endian(list(held), dtype)
    except OverflowError:
        return None
    return (dtype, data) if len(data) == packed_size(prod(shape), dtype.bits) else None


def _little_endian(numbers: list[int], dtype: DType) -> bytes:
    if dtype.kind == "bool":
        return bytes(numbers)
    wide = np.array(numbers, np.int64)
    if dtype.bits == 64:  # a uint64 is held as its two's complement
        return wide.astype("<i8").tobytes()
    if numbers and not dtype.minimum <= wide.min() <= wide.max() <= dtype.maximum:
        raise OverflowError
    return wide.astype(dtype.numpy).tobytes()


def tensor_value(dtype: DType, data: bytes | memoryview) -> TensorValue:
    """Return the TensorValue with these packed elements, in coremltools' field for values of the type."""
    made = TensorValue()
    member = getattr(made, dtype.field)
    member.SetInParent()
    if dtype.field == "bytes":
        member.values = bytes(data)
    elif dtype.field in ("floats", "doubles"):  # as bytes: a signalling NaN must not pass through a Python float
        member.MergeFromString(sized(VALUES, bytes(data)) if len(data) else b"")
    else:
        signed = "<i8" if dtype.name == "uint64" else dtype.numpy
        member.values.extend(np.frombuffer(data, signed).tolist())
    return made
