"""Windows that slide along axes: their places, their elements, and blocks of places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array, Held, Index, Ints

WORKING_ELEMENTS = 1 << 19
"""The number of temporary elements in a block of work: 2 MB of fp32, the size of a core's own cache."""

PART_ELEMENTS = 1 << 17
"""The number of elements processed at once if several arrays of that size are computed from them."""


class Sliding(NamedTuple):
    """A window along an axis of a `size`, with a number of `places`; the first is `before` elements ahead of the axis.

    It contains `kernel` elements at the distance `dilation`, and moves by `stride`. `whole` is the size with the
    padding on both sides; windows may reach past it where sizes are rounded up.
    """

    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    places: int
    whole: int

    @property
    def reach(self) -> int:
        """The number of elements from the first to the last element of the window."""
        return (self.kernel - 1) * self.dilation + 1

    def among(self, places: slice) -> Sliding:
        """Return the windows at some of the places."""
        before, count = self.before - places.start * self.stride, places.stop - places.start
        return self._replace(before=before, places=count)


def sliding(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Ints | None,
    dilations: Ints | None,
    pad_type: str,
    pad: Ints | None,
    *,
    ceil: bool = False,
) -> list[Sliding]:
    """Return the windows of a convolution or a pooling along each spatial axis."""
    ones = (1,) * len(sizes)
    pads = pad if pad is not None and pad_type.lower() == "custom" else (0, 0) * len(sizes)
    pairs = zip(pads[::2], pads[1::2], strict=True)
    columns = zip(sizes, kernel, strides or ones, dilations or ones, pairs, strict=True)
    return [_along(*column, pad_type.lower(), ceil) for column in columns]


def _along(
    size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], pad_type: str, ceil: bool
) -> Sliding:
    """Return the windows along one axis.

    "same" makes ceil(size / stride) of them; if the padding is odd, "same" has more after the axis, and "same_lower"
    before it (coremltools, ops/defs/_utils.py, aggregated_pad; torch's `ceil_mode` for the rest).
    """
    reach = (kernel - 1) * dilation + 1
    if pad_type in ("same", "same_lower"):
        count = -(-size // stride)
        padding = max(0, (count - 1) * stride + reach - size)
        before = padding // 2 if pad_type == "same" else padding - padding // 2
        return Sliding(size, kernel, stride, dilation, before, count, size + padding)
    before, whole = pads[0], size + sum(pads)
    count = (whole - reach + (stride - 1 if ceil else 0)) // stride + 1
    if ceil and whole > size and (count - 1) * stride >= size + before:
        count -= 1
    return Sliding(size, kernel, stride, dilation, before, max(count, 0), whole)


def tap(window: Sliding, place: int) -> tuple[slice, slice]:
    """Return the windows with an element of the axis at a place of the kernel, and the range of these elements."""
    offset = place * window.dilation - window.before
    first = max(0, -(offset // window.stride))
    end = min(window.places, -((offset - window.size) // window.stride))
    start = first * window.stride + offset
    count = max(0, end - first)
    return slice(first, first + count), slice(start, start + count * window.stride, window.stride)


def seen(x: Array, windows: Sequence[Sliding], block: Sequence[slice], dtype: np.dtype[np.generic]) -> Array:
    """Return the elements of the last axes of `x` in a block of windows: [..., *kernel, *places], zeros outside of it.

    The result is a view: of `x` itself if its data type is `dtype` and windows are inside of it, else of a copy.
    """
    here = [each.among(part) for each, part in zip(windows, block, strict=True)]
    sizes = [(each.places - 1) * each.stride + each.reach for each in here]
    view = _part(x, [-each.before for each in here], sizes, dtype)
    steps = view.strides[-len(windows) :]
    kernel = [(each.kernel, step * each.dilation) for each, step in zip(here, steps, strict=True)]
    places = [(each.places, step * each.stride) for each, step in zip(here, steps, strict=True)]
    outer = x.ndim - len(windows)
    shape, strides = zip(*zip(view.shape[:outer], view.strides[:outer], strict=True), *kernel, *places, strict=True)
    made: Array = as_strided(view, shape, strides, writeable=False)
    return made


def _part(x: Array, starts: Sequence[int], sizes: Sequence[int], dtype: np.dtype[np.generic]) -> Array:
    """Return the part of the last axes of `x` with these starts and sizes, with zeros outside of `x`."""
    lengths = x.shape[-len(sizes) :]
    inside = [
        (max(0, start), max(0, start, min(start + size, length)))
        for start, size, length in zip(starts, sizes, lengths, strict=True)
    ]
    found: Index = (..., *(slice(*each) for each in inside))
    taken: Array = x[found]
    if taken.shape[-len(sizes) :] == tuple(sizes):
        return taken.astype(dtype, copy=False)
    part: Array = np.zeros((*x.shape[: -len(sizes)], *sizes), dtype)
    placed = zip(inside, starts, taken.shape[-len(sizes) :], strict=True)
    places: Index = (..., *(slice(first - start, first - start + count) for (first, _), start, count in placed))
    part[places] = taken
    return part


def every(
    x: Array, windows: Sequence[Sliding], firsts: Sequence[int], sizes: Sequence[int], dtype: np.dtype[np.generic]
) -> Array:
    """Return the elements of the last axes of `x` at the steps of windows, laid out flat, with zeros outside of it.

    Along each axis, the first is `firsts` elements from the begin of a window, and the count is in `sizes`.
    """
    starts = [first - each.before for first, each in zip(firsts, windows, strict=True)]
    spans = [(size - 1) * each.stride + 1 for size, each in zip(sizes, windows, strict=True)]
    steps: Index = (..., *(slice(None, None, each.stride) for each in windows))
    part = _part(x, starts, spans, x.dtype)[steps].astype(dtype, copy=False)
    return part.reshape(*x.shape[: -len(sizes)], prod(sizes))


def blocks(sizes: Sequence[int], most: int) -> Iterator[tuple[slice, ...]]:
    """Divide the places of a shape into blocks of limited size, at least one place: whole along the last axes, and
    equal.
    """
    if not sizes:
        yield ()
        return
    first, *rest = sizes
    inner = prod(rest)
    if inner <= most:
        for part in _even(first, max(1, most // max(1, inner))):
            yield (part, *map(slice, (0,) * len(rest), rest))
        return
    for place in range(first):
        for block in blocks(rest, most):
            yield (slice(place, place + 1), *block)


def parts(x: Held, kept: int) -> Iterator[tuple[slice, ...]]:
    """Yield the blocks of the first axes of a tensor, `kept` of them, so that parts of it stay in the cache."""
    return blocks(x.shape[:kept], PART_ELEMENTS // max(1, prod(x.shape[kept:])))


def _even(size: int, most: int) -> list[slice]:
    parts = -(-size // most)
    return [slice(size * part // parts, size * (part + 1) // parts) for part in range(parts)]
