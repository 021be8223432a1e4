"""Sums of products as Core ML computes them on the CPU: in fp16, term after term.

Each product and each sum is rounded to fp16, halves to even. numpy's own fp16 does that, slowly. Where no number can
overflow, float32 does it faster: the sum of two fp16 numbers has too few bits for a second rounding to matter.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.devices.halves import GREATEST
from miltext.evaluation.devices.products import AT_ONCE, products
from miltext.evaluation.values import narrowed, widened

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

WORTH_LOOPING = 1 << 8
"""The least number of sums for which a loop over the terms is faster than numpy's accumulation in fp16."""


def cpu_sums(rows: Array, columns: Array, starts: Array) -> Array:
    """Return the sums of products of rows [M, K] and columns [K, N] after their starts [M, N], as fp16."""
    if starts.size >= WORTH_LOOPING:
        weights, inputs, start = widened(rows), widened(columns), widened(starts)
        if _never_overflows(weights, inputs, start):
            return _looped(weights.T, inputs, start.copy())
    total = starts
    step = max(1, AT_ONCE // max(1, starts.size))
    for first in range(0, rows.shape[1], step):
        part = slice(first, first + step)
        terms = rows.T[part, :, None] * columns[part, None, :]
        terms[0] += total
        total = np.add.accumulate(terms, axis=0)[-1]
    return np.where(np.isnan(total), np.float16(np.nan), total)  # one NaN, as measured


cpu_products = partial(products, cpu_sums)
"""Products of matrices as Core ML computes them on the CPU."""


def _never_overflows(weights: Array, inputs: Array, start: Array) -> bool:
    """Return whether the sums of all sizes stay within fp16; each rounding adds at most 2^-11 of a number's size."""
    sizes = np.abs(weights) @ np.abs(inputs) + np.abs(start)
    return bool(np.all(sizes * np.exp(2 * (weights.shape[1] + 1) * 2.0**-11) < GREATEST))


def _looped(weights: Array, inputs: Array, total: Array) -> Array:
    term, power = np.empty_like(total), np.empty_like(total)
    for weight, row in zip(weights, inputs, strict=True):
        np.multiply(weight[:, None], row, out=term)
        _round(term, power)
        total += term
        _round(total, power)
    return narrowed(total)


def _round(wide: Array, power: Array) -> None:
    """Round float32 to numbers of fp16, halves to even, where none overflows; `power` is room for as many numbers.

    The sum with 1.5 * 2^13 times a number's power of two is rounded to the last bit that fp16 has.
    """
    np.bitwise_and(wide.view(np.int32), 0x7F800000, out=power.view(np.int32))
    np.maximum(power, 2.0**-14, out=power)
    power *= 1.5 * 2.0**13
    wide += power
    wide -= power
