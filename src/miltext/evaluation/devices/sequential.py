"""Sums of products as Core ML computes them on the CPU: in fp16, term after term.

Each product and each sum is rounded to fp16, halves to even. numpy's own fp16 does that, slowly. Where no number can
overflow, float32 does it faster: a product of two fp16 numbers is exact, and their sum has too few bits for a second
rounding to matter.

Numbers of float32 are rounded to the 11 bits of fp16, halves to even, without a look at their exponents. float32 rounds
t - t / 8192 to a number g, and t - g is t / 8192, rounded to 11 bits: g is a whole number of steps that are 2^-13 of
those of fp16, and so is t. Only below a power of two are the steps of g half of that, and there t is nearest to the
power. So

- a product w x becomes 8192 w x - 8191 w x, of which float32 rounds the second alone;
- a sum s becomes s - 8191/8192 s, which is 2^-13 of it. The next terms are scaled alike, and after some of them the sum
  is scaled back;
- a product that may be below the normal numbers is added to a number and taken from it again, whose neighbours are as
  far apart as those of the product in fp16: 8192 w x or, for all of these numbers, 0.75.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.devices.products import AT_ONCE, multiply_chosen, products
from miltext.evaluation.values import narrowed, widened
from miltext.schema.dtypes import GREATEST_HALF, LEAST_HALF, LEAST_NORMAL_HALF

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

WORTH_LOOPING = 1 << 9
"""The least number of sums for which a loop over the terms is faster than numpy's accumulation in fp16."""

BITS = 13
"""The number of bits that float32 has and fp16 does not."""

KEPT = np.float32(1 - 2.0**-BITS)
"""The factor of a sum that leaves 2^-13 of it, rounded to 11 bits, when the product is subtracted."""

SCALES = tuple(2.0 ** (64 - BITS * step) for step in range(9))
"""The scales of a sum and its terms, step by step; all scaled numbers are normal ones of float32."""

LARGE, LESS = np.float32(2**BITS), np.float32(2**BITS - 1)
"""The factors of a product whose difference is the product, rounded to 11 bits if the second is rounded to 24."""

FLOOR, GREATEST = np.float32(0.75), np.float32(np.finfo(np.float32).max)
"""A number whose neighbours are as far apart as fp16 numbers below the normal ones, and the greatest number."""

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
    total = (start + np.float32(0)) * np.float32(SCALES[0])  # zeros are positive
    term, room = np.empty_like(total), np.empty_like(total)
    terms = _RoundedTerms(weights, inputs)
    for place in range(len(inputs)):
        terms.write(place, term, room)
        total += term
        np.multiply(total, KEPT, out=room)
        total -= room
        if (place + 1) % len(SCALES) == 0:
            total *= np.float32(2.0 ** (BITS * len(SCALES)))
    total *= np.float32(1 / SCALES[len(inputs) % len(SCALES)])
    if np.signbit(start[start == 0]).any():
        _restore_negative_zeros(total, weights, inputs, start)
    return narrowed(total)


class _RoundedTerms:
    """The terms of sums for float32 weights [K, M] and inputs [K, N], rounded to fp16 and scaled by SCALES.

    Weights are pairs with 0, and inputs pairs with the next row, because BLAS multiplies two columns and two rows in
    less time than one of each.
    """

    def __init__(self, weights: Array, inputs: Array) -> None:
        self._weights = np.ascontiguousarray(weights)
        self._inputs = np.concatenate([inputs, np.zeros_like(inputs[:1])])
        self._sizes = np.abs(self._inputs)
        self._pairs = np.zeros((weights.shape[1], 2), np.float32)
        self._is_small = (_least(np.abs(weights)) * _least(np.abs(inputs)) < LEAST_NORMAL_HALF).tolist()

    def write(self, place: int, out: Array, room: Array) -> None:
        """Write the terms of one k to `out`; `room` is for as many numbers."""
        scale = np.float32(SCALES[place % len(SCALES)])
        weights, both = self._weights[place] * scale, slice(place, place + 2)
        if not self._is_small[place]:
            self._multiply(weights * LARGE, self._inputs[both], out)
            self._multiply(weights * LESS, self._inputs[both], room)
        else:
            self._multiply(np.abs(weights) * LARGE, self._sizes[both], room)
            np.clip(room, FLOOR * scale, GREATEST, out=room)
            self._multiply(weights, self._inputs[both], out)
            out += room
        out -= room

    def _multiply(self, weights: Array, inputs: Array, out: Array) -> None:
        """Write the products of weights [M] and the first of two rows of inputs [2, N], each rounded once."""
        self._pairs[:, 0] = weights
        multiply_chosen(self._pairs, inputs, out)


def _least(sizes: Array) -> Array:
    """Return the least nonzero size in each row; 0 if all are 0.

    Sizes are in the order of their bits, and 0 minus 1 is the greatest integer.
    """
    least: Array = np.min(sizes.view(np.uint32) - np.uint32(1), axis=1) + np.uint32(1)
    return least.view(np.float32)


def _restore_negative_zeros(total: Array, weights: Array, inputs: Array, start: Array) -> None:
    """Make the sums negative zeros that are so from their starts on: each of their products is, or becomes one."""
    down, across = np.nonzero((total == 0) & (start == 0) & np.signbit(start))
    for weight, row in zip(weights, inputs, strict=True):
        term = weight[down] * row[across]
        is_kept = np.signbit(term) & (term >= -LARGEST_LOST)
        down, across = down[is_kept], across[is_kept]
    total[down, across] = -0.0
