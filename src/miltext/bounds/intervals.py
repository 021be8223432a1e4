"""Ranges of numbers, and arithmetic with them. Each result contains all results for numbers in the ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

GREATEST = {"fp16": 65504.0, "fp32": float(np.finfo(np.float32).max)}
"""The greatest number of a data type; beyond it, results are infinite."""

PRECISION = {"fp16": (2.0**-10, 2.0**-24), "fp32": (2.0**-18, 2.0**-126)}
"""The relative and the absolute error of a result, with room for the errors inside an operation of fp32."""


class Interval(NamedTuple):
    """The range of the finite elements of a value; `is_known` is false if it follows from an input of any size."""

    low: float
    high: float
    is_known: bool = True

    @property
    def size(self) -> float:
        """The greatest absolute value."""
        return max(abs(self.low), abs(self.high))

    def rounded(self, dtype: str) -> Interval:
        """Return the range of the numbers rounded to a data type; an infinite one is not known."""
        if dtype not in PRECISION or self.low > self.high:
            return self
        relative, absolute = PRECISION[dtype]
        ends = [end + sign * (abs(end) * relative + absolute) for sign, end in ((-1, self.low), (1, self.high))]
        low, high = (0.0 if end == 0 else wide for end, wide in zip(self[:2], ends, strict=True))
        if max(abs(low), abs(high)) > GREATEST[dtype]:
            return Interval(
                low if low >= -GREATEST[dtype] else -math.inf, high if high <= GREATEST[dtype] else math.inf, False
            )
        return Interval(low, high, self.is_known)

    def clipped(self, low: float, high: float) -> Interval:
        """Return the range of numbers limited to another range; it is known if that is finite."""
        is_known = self.is_known or (math.isfinite(low) and math.isfinite(high))
        return Interval(min(max(self.low, low), high), max(min(self.high, high), low), is_known)

    def mapped(self, function: Callable[[float], float], *, error: float = 0) -> Interval:
        """Return the range of a rising function, which is computed with a relative and absolute error."""
        ends = [_called(function, end) for end in self[:2]]
        low, high = (
            end + sign * error * (1 + abs(end)) if math.isfinite(end) else end
            for sign, end in zip((-1, 1), ends, strict=True)
        )
        return Interval(low, high, self.is_known and math.isfinite(low) and math.isfinite(high))


UNKNOWN = Interval(-math.inf, math.inf, False)
ZERO = Interval(0, 0)


def _called(function: Callable[[float], float], number: float) -> float:
    try:
        return function(number)
    except OverflowError:
        return math.inf


def of_array(array: Array) -> Interval:
    """Return the range of the finite elements of an array; 0 without any."""
    if array.dtype.kind not in "fiub" or not array.size:
        return ZERO
    finite = array if array.dtype.kind != "f" else array[np.isfinite(array)]
    return Interval(float(finite.min()), float(finite.max())) if finite.size else ZERO


def hull(intervals: Iterable[Interval]) -> Interval:
    """Return the least range around all; that of nothing is 0."""
    several = [*intervals] or [ZERO]
    low, high = min(each.low for each in several), max(each.high for each in several)
    return Interval(low, high, all(each.is_known for each in several))


def added(x: Interval, y: Interval) -> Interval:
    """Return the range of x + y."""
    return Interval(x.low + y.low, x.high + y.high, x.is_known and y.is_known)


def negated(x: Interval) -> Interval:
    """Return the range of -x."""
    return Interval(-x.high, -x.low, x.is_known)


def multiplied(x: Interval, y: Interval) -> Interval:
    """Return the range of x * y."""
    ends = [product(one, other) for one in x[:2] for other in y[:2]]
    return Interval(min(ends), max(ends), x.is_known and y.is_known)


def product(x: float, y: float) -> float:
    """Return x * y, where 0 times infinity is 0."""
    return 0.0 if x == 0 or y == 0 else x * y


def inverted(x: Interval) -> Interval:
    """Return the range of 1 / x; any number where x may be 0."""
    if x.low <= 0 <= x.high:
        return UNKNOWN
    return Interval(1 / x.high, 1 / x.low, x.is_known)


def squared(x: Interval) -> Interval:
    """Return the range of x * x."""
    least = 0.0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high)) ** 2
    return Interval(least, x.size**2, x.is_known)


def magnitude(x: Interval) -> Interval:
    """Return the range of |x|."""
    return Interval(0.0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high)), x.size, x.is_known)
