"""Literals of arrays, and of the numbers of expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.schema.proto import Value
from miltext.schema.tensors import Computed
from miltext.schema.types import TensorType, write_type
from miltext.schema.value_builders import immediate

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array


def literal_message(array: Array) -> Value:
    """Return the literal of an array of numbers, truth values or strings."""
    if array.dtype == object:
        return immediate(TensorType("string", array.shape), [str(each) for each in array.reshape(-1)])
    tensor = Computed(np.ascontiguousarray(array).reshape(array.shape))
    made = Value(type=write_type(TensorType(tensor.dtype.name, array.shape)))
    made.immediateValue.tensor.CopyFrom(tensor.message())
    return made


def literal_of_data(data: Any, dtype: str) -> Value | None:
    """Return the literal of a number, a truth value, a string or a list of an expression; None for other data.

    Fractions get the floating-point data type `dtype`.
    """
    try:
        array = np.array(data)
    except (ValueError, OverflowError):
        return None
    if array.dtype.kind == "U":
        array = array.astype(object)
    elif array.dtype.kind == "f":
        array = array.astype(np.float16 if dtype == "fp16" else np.float32)
    elif array.dtype.kind == "i" or array.size == 0:
        if array.size and not (np.iinfo(np.int32).min <= array.min() and array.max() <= np.iinfo(np.int32).max):
            return None
        array = array.astype(np.int32)
    return literal_message(array) if array.dtype.kind in "Oifb" else None
