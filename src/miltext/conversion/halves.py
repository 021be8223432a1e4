"""Numbers of fp32 as numbers of fp16, and the loss.

The decisions equal coremltools 9.0's in its pass `add_fp16_cast`, except for numbers that stand for an infinity:
coremltools makes them infinite, so that `(1 - mask) * -inf` is NaN for a mask of 1. Here they become the greatest
number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from miltext.schema.dtypes import GREATEST_HALF, LEAST_HALF, LEAST_NORMAL_HALF

if TYPE_CHECKING:
    import numpy.typing as npt

    from miltext.checking.inference.operands import Scalar, Value
    from miltext.schema.packing import Array

STANDS_FOR_INFINITY = 1e38
"""From this magnitude on, a number is meant as an infinity, as in masks (`fp16_overflow` in coremltools)."""

FEW = 400
"""No element of a smaller array becomes 0, for it may prevent a division by 0 (`_check_underflow_to_zero`)."""

BEYOND = 65520.0
"""From this magnitude on, rounding gives an infinity."""


@dataclass
class Loss:
    """The loss of an array as fp16.

    `absolute` is the largest error, made at the number `at`; `relative` the largest error over its number. NaN and
    infinities have no error. `zeros` are the nonzero numbers that become 0, `subnormals` keep fewer than 11 bits, and
    `raised` become the least magnitude instead of 0; `clamped` stood for an infinity. `overflow` is the number of
    greatest magnitude beyond fp16; `greatest` the greatest magnitude of all finite numbers; `least` the least magnitude
    other than 0, where some are below the normal numbers of fp16.
    """

    absolute: float = 0.0
    at: float = 0.0
    relative: float = 0.0
    zeros: int = 0
    subnormals: int = 0
    raised: int = 0
    clamped: int = 0
    overflow: float | None = None
    greatest: float = 0.0
    least: float = math.inf

    @property
    def share(self) -> float:
        """The largest error, relative to its number."""
        return self.absolute / abs(self.at) if self.at else 0.0


def halves(values: Array, is_small: bool) -> npt.NDArray[np.float16]:
    """Return fp32 numbers as fp16, rounded to the nearest, with ties to even.

    In a `small` array, no number becomes 0. Numbers beyond fp16 become infinities, unless they stand for one.
    """
    with np.errstate(all="ignore"):
        made: npt.NDArray[np.float16] = values.astype(np.float16)
        if values.size and not np.abs(values).max() < STANDS_FOR_INFINITY:  # or there is a NaN
            meant = np.isfinite(values) & (np.abs(values) >= STANDS_FOR_INFINITY)
            made[meant] = np.copysign(GREATEST_HALF, values[meant])
    if is_small:
        lost = (made == 0) & (values != 0)
        made[lost] = np.copysign(LEAST_HALF, values[lost])
    return made


def rounded(value: Value) -> Value:
    """Return the inferred value of a constant, rounded to fp16; None stands for an unknown number."""
    if isinstance(value, tuple):
        return tuple(map(_rounded, value))
    return _rounded(value)


def _rounded(number: Scalar | None) -> Scalar | None:
    with np.errstate(all="ignore"):
        return float(np.float16(number)) if isinstance(number, float) else number


def measured(chunks: Iterable[Array], is_small: bool) -> Loss:
    """Return the loss of fp32 numbers, measured by chunks."""
    loss = Loss()
    for chunk in chunks:
        if chunk.size:
            with np.errstate(all="ignore"):
                _measure(chunk, is_small, loss)
    return loss


def _measure(values: Array, is_small: bool, loss: Loss) -> None:
    """Add the loss of a chunk.

    Errors are exact in fp32 except for raised numbers. A chunk with a NaN, which compares with no number, is measured
    whole.
    """
    made = halves(values, is_small).astype(np.float32)
    magnitude, errors = np.abs(values), np.abs(values - made)
    if not magnitude.max() < BEYOND:
        _measure_large(values, magnitude, loss)
        errors[~(magnitude < BEYOND)] = 0
    if not magnitude.min() >= LEAST_NORMAL_HALF:
        tiny = (magnitude <= LEAST_HALF / 2) & (values != 0)
        number = int(np.count_nonzero(tiny))
        loss.least = min(loss.least, float(magnitude.min(where=values != 0, initial=math.inf)))
        loss.raised += number if is_small else 0
        loss.zeros += 0 if is_small else number
        loss.subnormals += int(np.count_nonzero((np.abs(made) < LEAST_NORMAL_HALF) & (made != 0) & ~tiny))
    loss.greatest = max(loss.greatest, float(magnitude.max(where=np.isfinite(values), initial=0)))
    place = int(errors.argmax())
    if errors[place] > loss.absolute:
        loss.absolute, loss.at = float(errors[place]), float(values[place])
    np.divide(errors, magnitude, out=errors, where=magnitude > 0)
    loss.relative = max(loss.relative, float(errors.max()))


def _measure_large(values: Array, magnitude: Array, loss: Loss) -> None:
    """Add the loss of numbers beyond fp16."""
    meant = np.isfinite(values) & (magnitude >= STANDS_FOR_INFINITY)
    over = (magnitude >= BEYOND) & (magnitude < STANDS_FOR_INFINITY)
    loss.clamped += int(np.count_nonzero(meant))
    if over.any():
        found = float(values[over][magnitude[over].argmax()])
        loss.overflow = max(loss.overflow or 0.0, found, key=abs)
