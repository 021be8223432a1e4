"""The largest partial sums of operations that add many terms, in any order.

A partial sum is at most the sum of all positive terms, and at least the sum of all negative terms, in any order of
addition.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from miltext.bounds.intervals import (
    UNKNOWN,
    ZERO,
    Interval,
    added,
    hull,
    magnitude,
    multiplied,
    of_array,
    product,
    squared,
)
from miltext.bounds.operands import Operands
from miltext.evaluation.devices.facts import PRODUCTS
from miltext.schema.dtypes import GREATEST_HALF

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

ENGINE_LIMIT = 32768.0
"""Where a sum of products is infinite on the Neural Engine."""

STEP = 2.0**-16
"""The most by which the rounding of a product moves a sum on the Neural Engine, in both directions."""


class Sum(NamedTuple):
    """A sum of `terms` numbers: the range of partial sums in any order, and the range of the whole sum.

    `gain` is the largest sum of sizes for inputs of the size 1, to the power of `power`; 0 where it is not known.
    `start` is the size of the bias.
    """

    partial: Interval
    whole: Interval
    terms: int
    gain: float = 0
    start: float = 0
    power: int = 1

    def safe(self, limit: float) -> float | None:
        """Return the size of inputs up to which no partial sum reaches a limit; None if it is not known."""
        if self.gain <= 0:
            return None
        left = max(0.0, (limit - self.start - self.terms * STEP) / self.gain)
        return math.sqrt(left) if self.power == 2 else left


def limit_of(op_type: str) -> float:
    """Return the bound from which a sum of an operation is infinite: the engine's accumulator's, or fp16's."""
    return ENGINE_LIMIT if op_type in PRODUCTS else GREATEST_HALF


SumRule: TypeAlias = Callable[[Operands], "Sum | None"]


def _weighted(weights: Array, bias: Array | None, x: Interval, *, padded: bool) -> Sum:
    """Return the sums of x by rows of weights, of which the largest one counts."""
    if not weights.size:
        return _unweighted(weights, bias)
    rows = weights.reshape(len(weights), -1)
    above, below = np.maximum(rows, 0).sum(axis=1), np.minimum(rows, 0).sum(axis=1)
    start = np.zeros(len(rows)) if bias is None else np.broadcast_to(bias.reshape(-1), len(rows))
    if not np.isfinite([above, below, start]).all():
        return Sum(UNKNOWN, UNKNOWN, rows.shape[1])
    most, least = max(x.high, 0.0), min(x.low, 0.0)
    ends = (most, least) if padded else (x.high, x.low)
    highs = _times(above, most) + _times(below, least) + np.maximum(start, 0)
    lows = _times(above, least) + _times(below, most) + np.minimum(start, 0)
    tops = _times(above, ends[0]) + _times(below, ends[1]) + start
    bottoms = _times(above, ends[1]) + _times(below, ends[0]) + start
    worst = int(np.argmax(above - below))
    gain, first = float(above[worst] - below[worst]), float(abs(start[worst]))
    terms = rows.shape[1] + (bias is not None)
    return _sum(
        Interval(float(lows.min()), float(highs.max()), x.is_known),
        Interval(float(bottoms.min()), float(tops.max()), x.is_known),
        terms,
        gain,
        first,
    )


def _unweighted(weights: Array, bias: Array | None) -> Sum:
    """Return the sums without products, which are their bias; 0 without one, or without any sum."""
    start = ZERO if bias is None or not len(weights) else of_array(bias)
    return _sum(hull([start, ZERO]), start, 0, 0, start.size)


def _times(sums: Array, end: float) -> Array:
    """Return products, where 0 times infinity is 0."""
    made: Array = np.multiply(sums, end, where=sums != 0, out=np.zeros(len(sums)))
    return made


def _sum(partial: Interval, whole: Interval, terms: int, gain: float, start: float = 0, power: int = 1) -> Sum:
    """Return a sum with room for the rounding of its terms, in float32 and on the Neural Engine."""
    error = terms * (partial.size * 2.0**-22 + STEP) if math.isfinite(partial.size) else 0
    wide = Interval(partial.low - error, partial.high + error, partial.is_known)
    return Sum(wide, Interval(whole.low - error, whole.high + error, whole.is_known), terms, gain, start, power)


def _repeated(term: Interval, count: int, gain: float, power: int = 1) -> Sum:
    """Return the sum of so many terms of one range."""
    partial = Interval(count * min(term.low, 0), count * max(term.high, 0), term.is_known) if count else ZERO
    whole = Interval(product(count, term.low), product(count, term.high), term.is_known)
    return _sum(partial, whole, count, gain, power=power)


# ---- products


def _conv(operands: Operands) -> Sum | None:
    weights, x = operands.array("weight"), operands.interval("x")
    bias = operands.array("bias") if "bias" in operands else None
    if weights is None or ("bias" in operands and bias is None):
        return _unknown_weights(operands, "weight", 1)
    return _weighted(weights, bias, x, padded=True)


def _transposed(operands: Operands) -> Sum | None:
    """Return the sum of a transposed convolution: an output adds at most all elements of its kernels."""
    weights, x = operands.array("weight"), operands.interval("x")
    bias = operands.array("bias") if "bias" in operands else None
    groups = int(operands.number("groups", 1))
    if weights is None or ("bias" in operands and bias is None):
        return None
    split = weights.reshape(groups, weights.shape[0] // groups, *weights.shape[1:])
    rows = np.moveaxis(split, 2, 1).reshape(groups * weights.shape[1], -1)
    return _weighted(rows, bias, x, padded=True)


def _linear(operands: Operands) -> Sum | None:
    weights = operands.array("weight")
    if weights is None:
        return _unknown_weights(operands, "weight", 1)
    return _weighted(weights, operands.array("bias"), operands.interval("x"), padded=False)


def _unknown_weights(operands: Operands, name: str, axis: int) -> Sum | None:
    """Return the sum of products of two values, with the axes of the second one from `axis` on."""
    shape, bias = operands.shape(name), operands.interval("bias") if "bias" in operands else ZERO
    if shape is None:
        return None
    term = multiplied(operands.interval("x"), hull([operands.interval(name), ZERO]))
    made = _repeated(hull([term, ZERO]), prod(shape[axis:]), 0)
    return made._replace(partial=added(made.partial, hull([bias, ZERO])), whole=added(made.whole, bias))


def _matmul(operands: Operands) -> Sum | None:
    x, y = operands.interval("x"), operands.interval("y")
    turned = bool(operands.setting("transpose_y"))
    constant = operands.array("y")
    if constant is not None and constant.ndim >= 2:
        columns = constant if turned else constant.swapaxes(-1, -2)
        return _weighted(columns.reshape(-1, columns.shape[-1]), None, x, padded=False)
    shape = operands.shape("x")
    if shape is None:
        return None
    terms = shape[-2] if operands.setting("transpose_x") and len(shape) > 1 else shape[-1]
    return _repeated(multiplied(x, y), terms, 0, 2)


def _einsum(operands: Operands) -> Sum | None:
    x, y = operands.each("values")
    shape = operands.shape("values")
    return None if shape is None else _repeated(multiplied(x, y), shape[-1], 0, 2)


# ---- reductions


def count_of(operands: Operands) -> int | None:
    """Return the number of elements that a reduction combines; None if it is not known."""
    shape, axes = operands.shape("x"), operands.setting("axes")
    if shape is None:
        return None
    return prod(shape) if axes is None else prod(shape[int(axis)] for axis in np.ravel(axes))


def _reduction(term: Callable[[Interval], Interval], power: int) -> SumRule:
    def summed(operands: Operands) -> Sum | None:
        count = count_of(operands)
        return None if count is None else _repeated(term(operands.interval("x")), count, count, power)

    return summed


def _cumulated(operands: Operands) -> Sum | None:
    shape = operands.shape("x")
    if shape is None or not shape:
        return None
    count = shape[int(operands.number("axis", 0))]
    made = _repeated(operands.interval("x"), count, count)
    return made._replace(whole=made.partial)


SUMS: dict[str, SumRule] = {
    "conv": _conv,
    "conv_transpose": _transposed,
    "linear": _linear,
    "matmul": _matmul,
    "einsum": _einsum,
    "reduce_sum": _reduction(lambda x: x, 1),
    "reduce_mean": _reduction(lambda x: x, 1),
    "reduce_l1_norm": _reduction(magnitude, 1),
    "reduce_sum_square": _reduction(squared, 2),
    "reduce_l2_norm": _reduction(squared, 2),
    "cumsum": _cumulated,
}
"""The sum of each operation that adds terms."""
