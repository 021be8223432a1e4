"""Sums of products as Core ML computes them on the CPU: in fp16, term after term.

Each product and each sum is rounded to fp16, halves to even. numpy's own fp16 does that, slowly. Where no number can
overflow, float32 does it faster: a product of two fp16 numbers is exact, and their sum has too few bits for a second
rounding to matter.

Normal numbers are rounded as Veltkamp split them (Numerische Mathematik 18, 1971): with g = 8193 t, g - (g - t) is t
rounded to 11 bits, halves to even. A sum of fp16 numbers below the normal ones needs no rounding, but a product does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.devices.products import AT_ONCE, products
from miltext.evaluation.values import narrowed, widened
from miltext.schema.dtypes import GREATEST_HALF, LEAST_HALF, LEAST_NORMAL_HALF

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

WORTH_LOOPING = 1 << 8
"""The least number of sums for which a loop over the terms is faster than numpy's accumulation in fp16."""

SPLIT = np.float32(2**13 + 1)
"""The factor that splits the 24 bits of float32 after 11 of them."""

LARGEST_LOST = LEAST_HALF / 2
"""The largest number that fp16 rounds to zero: half of its least number."""


def cpu_sums(rows: Array, columns: Array, starts: Array) -> Array:
    """Return the sums of products of rows [M, K] and columns [K, N] after their starts [M, N], as fp16."""
    if starts.size >= WORTH_LOOPING:
        weights, inputs, start = widened(rows), widened(columns), widened(starts)
        if _never_overflows(weights, inputs, start):
            return _looped(weights.T, inputs, start)
    return _accumulated(rows, columns, starts)


cpu_products = partial(products, cpu_sums)
"""Products of matrices as Core ML computes them on the CPU."""


def _accumulated(rows: Array, columns: Array, starts: Array) -> Array:
    """Return the sums in numpy's own fp16, with one NaN, as measured."""
    total = starts
    step = max(1, AT_ONCE // max(1, starts.size))
    for first in range(0, rows.shape[1], step):
        part = slice(first, first + step)
        terms = rows.T[part, :, None] * columns[part, None, :]
        terms[0] += total
        total = np.add.accumulate(terms, axis=0)[-1]
    return np.where(np.isnan(total), np.float16(np.nan), total)


def _never_overflows(weights: Array, inputs: Array, start: Array) -> bool:
    """Return whether the sums of all sizes stay within fp16; each rounding adds at most 2^-11 of a number's size."""
    sizes = np.abs(weights) @ np.abs(inputs) + np.abs(start)
    return bool(np.all(sizes * np.exp(2 * (weights.shape[1] + 1) * 2.0**-11) < GREATEST_HALF))


def _looped(weights: Array, inputs: Array, start: Array) -> Array:
    """Return the sums of float32 weights [K, M] and inputs [K, N], term after term, as fp16; none may overflow."""
    total = start + np.float32(0)  # a copy, in which zeros are positive
    term, room = np.empty_like(total), np.empty_like(total)
    floor = np.full_like(total, LEAST_NORMAL_HALF)  # numpy compares with an array faster than with a number
    is_small = _least(weights) * _least(inputs) < LEAST_NORMAL_HALF
    for weight, row, small in zip(np.ascontiguousarray(weights), inputs, is_small.tolist(), strict=True):
        np.einsum("i,j->ij", weight, row, out=term)  # faster than a product with broadcasting
        if small:
            _round(term, floor, room)
        else:
            _round_normal(term, room, term)
        total += term
        _round_normal(total, room, term)
    if np.signbit(start[start == 0]).any():
        _restore_negative_zeros(total, weights, inputs, start)
    return narrowed(total)


def _least(numbers: Array) -> Array:
    """Return the least size of the numbers in each row that are not 0."""
    sizes = np.abs(numbers)
    least: Array = np.min(sizes, axis=1, where=sizes > 0, initial=np.inf)
    return least


def _restore_negative_zeros(total: Array, weights: Array, inputs: Array, start: Array) -> None:
    """Make the sums negative zeros that are so from their starts on: each of their products is, or becomes one."""
    down, across = np.nonzero((total == 0) & (start == 0) & np.signbit(start))
    for weight, row in zip(weights, inputs, strict=True):
        term = weight[down] * row[across]
        is_kept = np.signbit(term) & (term >= -LARGEST_LOST)
        down, across = down[is_kept], across[is_kept]
    total[down, across] = -0.0


def _round_normal(wide: Array, scaled: Array, left: Array) -> None:
    """Round float32 to 11 bits, halves to even; `scaled` and `left` are room for as many numbers."""
    np.multiply(wide, SPLIT, out=scaled)
    np.subtract(scaled, wide, out=left)
    np.subtract(scaled, left, out=wide)


def _round(wide: Array, floor: Array, power: Array) -> None:
    """Round float32 to numbers of fp16, halves to even, where none overflows; `power` is room for as many numbers.

    The sum with 1.5 * 2^13 times a number's power of two, which is at least `floor`, is rounded to the last bit that
    fp16 has. Zeros are positive.
    """
    np.bitwise_and(wide.view(np.int32), 0x7F800000, out=power.view(np.int32))
    np.maximum(power, floor, out=power)
    power *= 1.5 * 2.0**13
    wide += power
    wide -= power
