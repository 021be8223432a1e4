"""Results of a rule in the declared types of an op's outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.rules import UnfitValues
from miltext.evaluation.values import CARRIERS, WITHOUT_NUMPY, rounded
from miltext.schema.types import TensorType, Type, compatible, show

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried

FAILURES = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)
"""Exceptions of numpy and of rules for values without a result."""


def outputs_of(result: Carried, types: Sequence[Type]) -> list[Carried]:
    """Return the results of a rule as values of the declared types. Raise UnfitValues for a result of another shape."""
    results = result if isinstance(result, tuple) else (result,)
    return [_declared(*pair) for pair in zip(results, types, strict=True)] if types else []


def _declared(value: Carried, type: Type) -> Carried:
    if not isinstance(type, TensorType):
        return value
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if not compatible(type.shape, array.shape):
        raise UnfitValues(f"makes {show(array.shape)}, where {show(type.shape)} is declared")
    is_held = array.dtype == CARRIERS[type.dtype] and type.dtype not in WITHOUT_NUMPY
    return array if is_held else rounded(array, type.dtype)
