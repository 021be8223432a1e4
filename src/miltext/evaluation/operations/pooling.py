"""Rules for pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from miltext.evaluation.operations.windows import Sliding, parts, sliding, tap
from miltext.evaluation.rules import Array, Held, Ints, Widen, rule


@rule("max_pool")
def max_pool(
    x: Held, kernel_sizes: Ints, strides: Ints | None, pad_type: str, pad: Ints | None, ceil_mode: bool, widen: Widen
) -> Held:
    """Return the greatest element of each window, without the padding."""
    windows = sliding(x.shape[2:], kernel_sizes, strides, None, pad_type, pad, ceil=ceil_mode)
    return _by_parts(x, windows, lambda part: pooled(np.maximum, widen(part), windows))


@rule("avg_pool")
def avg_pool(
    x: Held,
    kernel_sizes: Ints,
    strides: Ints | None,
    pad_type: str,
    pad: Ints | None,
    exclude_padding_from_average: bool,
    ceil_mode: bool,
    widen: Widen,
) -> Held:
    """Return the mean of each window; padding counts as zeros unless it is excluded.

    Elements of a window past the padding, where the number of windows is rounded up, never count, as in torch.
    """
    windows = sliding(x.shape[2:], kernel_sizes, strides, None, pad_type, pad, ceil=ceil_mode)
    counts = reduce(np.multiply.outer, [_counted(each, padding=not exclude_padding_from_average) for each in windows])

    def mean(part: Held) -> Array:
        sums = pooled(np.add, widen(part), windows)
        return sums / counts.astype(sums.dtype)

    return _by_parts(x, windows, mean)


@rule("l2_pool")
def l2_pool(
    x: Held, kernel_sizes: Ints, strides: Ints | None, pad_type: str, pad: Ints | None, ceil_mode: bool, widen: Widen
) -> Held:
    """Return the square root of the sum of squares of each window."""
    windows = sliding(x.shape[2:], kernel_sizes, strides, None, pad_type, pad, ceil=ceil_mode)
    return _by_parts(x, windows, lambda part: np.sqrt(pooled(np.add, np.square(widen(part)), windows)))


def _by_parts(x: Held, windows: Sequence[Sliding], pool: Callable[[Held], Array]) -> Held:
    """Pool a part of the pictures and channels at a time."""
    made = np.empty((*x.shape[:2], *(each.places for each in windows)), x.dtype)
    for part in parts(x, 2):
        made[part] = pool(x[part])
    return made


def pooled(combine: np.ufunc, x: Array, windows: Sequence[Sliding]) -> Array:
    """Combine the elements of each window of the last axes, axis by axis, one place of a kernel at a time.

    Places outside of `x` are ignored: a window without other places is the least number for `maximum`, 0 for `add`.
    """
    nothing = -np.inf if combine is np.maximum else 0
    for axis, window in enumerate(windows, x.ndim - len(windows)):
        made = np.full((*x.shape[:axis], window.places, *x.shape[axis + 1 :]), nothing, x.dtype)
        for place in range(window.kernel):
            to, of = ((*(slice(None),) * axis, part) for part in tap(window, place))
            combine(made[to], x[of], out=made[to])
        x = made
    return x


def _counted(window: Sliding, *, padding: bool) -> Array:
    """Return the number of elements of each window along an axis, with or without the padding."""
    starts = np.arange(window.places) * window.stride - window.before
    first, end = (-window.before, window.whole - window.before) if padding else (0, window.size)
    counts: Array = np.maximum(0, np.minimum(starts + window.kernel, end) - np.maximum(starts, first))
    return counts
