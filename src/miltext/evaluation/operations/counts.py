"""Number of elements computed from floats."""

from __future__ import annotations

from collections.abc import Callable

from miltext.checking.inference.rules import TOLERANCE
from miltext.schema.types import TensorType, Type


def count_of(number: float, rounded: Callable[[float], int], declared: Type, axis: int) -> int:
    """Return the size that the result declares along an axis, or else the number rounded.

    A number next to a whole number counts as that one: 5 * 1.4 in fp32 is 7 for coremltools, and less than that in
    fp64. A declared size counts if it is the whole number below or above.
    """
    size = declared.shape[axis] if isinstance(declared, TensorType) and declared.shape else None
    if size is not None and abs(number - size) < 1:
        return size
    near = round(number)
    return near if abs(number - near) < TOLERANCE * max(1.0, abs(number)) else rounded(number)
