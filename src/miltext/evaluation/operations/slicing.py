"""Rules that take or write parts of tensors."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from miltext.evaluation.rules import Bools, Held, Ints, UnfitValues, rule
from miltext.schema.types import show

Index: TypeAlias = "tuple[int | slice, ...]"


@rule("slice_by_index")
def slice_by_index(
    x: Held,
    begin: Ints,
    end: Ints,
    stride: Ints | None,
    begin_mask: Bools | None,
    end_mask: Bools | None,
    squeeze_mask: Bools | None,
) -> Held:
    """Return `x[begin:end:stride]` along each axis, as Python slices; masks omit bounds, or the dimension.

    Where `begin_mask` or `end_mask` is true, the slice reaches as far as `x` does; where `squeeze_mask` is true, the
    element at `begin` is taken, and the dimension is dropped.
    """
    return x[_index(x, begin, end, stride, begin_mask, end_mask, squeeze_mask)]


@rule("slice_update")
def slice_update(
    x: Held,
    update: Held,
    begin: Ints,
    end: Ints,
    stride: Ints | None,
    begin_mask: Bools | None,
    end_mask: Bools | None,
    squeeze_mask: Bools | None,
) -> Held:
    """Return `x` with `update` in place of the slice that `slice_by_index` takes."""
    index = _index(x, begin, end, stride, begin_mask, end_mask, squeeze_mask)
    if x[index].shape != update.shape:
        raise UnfitValues(f"`update` has the shape {show(update.shape)}, but the slice has {show(x[index].shape)}")
    updated = np.array(x)
    updated[index] = update
    return updated


def _index(
    x: Held,
    begin: Ints,
    end: Ints,
    stride: Ints | None,
    begin_mask: Bools | None,
    end_mask: Bools | None,
    squeeze_mask: Bools | None,
) -> Index:
    """Return the slice, or the place, that the bounds name along each axis."""
    no = (False,) * x.ndim
    bounds = zip(x.shape, begin, end, stride or (1,) * x.ndim, strict=True)
    masks = zip(begin_mask or no, end_mask or no, squeeze_mask or no, strict=True)
    columns = zip(bounds, masks, strict=True)
    return tuple(_place(axis, *bounds, *masks) for axis, (bounds, masks) in enumerate(columns))


def _place(
    axis: int, size: int, begin: int, end: int, stride: int, from_start: bool, to_end: bool, squeezed: bool
) -> int | slice:
    if not squeezed:
        return slice(None if from_start else begin, None if to_end else end, stride)
    place = 0 if from_start else begin
    if not -size <= place < size:
        raise UnfitValues(f"`begin` is {place} at axis {axis}, and `x` has {size} there")
    return place


@rule("slice_by_size")
def slice_by_size(x: Held, begin: Ints, size: Ints) -> Held:
    """Return `size` elements from `begin` on along each axis.

    A negative `begin` counts from the end, and a `size` of -1 is all the rest.
    """
    columns = enumerate(zip(x.shape, begin, size, strict=True))
    return x[tuple(_stretch(axis, *column) for axis, column in columns)]


def _stretch(axis: int, length: int, begin: int, size: int) -> slice:
    first = begin + length if begin < 0 else begin
    last = length if size == -1 else first + size
    if not 0 <= first <= last <= length:
        raise UnfitValues(f"`size` is {size} from `begin` {begin} on, and axis {axis} of `x` has {length}")
    return slice(first, last)
