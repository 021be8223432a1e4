"""Ranges of numbers, and arithmetic with them. Each result contains all results for numbers in the ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.schema.dtypes import GREATEST_HALF, LEAST_HALF

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

GREATEST = {"fp16": GREATEST_HALF, "fp32": float(np.finfo(np.float32).max)}
"""The greatest number of a data type; beyond it, results are infinite."""

PRECISION = {"fp16": (2.0**-10, LEAST_HALF), "fp32": (2.0**-18, 2.0**-126)}
"""The relative and the absolute error of a result, with room for the errors inside an operation of fp32."""


class Interval(NamedTuple):
    """The range of the elements of a value; `is_known` is false if it follows from an input of any size.

    `is_sure` is false if an element may be NaN, or follow from NaN or an infinity, which devices read differently: then
    it may be any number, and the range holds where no such number takes part.
    """

    low: float
    high: float
    is_known: bool = True
    is_sure: bool = True

    @property
    def is_regular(self) -> bool:
        """Return whether all elements are numbers, none of them infinite."""
        return self.is_sure and math.isfinite(self.low) and math.isfinite(self.high)

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
        most = GREATEST[dtype]
        if max(abs(low), abs(high)) > most:  # the nearest number may be finite: of -inf to inf, at most the greatest
            low, high = (-math.inf if low < -most else min(low, most)), (math.inf if high > most else max(high, -most))
            return self._replace(low=low, high=high, is_known=False)
        return self._replace(low=low, high=high)

    def enclosed(self, dtype: str) -> Interval:
        """Return the least range with ends of a data type: rounded in any way, no number leaves it."""
        if dtype not in PRECISION or self.low > self.high:
            return self
        kind = np.float16 if dtype == "fp16" else np.float32
        low, high = kind(self.low), kind(self.high)
        low = np.nextafter(low, kind(-math.inf)) if low > self.low else low
        high = np.nextafter(high, kind(math.inf)) if high < self.high else high
        is_known = self.is_known and math.isfinite(low) and math.isfinite(high)
        return self._replace(low=float(low), high=float(high), is_known=is_known)

    def clipped(self, low: float, high: float) -> Interval:
        """Return the range of numbers limited to another range; it is known if that is finite."""
        is_known = self.is_known or (math.isfinite(low) and math.isfinite(high))
        return Interval(min(max(self.low, low), high), max(min(self.high, high), low), is_known, self.is_sure)

    def mapped(self, function: Callable[[float], float], *, error: float = 0) -> Interval:
        """Return the range of a rising function, which is computed with a relative and absolute error."""
        ends = [_called(function, end) for end in self[:2]]
        low, high = (
            end + sign * error * (1 + abs(end)) if math.isfinite(end) else end
            for sign, end in zip((-1, 1), ends, strict=True)
        )
        return Interval(low, high, self.is_known and math.isfinite(low) and math.isfinite(high), self.is_sure)


UNKNOWN = Interval(-math.inf, math.inf, False, False)
ZERO = Interval(0, 0)


def _called(function: Callable[[float], float], number: float) -> float:
    try:
        return function(number)
    except OverflowError:
        return math.inf


def of_array(array: Array) -> Interval:
    """Return the range of the elements of an array; 0 without any. Infinities are not known, and NaN is not sure."""
    if array.dtype.kind not in "fiub" or not array.size:
        return ZERO
    low, high = float(array.min()), float(array.max())
    if math.isfinite(low) and math.isfinite(high):
        return Interval(low, high)
    is_sure = not (math.isnan(low) or math.isnan(high))
    numbers = array if is_sure else array[~np.isnan(array)]
    if not numbers.size:
        return UNKNOWN
    return Interval(float(numbers.min()), float(numbers.max()), False, is_sure)


def hull(intervals: Iterable[Interval]) -> Interval:
    """Return the least range around all; 0 for none."""
    several = [*intervals] or [ZERO]
    low, high = min(each.low for each in several), max(each.high for each in several)
    return Interval(low, high, all(each.is_known for each in several), all(each.is_sure for each in several))


def added(x: Interval, y: Interval) -> Interval:
    """Return the range of x + y."""
    low, high = x.low + y.low, x.high + y.high
    if math.isnan(low) or math.isnan(high):  # infinities of both signs
        return UNKNOWN
    return Interval(low, high, x.is_known and y.is_known, x.is_sure and y.is_sure)


def negated(x: Interval) -> Interval:
    """Return the range of -x."""
    return Interval(-x.high, -x.low, x.is_known, x.is_sure)


def multiplied(x: Interval, y: Interval) -> Interval:
    """Return the range of x * y."""
    ends = [product(one, other) for one in x[:2] for other in y[:2]]
    return Interval(min(ends), max(ends), x.is_known and y.is_known, x.is_sure and y.is_sure)


def product(x: float, y: float) -> float:
    """Return x * y, where 0 times infinity is 0."""
    return 0.0 if x == 0 or y == 0 else x * y


def inverted(x: Interval) -> Interval:
    """Return the range of 1 / x; any number where x may be 0."""
    if x.low <= 0 <= x.high:
        return UNKNOWN
    return Interval(1 / x.high, 1 / x.low, x.is_known, x.is_sure)


def squared(x: Interval) -> Interval:
    """Return the range of x * x."""
    least = 0.0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
    return Interval(least * least, x.size * x.size, x.is_known, x.is_sure)


def magnitude(x: Interval) -> Interval:
    """Return the range of |x|."""
    return Interval(0.0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high)), x.size, x.is_known, x.is_sure)
