"""The distance between two tensors, for any storage of their elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from miltext.diffing.structure import TensorDistance
from miltext.evaluation.comparing.measures import decibel, distances
from miltext.schema.dtypes import packed_size
from miltext.schema.packing import Array, decode
from miltext.schema.tensors import Computed

if TYPE_CHECKING:
    from miltext.files.writing import Progress
    from miltext.schema.dtypes import DType
    from miltext.schema.tensors import Tensor

_PIECE = 1 << 16
"""The number of elements compared at once, so that intermediate arrays stay in the processor's cache."""


Distances: TypeAlias = Callable[[Array, Array], Array]
"""A function that returns the distances of numbers, element by element."""


def measure(old: Tensor, new: Tensor, progress: Progress | None = None) -> TensorDistance | None:
    """Return the distance between two tensors; None if their numbers of elements differ or are 0.

    Stored elements of one type are equal if their bits are; others if their values are, or both are NaN. `progress`
    gets the number of bytes of each piece of the new one.
    """
    if old.count != new.count or not old.count:
        return None
    sums = _DistanceSums()
    by_bits = old.dtype == new.dtype and not any(isinstance(each, Computed) for each in (old, new))
    for chunk, other in zip(old.chunks(), new.chunks(), strict=True):
        for start in range(0, len(chunk), _PIECE):
            piece = slice(start, start + _PIECE)
            sums.add(chunk[piece], old.dtype, other[piece], new.dtype, by_bits=by_bits)
        if progress:
            progress(packed_size(len(other), new.dtype.bits))
    if "bool" in (old.dtype.kind, new.dtype.kind):
        return TensorDistance(old.count, sums.changed)
    return sums.measure(old.count)


class _DistanceSums:
    def __init__(self) -> None:
        self.changed = 0
        self.maximum = self.total = self.signal = self.noise = 0.0

    def measure(self, count: int) -> TensorDistance:
        """Return the measure of a number of elements."""
        return TensorDistance(count, self.changed, self.maximum, self.total / count, decibel(self.signal, self.noise))

    @np.errstate(all="ignore")
    def add(self, old: Array, dtype: DType, new: Array, other: DType, *, by_bits: bool) -> None:
        """Add elements as `unpack` gives them."""
        values, others = decode(old, dtype), decode(new, other)
        if not by_bits:
            self.add_values(values, others)
            return
        exact = dtype.field == "longInts"
        self._add(values, others, _bits(old) != _bits(new), _exact_distances if exact else None)

    @np.errstate(all="ignore")
    def add_values(self, values: Array, others: Array) -> None:
        """Add numbers, which count as the same if they are equal or both NaN."""
        wide, other_wide = values.astype(np.float64), others.astype(np.float64)
        self._add(wide, other_wide, (wide != other_wide) & ~(np.isnan(wide) & np.isnan(other_wide)), None)

    def _add(self, values: Array, others: Array, unlike: Array, exactly: Distances | None) -> None:
        wide, other_wide = values.astype(np.float64, copy=False), others.astype(np.float64, copy=False)
        self.signal += _sum_of_squares(wide)
        self.changed += (changed := int(np.count_nonzero(unlike)))
        if changed:
            apart = exactly(values, others) if exactly else distances(wide, other_wide, ~unlike)[0]
            self.maximum = max(self.maximum, float(apart.max()))
            self.total += float(apart.sum())
            self.noise += float(np.einsum("i,i", apart, apart))


def _sum_of_squares(values: Array) -> float:
    """Return the sum of the squares of the finite values."""
    total = float(np.einsum("i,i", values, values))
    if not math.isfinite(total):
        finite = values[np.isfinite(values)]
        total = float(np.einsum("i,i", finite, finite))
    return total


def _bits(array: Array) -> Array:
    return array.view(f"u{array.itemsize}") if array.dtype.kind == "f" else array


def _exact_distances(old: Array, new: Array) -> Array:
    """Return the absolute differences of 64-bit integers: the greater minus the lesser, modulo 2**64."""
    apart = np.maximum(old, new).astype(np.uint64) - np.minimum(old, new).astype(np.uint64)
    return apart.astype(np.float64)
