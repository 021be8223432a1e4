"""Rules that reduce many numbers to one.

By default, `axes` are all axes. An empty list of axes reduces each element by itself, as in coremltools
(iOS15/reduction.py). The mean, root or logarithm of integers is computed in float64, and its fraction is dropped.
"""

from __future__ import annotations

from math import prod

import numpy as np

from miltext.evaluation.rules import Array, Ints, UnfitValues, rule

# ---- sums and products


@rule("reduce_sum")
def reduce_sum(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the sum along `axes`."""
    return np.sum(x, axis=axes, keepdims=keep_dims)


@rule("reduce_prod")
def reduce_prod(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the product along `axes`."""
    return np.prod(x, axis=axes, keepdims=keep_dims)


@rule("reduce_sum_square")
def reduce_sum_square(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the sum of x² along `axes`."""
    return np.sum(np.square(x), axis=axes, keepdims=keep_dims)


@rule("reduce_l1_norm")
def reduce_l1_norm(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the sum of |x| along `axes`."""
    return np.sum(np.abs(x), axis=axes, keepdims=keep_dims)


@rule("reduce_l2_norm")
def reduce_l2_norm(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the square root of the sum of x² along `axes`."""
    return np.sqrt(np.sum(np.square(_real(x)), axis=axes, keepdims=keep_dims))


@rule("reduce_mean")
def reduce_mean(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the sum along `axes`, divided by the number of elements; NaN of none."""
    count = _count(x, axes)
    if not count and x.dtype.kind != "f":
        raise UnfitValues("`x` has no elements along `axes`, and the mean of no integers is undefined")
    # as numpy's mean has it, which warns of no elements: fp16 is added up in float32
    dtype = np.float32 if x.dtype == np.float16 else None
    return np.divide(np.sum(x, axis=axes, keepdims=keep_dims, dtype=dtype), count)


@rule("reduce_log_sum")
def reduce_log_sum(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the natural logarithm of the sum along `axes`."""
    return np.log(np.sum(x, axis=axes, keepdims=keep_dims))


@rule("reduce_log_sum_exp")
def reduce_log_sum_exp(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return log(sum(e^x)) along `axes`, as m + log(sum(e^(x - m))) with m = max(x), so that no power overflows."""
    x = _real(x)
    greatest = np.max(x, axis=axes, keepdims=True, initial=-np.inf)
    greatest = np.where(np.isfinite(greatest), greatest, 0)
    powers = np.asarray(x - greatest)
    found = np.log(np.sum(np.exp(powers, out=powers), axis=axes, keepdims=True)) + greatest
    return found if keep_dims else np.squeeze(found, axis=axes)


# ---- the greatest and the least, and where they are


@rule("reduce_max")
def reduce_max(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the greatest along `axes`; NaN if any is NaN."""
    _refuse_none(_count(x, axes))
    return np.max(x, axis=axes, keepdims=keep_dims)


@rule("reduce_min")
def reduce_min(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the least along `axes`; NaN if any is NaN."""
    _refuse_none(_count(x, axes))
    return np.min(x, axis=axes, keepdims=keep_dims)


@rule("reduce_argmax")
def reduce_argmax(x: Array, axis: int, keep_dims: bool, output_dtype: str | None) -> Array:
    """Return the place of the greatest along `axis`, the first of several; NaN counts as the greatest."""
    _refuse_none(x.shape[axis])
    return _stated(np.argmax(x, axis=axis, keepdims=keep_dims), output_dtype)


@rule("reduce_argmin")
def reduce_argmin(x: Array, axis: int, keep_dims: bool, output_dtype: str | None) -> Array:
    """Return the place of the least along `axis`, the first of several; NaN counts as the least."""
    _refuse_none(x.shape[axis])
    return _stated(np.argmin(x, axis=axis, keepdims=keep_dims), output_dtype)


def _stated(places: Array, dtype: str | None) -> Array:
    """Return places after a check of the range of the declared data type, uint16 or int32."""
    last = int(np.max(places, initial=0))
    if last > 65535 and dtype and dtype.lower() == "uint16":
        raise UnfitValues(f"`output_dtype` is uint16, which ends at 65535, and there is a place {last}")
    return places


# ---- running sums


@rule("cumsum")
def cumsum(x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    """Return at each place the sum of x up to that place along `axis`. The sum excludes the element at the place if
    `exclusive`, and starts at the end if `reverse`.
    """
    along = np.moveaxis(x, axis, 0)[:: -1 if reverse else 1]
    sums = np.zeros_like(along)
    if exclusive:
        np.cumsum(along[:-1], axis=0, out=sums[1:])
    else:
        np.cumsum(along, axis=0, out=sums)
    return np.moveaxis(sums[:: -1 if reverse else 1], 0, axis)


def _real(x: Array) -> Array:
    """Return floats unchanged, and integers as float64, for powers and roots."""
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _count(x: Array, axes: Ints | None) -> int:
    """Return the number of elements combined along `axes`."""
    return x.size if axes is None else prod(x.shape[axis] for axis in axes)


def _refuse_none(count: int) -> None:
    if not count:
        raise UnfitValues("`x` has no elements along the axes, so there is no greatest or least element")
