"""Distance of a value from its reference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried
    from miltext.evaluation.rules import Array

PIECE = 1 << 13
"""Number of elements compared at once, so that their intermediate values stay in the processor's cache.

OpenBLAS computes dot products of more than 10,000 elements in threads, whose start takes longer than the product.
"""

SATURATED, APART = 1000.0, 4.0
"""The least number that can stand for infinity, as in a mask, and the factor by which all other numbers are smaller."""

SPREAD = 8.0
"""Greatest ratio between the largest and the least of the numbers that stand for infinity."""

REAL = "biuf"
"""The kinds of numpy's types with numeric differences."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The distance of a value from its reference, both of `count` elements.

    `equal` is the share of equal elements: NaN equals NaN. The other measures are for floats. `snr` is the
    signal-to-noise ratio in dB, ten times the decimal logarithm of the sum of the reference's squares by the sum of the
    differences' squares: infinite for equal values, `-inf` for a zero reference of a nonzero value. `maximum` is the
    largest difference, `cosine` the cosine of the angle between the two. A NaN or infinity on one side only makes
    `maximum` infinite and `snr` `-inf`; `cosine` leaves it out. `nans` and `infinities` are the counts in the reference
    and the other, `vanished` the number of zeros in the other alone.

    `saturated` is the number of elements that stand for infinity on both sides, as after adding a mask of -1e4: the
    energy of few such elements would hide the loss of the others, so `snr` is the lower of two ratios, over all
    elements and over the others alone.

    `misfit` is the reason why nothing can be measured, such as different shapes; empty otherwise.
    """

    count: int = 0
    equal: float = 0.0
    snr: float | None = None
    maximum: float | None = None
    cosine: float | None = None
    nans: tuple[int, int] = (0, 0)
    infinities: tuple[int, int] = (0, 0)
    vanished: int = 0
    saturated: int = 0
    misfit: str = ""

    @property
    def level(self) -> float:
        """The ratio in dB; for values without a ratio, infinite if all elements are equal, else `-inf`."""
        if self.snr is not None:
            return self.snr
        return math.inf if self.equal == 1 and not self.misfit else -math.inf


def measure(reference: Carried, other: Carried) -> Measure:
    """Return the distance of a value from its reference: tensors, lists of tensors, or dictionaries by key."""
    if isinstance(reference, Mapping) and isinstance(other, Mapping):
        return _measure_dictionaries(reference, other)
    if isinstance(reference, list) and isinstance(other, list):
        return _measure_lists(reference, other)
    if isinstance(reference, (Mapping, list)) or isinstance(other, (Mapping, list)):
        return Measure(misfit=f"{_kind(reference)} against {_kind(other)}")
    a, b = np.asarray(reference), np.asarray(other)
    if a.shape != b.shape:
        return Measure(misfit=f"shape {list(a.shape)} against {list(b.shape)}")
    if a.dtype.kind != "f" and b.dtype.kind != "f":
        return _alike(a, b)
    if a.dtype.kind in REAL and b.dtype.kind in REAL:
        return _measure_floats([(a, b)])
    return Measure(misfit=f"numbers of the type {a.dtype} against {b.dtype}")


def _kind(value: Carried) -> str:
    return "a dictionary" if isinstance(value, Mapping) else "a list" if isinstance(value, list) else "a tensor"


def _alike(a: Array, b: Array) -> Measure:
    """Compare values without distances: integers, truth values, strings."""
    same = int(np.count_nonzero(a == b))
    return Measure(a.size, same / a.size if a.size else 1.0)


def _measure_dictionaries(reference: Mapping[Carried, Carried], other: Mapping[Carried, Carried]) -> Measure:
    if reference.keys() != other.keys():
        lost, new = len(reference.keys() - other.keys()), len(other.keys() - reference.keys())
        return Measure(misfit=f"other keys: {lost} only in the reference, {new} only here")
    a, b = (np.array([each[key] for key in reference]) for each in (reference, other))
    return measure(a, b)


def _measure_lists(reference: list[Carried], other: list[Carried]) -> Measure:
    if len(reference) != len(other):
        return Measure(misfit=f"{len(reference)} elements against {len(other)}")
    for place, (a, b) in enumerate(zip(reference, other, strict=True)):
        if (a is None) != (b is None):
            return Measure(misfit=f"only one has an element at {place}")
        if np.shape(a) != np.shape(b):
            return Measure(misfit=f"shape {list(np.shape(a))} against {list(np.shape(b))} at {place}")
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(reference, other, strict=True) if a is not None]
    if any(array.dtype.kind == "f" for pair in pairs for array in pair):
        return _measure_floats(pairs)
    count, same = sum(a.size for a, _ in pairs), sum(int(np.count_nonzero(a == b)) for a, b in pairs)
    return Measure(count, same / count if count else 1.0)


# ---- floats


class _Sums:
    """Sums over pieces: squares and products of the finite elements, the largest difference, and counts."""

    def __init__(self) -> None:
        self.count = self.same = self.vanished = 0
        self.squares, self.other_squares, self.products, self.noise, self.maximum = 0.0, 0.0, 0.0, 0.0, 0.0
        self.peak = 0.0
        self.nans, self.infinities = [0, 0], [0, 0]

    def add(self, a: Array, b: Array) -> None:
        self.count += a.size
        self.vanished += int(np.count_nonzero((b == 0) & (a != 0)))
        same = a == b
        apart, are_finite = distances(a, b, same)
        if not are_finite:
            a, b, same = self._without_oddities(a, b, same)
        self.same += int(np.count_nonzero(same))
        self.squares += float(np.dot(a, a))
        self.other_squares += float(np.dot(b, b))
        self.products += float(np.dot(a, b))
        self.noise += float(np.dot(apart, apart))
        self.maximum = max(self.maximum, float(apart.max()))
        self.peak = max(self.peak, float(a.max()), -float(a.min()))

    def _without_oddities(self, a: Array, b: Array, same: Array) -> tuple[Array, Array, Array]:
        """Count NaNs and infinities, and return the arrays with 0 in their place, and the mask of equal elements."""
        for place, array in enumerate((a, b)):
            self.nans[place] += int(np.count_nonzero(np.isnan(array)))
            self.infinities[place] += int(np.count_nonzero(np.isinf(array)))
        finite = np.isfinite(a) & np.isfinite(b)
        return np.where(finite, a, 0.0), np.where(finite, b, 0.0), same | (np.isnan(a) & np.isnan(b))

    def measure(self, saturated: int = 0, snr: float = math.inf) -> Measure:
        """Return the measure of the sums; `snr` is the ratio without so many saturated elements."""
        equal = self.same / self.count if self.count else 1.0
        nans, infinities = (self.nans[0], self.nans[1]), (self.infinities[0], self.infinities[1])
        snr = min(snr, decibel(self.squares, self.noise))
        cosine, vanished = self._cosine(), self.vanished
        return Measure(self.count, equal, snr, self.maximum, cosine, nans, infinities, vanished, saturated)

    @property
    def may_hide(self) -> bool:
        """Whether there are differences that large numbers may hide."""
        return self.peak >= SATURATED and 0 < self.noise < math.inf

    def _cosine(self) -> float | None:
        """Return the cosine of the angle between the two; None if either is zero."""
        lengths = math.sqrt(self.squares) * math.sqrt(self.other_squares)
        if not math.isfinite(lengths) or not lengths:
            return None
        return max(-1.0, min(1.0, self.products / lengths))


@np.errstate(all="ignore")
def _measure_floats(pairs: list[tuple[Array, Array]]) -> Measure:
    sums = _Sums()
    for piece, other in _both(pairs):
        sums.add(piece, other)
    return sums.measure(*_without_saturated(pairs, sums.peak)) if sums.may_hide else sums.measure()


def _without_saturated(pairs: list[tuple[Array, Array]], peak: float) -> tuple[int, float]:
    """Return the number of elements saturated on both sides, and the ratio in dB without them, infinite if there are
    none.

    Saturated elements are far larger than all others on both sides.
    """
    least, others = max(SATURATED, peak / SPREAD), _Sums()
    count = 0
    for a, b in _both(pairs):
        sizes = np.abs(a), np.abs(b)
        large = np.minimum(*sizes) >= least
        rest = ~large
        if not (np.maximum(*sizes)[rest & np.isfinite(a) & np.isfinite(b)] <= least / APART).all():
            return 0, math.inf
        count += int(np.count_nonzero(large & (sizes[0] < np.inf)))
        if rest.any():
            others.add(a[rest], b[rest])
    return (count, decibel(others.squares, others.noise)) if count else (0, math.inf)


def _both(pairs: list[tuple[Array, Array]]) -> Iterator[tuple[Array, Array]]:
    """Yield the elements of both in pieces."""
    for a, b in pairs:
        yield from zip(_pieces(a), _pieces(b), strict=True)


def _pieces(array: Array) -> Iterator[Array]:
    """Yield the elements in order as flat arrays of float64."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, PIECE):
        yield flat[start : start + PIECE].astype(np.float64)


def distances(a: Array, b: Array, same: Array) -> tuple[Array, bool]:
    """Return the absolute differences, infinite where one side is not finite, and 0 for the `same` and from NaN to NaN;
    and whether all are differences of finite numbers.
    """
    apart: Array = np.abs(a - b)
    if np.isfinite(apart).all():
        return apart, True
    apart[np.isnan(apart)] = np.inf
    apart[same | (np.isnan(a) & np.isnan(b))] = 0
    return apart, False


def decibel(signal: float, noise: float) -> float:
    """Return the ratio in dB of two sums of squares."""
    if noise == 0:
        return math.inf
    if signal == 0 or math.isinf(noise):
        return -math.inf
    return 10 * math.log10(signal / noise)
