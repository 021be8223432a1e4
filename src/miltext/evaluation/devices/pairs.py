"""Element-wise operations of two tensors as the Neural Engine computes them: the exact result, rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.devices.halves import numbers, rounded_away

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array


def paired(function: np.ufunc, x: Array, y: Array) -> Array:
    """Return the result of add, subtract or multiply, which float64 holds exactly, as fp16."""
    return rounded_away(function(numbers(x), numbers(y), dtype=np.float64))
