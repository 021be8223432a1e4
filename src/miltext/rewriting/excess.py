"""The elements of arrays outside the bounds of a declared exactness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.evaluation.rules import Array

_INTEGERS = {2: np.int16, 4: np.int32, 8: np.int64}
"""The integers with the bits of a float, by its bytes."""


def outside(bounds: Iterable[tuple[str, float]], before: Array, after: Array) -> Array:
    """Return which elements are outside of all bounds, each a kind and a number."""
    found = np.ones(before.shape, bool)
    for kind, number in bounds if before.shape == after.shape else ():
        found &= _outside(kind, number, before, after)
    return found


@np.errstate(all="ignore")
def _outside(kind: str, number: float, before: Array, after: Array) -> Array:
    """Return which elements are outside of one bound."""
    if before.dtype.kind != "f":
        return np.asarray(before != after)
    is_equal = (np.isnan(before) & np.isnan(after)) | (before == after)
    if kind == "exact":
        return np.asarray(~is_equal | (np.signbit(before) != np.signbit(after)) & ~np.isnan(before))
    if kind == "ulp":
        are_numbers = ~np.isnan(before) & ~np.isnan(after)
        return np.asarray(~is_equal & ~(are_numbers & (np.abs(steps(before) - steps(after)) <= number)))
    apart = np.abs(before.astype(np.float64) - after.astype(np.float64))
    limit = number * (np.abs(before.astype(np.float64)) if kind == "rtol" else 1.0)
    return np.asarray(~is_equal & ~(np.isfinite(before) & np.isfinite(after) & (apart <= limit)))


def steps(array: Array) -> Array:
    """Return the place of each float among all floats of its type: neighbours differ by 1, and both zeros are 0."""
    bits = array.view(_INTEGERS[array.dtype.itemsize]).astype(np.float64)
    least = -float(1 << 8 * array.dtype.itemsize - 1)
    return np.where(np.signbit(array), least - bits, bits)
