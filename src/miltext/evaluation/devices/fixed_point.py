"""Sums of products as the Neural Engine computes them, in fixed point.

The accumulator has 15 whole and 16 fraction bits. A product is rounded to 2^-16, halves away from zero, and dropped
whole if the exponents of its factors add up to -17 or less. From 32768 on, the sum is infinite, and it stays infinite.
`facts` has the source of each of these rules.

Both the rounding and the sum are one addition of floats: the accumulator is kept with an offset, around which floats
are 2^-16 apart. That addition rounds halves to even. So each weight is moved away from zero, in a bit that fp16 does
not have: a product has at most 22 significant bits, and then a tie is past the middle, and no other product is.

float64 has room for every sum. float32, which is twice as fast, has room for sums below 32, where a sum that cannot
overflow is cut into parts: the order of their terms does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.devices.halves import numbers, rounded_away
from miltext.evaluation.devices.products import AT_ONCE, multiply_chosen, products

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

STEP = 2.0**-16
"""The distance between numbers of the accumulator."""

OFFSET, SMALL_OFFSET = 1.5 * 2.0**36, 192.0
"""Numbers whose neighbours are STEP apart in float64 and in float32, also up to 2^35 and 64 around them."""

LIMIT, SMALL_LIMIT = 32768.0, 32.0
"""The least sum that is infinite, and the size up to which sums are computed in float32.

A product of 32 or more would be moved by half a step in float32, with its weight.
"""

WORTH_LOOPING = 1 << 12
"""The least number of sums for which a loop over the terms is faster than several terms at once."""

AWAY = 1 + 2.0**-30
"""The factor that moves a weight in float64: a product with it is exact."""

LEVELS = np.append(2.0 ** np.arange(-2, -14, -1, dtype=np.float32), np.float32(0))
"""For the exponents of weights from -14 to -3, and all greater ones: the size below which an input is dropped.

An input is dropped with the exponent -17 - e or less for a weight with the exponent e. A subnormal number has the
exponent -14.
"""


def engine_sums(rows: Array, columns: Array, starts: Array) -> Array:
    """Return the sums of products of rows [M, K] and columns [K, N] after their starts [M, N], as fp16."""
    weights, inputs, start = numbers(rows), numbers(columns), numbers(starts)
    terms = _Terms(weights.T, inputs)
    total = start.astype(np.float64) * AWAY + OFFSET  # a bias is rounded as a product is
    if not _never_overflows(weights, inputs, start):
        total = terms.added_with_overflow(total)
    elif total.size >= WORTH_LOOPING and np.mean(terms.bounds) < SMALL_LIMIT / 8:
        total = terms.added_in_parts(total)
    else:
        total = terms.added(total)
    return rounded_away(total - OFFSET)


engine_products = partial(products, engine_sums)
"""Products of matrices as the Neural Engine computes them."""


def _never_overflows(weights: Array, inputs: Array, start: Array) -> bool:
    """Return whether the sums of all sizes are below the limit, so that no order of terms can reach it.

    A product grows by half a step where it is rounded, and the sums of float32 have a relative error below K 2^-23.
    """
    terms = weights.shape[1]
    sizes = np.abs(weights) @ np.abs(inputs) + np.abs(start)
    return bool(np.all(sizes * (1 + (terms + 2) * 2.0**-23) + (terms + 1) * STEP < LIMIT))


class _Terms:
    """The terms of sums, for weights [K, M] and inputs [K, N] in float32; `bounds` has the greatest size for each k."""

    def __init__(self, weights: Array, inputs: Array) -> None:
        self.weights, self.inputs = np.ascontiguousarray(weights), inputs
        sizes = np.abs(inputs)
        self.bounds = np.abs(weights).max(axis=1, initial=0) * sizes.max(axis=1, initial=0)
        self.levels = _levels(self.weights)
        self.rows = np.arange(weights.shape[1])
        self.first = self.levels.min(axis=1, initial=len(LEVELS) - 1)
        least = np.min(sizes, axis=1, where=sizes > 0, initial=np.inf)
        self.last = np.count_nonzero(least[:, None] < LEVELS, axis=1)

    def added_in_parts(self, total: Array) -> Array:
        """Return the total with all terms, added in float32; no sum may overflow."""
        moved = (self.weights.view(np.int32) + (self.weights != 0)).view(np.float32)
        part, term = np.full(total.shape, SMALL_OFFSET, np.float32), np.empty(total.shape, np.float32)
        exact, size = np.multiply(self.weights, AWAY, dtype=np.float64), 0.0
        for place, bound in enumerate((self.bounds + 2 * STEP).tolist()):
            if bound >= SMALL_LIMIT:
                total += self._multiply(place, exact, term.astype(np.float64))
                continue
            size += bound
            if size >= SMALL_LIMIT:
                total += part - np.float32(SMALL_OFFSET)
                part[...], size = SMALL_OFFSET, bound
            part += self._multiply(place, moved, term)
        total += part - np.float32(SMALL_OFFSET)
        return total

    def added(self, total: Array) -> Array:
        """Return the total with all terms; no sum may overflow."""
        for chunk in self._chunks(total):
            total = total + chunk[0] if len(chunk) == 1 else _accumulated(total, chunk)[-1].copy()
        return total

    def added_with_overflow(self, total: Array) -> Array:
        """Return the total with all terms in their order; a sum out of range becomes infinite, and stays so."""
        _saturate(total)
        for chunk in self._chunks(total):
            if len(chunk) == 1:
                total = total + chunk[0]
                _saturate(total)
                continue
            sums = _accumulated(total, chunk)
            beyond = np.abs(sums - OFFSET) >= LIMIT
            found = np.take_along_axis(sums, beyond.argmax(axis=0)[None], axis=0)[0]
            total = np.where(beyond.any(axis=0), np.copysign(np.inf, found - OFFSET), sums[-1])
        return total

    def _chunks(self, total: Array) -> Iterator[Array]:
        """Yield the terms of some k at a time, [k, M, N], in float64."""
        moved = np.multiply(self.weights, AWAY, dtype=np.float64)
        inputs = self.inputs.astype(np.float64)
        step = 1 if total.size >= WORTH_LOOPING else AT_ONCE // max(1, total.size)
        made = np.empty((step, *total.shape))
        for first in range(0, len(inputs), step):
            if step == 1:
                yield self._multiply(first, moved, made[0])[None]
                continue
            part = slice(first, first + step)
            chunk = made[: len(inputs) - first]
            np.multiply(moved[part, :, None], inputs[part, None, :], out=chunk)
            if np.any(self.first[part] < self.last[part]):
                chunk[np.abs(inputs[part, None, :]) < LEVELS[self.levels[part]][..., None]] = 0
            yield chunk

    def _multiply(self, place: int, moved: Array, out: Array) -> Array:
        """Return the products for one k, without the dropped ones, in `out`."""
        inputs, first, last = self.inputs[place], self.first[place], self.last[place]
        if first >= last:
            multiply_chosen(moved[place][:, None], inputs[None].astype(out.dtype, copy=False), out)
            return out
        kept = np.empty((last - first + 1, len(inputs)), out.dtype)  # for each level below `last`, and for all others
        kept[:] = inputs
        kept[:-1][np.abs(inputs) < LEVELS[first:last, None]] = 0
        chosen = np.zeros((len(out), len(kept)), out.dtype)
        level = np.minimum(self.levels[place], last) - first
        chosen[self.rows, level] = moved[place]
        multiply_chosen(chosen, kept, out)
        return out


def _accumulated(total: Array, terms: Array) -> Array:
    """Return the totals after each term; `terms` is written to."""
    terms[0] += total
    made: Array = np.add.accumulate(terms, axis=0, out=terms)
    return made


def _saturate(total: Array) -> None:
    """Make sums out of range infinite."""
    if total.max(initial=0) >= OFFSET + LIMIT or total.min(initial=OFFSET) <= OFFSET - LIMIT:
        total[total >= OFFSET + LIMIT] = np.inf
        total[total <= OFFSET - LIMIT] = -np.inf


def _levels(weights: Array) -> Array:
    """Return for each weight the place in LEVELS; a weight of 0 drops nothing but zeros."""
    exponents = np.frexp(weights)[1].astype(np.intp) - 1
    return np.where(weights == 0, len(LEVELS) - 1, np.clip(exponents + 14, 0, len(LEVELS) - 1))
