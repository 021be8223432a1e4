"""What a rule gives back as the outputs that an op declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from miltext.evaluation.rules import Unfit
from miltext.evaluation.values import CARRIERS, WITHOUT_NUMPY, rounded
from miltext.schema.types import TensorType, Type, compatible, show

FAILURES = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)
"""What numpy and rules raise for values of which there is no result."""


def outputs_of(result: Any, types: Sequence[Type]) -> list[Any]:
    """Return what a rule gives back as values of the types declared. Raise Unfit for one of another shape."""
    results = result if isinstance(result, tuple) else (result,)
    return [_declared(*pair) for pair in zip(results, types, strict=True)] if types else []


def _declared(value: Any, type: Type) -> Any:
    if not isinstance(type, TensorType):
        return value
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if not compatible(type.shape, array.shape):
        raise Unfit(f"makes {show(array.shape)}, where {show(type.shape)} is declared")
    is_held = array.dtype == CARRIERS[type.dtype] and type.dtype not in WITHOUT_NUMPY
    return array if is_held else rounded(array, type.dtype)
