"""Fast depthwise convolution of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from miltext.evaluation.operations.windows import Sliding, blocks, seen
from miltext.evaluation.values import narrowed, widened

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array, Held, Index

ROWS = 4
"""The number of output rows per product: with more rows, the added zeros cost more than the saved products."""

LAID_ELEMENTS = 1 << 20
"""The number of elements laid out at once: each is read only a few times, and more elements make longer products."""

FLOATS = (np.float32, np.float64)
"""The types that BLAS multiplies."""


def has_rows(x: Held, weight: Array) -> bool:
    """Return whether `by_rows` supports these tensors: images, in floats that BLAS multiplies."""
    return x.ndim == 4 and np.result_type(x, weight) in FLOATS


def by_rows(x: Held, weight: Array, bias: Array | None, windows: Sequence[Sliding], out: Held) -> bool:
    """Convolve each channel of images by kernels of its own into `out`, and return whether the result is complete.

    A product computes ROWS rows of outputs. One matrix contains the kernel for each of these rows, shifted by a stride;
    the other contains the input rows, repeated for each column of the kernel. The zeros in the first turn infinities
    and NaNs into NaN: with any of these, the result is not complete.
    """
    down, across = windows
    dtype, groups = np.result_type(x, weight), x.shape[1]
    several = weight.shape[0] // groups
    kernels = weight.reshape(groups, several, down.kernel, across.kernel)
    target = out.reshape(x.shape[0], groups, several, down.places, across.places)
    offset = None if bias is None else bias.reshape(groups, several, 1, 1)
    is_direct = out.dtype == dtype and out.strides[-1] == out.itemsize
    row = across.kernel * across.places * down.stride
    laid, sums = np.empty(0, dtype), np.empty(0, dtype)
    for batch, channels, rows in blocks((*x.shape[:2], down.places), LAID_ELEMENTS // row):
        part, here = widened(x[batch, channels]), down.among(rows)
        laid = _room(
            laid, (*part.shape[:2], (here.places - 1) * down.stride + down.reach, across.kernel, across.places)
        )
        place: Index = (batch, channels, slice(None), rows)
        sums = target[place] if is_direct else _room(sums, (*part.shape[:2], several, here.places, across.places))
        _lay(part, here, across, laid)
        _multiply(kernels[channels], here, laid, sums)
        if not np.isfinite(np.add.reduce(sums, axis=None)):
            return False
        if offset is not None:
            sums += offset[channels]
        if not is_direct:
            target[place] = narrowed(sums) if out.dtype == np.float16 else sums
    return True


def _room(held: Array, shape: tuple[int, ...]) -> Array:
    """Return an uninitialized array of a shape: `held` if possible, or a new one."""
    return held if held.shape == shape else np.empty(shape, held.dtype)


def _lay(x: Held, down: Sliding, across: Sliding, laid: Array) -> None:
    """Lay out the rows of windows, once for each element of a row of the kernel.

    Rows of adjacent elements are copied as single items.
    """
    rows = down._replace(kernel=1, stride=1, dilation=1, places=laid.shape[2])
    found = seen(x, (rows, across), (slice(0, rows.places), slice(0, across.places)), laid.dtype)
    found = found[:, :, 0].swapaxes(2, 3)
    if found.strides[-1] == laid.itemsize:
        whole = np.dtype((np.void, laid.itemsize * across.places))
        laid, found = laid.view(whole), found.view(whole)
    laid[...] = found


def _multiply(kernels: Array, down: Sliding, laid: Array, sums: Array) -> None:
    """Compute all rows of outputs, ROWS at a time, and the remaining rows."""
    whole = down.places - down.places % ROWS
    for first, stop, count in ((0, whole, ROWS), (whole, down.places, down.places - whole)):
        if first == stop:
            continue
        matrix, span = _spread(kernels, down, count, laid.dtype), (count - 1) * down.stride + down.reach
        batch, channel, row, _, _ = laid.strides
        elements, width = span * laid.shape[3], laid.shape[4]
        shape = (*laid.shape[:2], 1, (stop - first) // count, elements, width)
        steps = (batch, channel, 0, row * count * down.stride, *laid.strides[3:])
        seen: Array = np.ndarray(shape, laid.dtype, laid.data, first * down.stride * row, steps)
        made = sums[:, :, :, first:stop].reshape(*sums.shape[:3], (stop - first) // count, count, width)
        np.matmul(matrix, seen, out=made)


def _spread(kernels: Array, down: Sliding, count: int, dtype: npt.DTypeLike) -> Array:
    """Return the kernels as matrices, [channels, several, 1, count, elements]: each row is shifted by a further
    stride.
    """
    channels, several, rows, columns = kernels.shape
    span = (count - 1) * down.stride + down.reach
    made = np.zeros((channels, several, 1, count, span, columns), dtype)
    *outer, _, output, row, column = made.strides
    steps = (*outer, output + row * down.stride, row * down.dilation, column)
    places: Array = np.ndarray((channels, several, count, rows, columns), dtype, made.data, 0, steps)
    places[...] = kernels[:, :, None]
    return made.reshape(channels, several, 1, count, span * columns)
