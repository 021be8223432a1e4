"""The fast way to convolve each channel of an image by kernels of its own."""

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
"""How many rows of outputs one product makes: with more, it multiplies more zeros than it saves products."""

LAID_ELEMENTS = 1 << 20
"""How many elements are laid out at once: each is read a few times only, and more of them make longer products."""

FLOATS = (np.float32, np.float64)
"""The types that BLAS multiplies."""


def has_rows(x: Held, weight: Array) -> bool:
    """Return whether `by_rows` has a way for tensors: images, in floats that BLAS multiplies."""
    return x.ndim == 4 and np.result_type(x, weight) in FLOATS


def by_rows(x: Held, weight: Array, bias: Array | None, windows: Sequence[Sliding], out: Held) -> bool:
    """Convolve each channel of images by kernels of its own into `out`, and return whether the result is complete.

    A product makes ROWS rows of outputs. One matrix has the kernel for each of these rows, each time farther on; the
    other has the rows in sight, each as often as a kernel is wide, as its elements meet it. The first has zeros
    elsewhere, which make NaN of infinities and NaNs: where there are any, `out` has to be made in another way.
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
    """Return an array of a shape, whose elements mean nothing: `held` if it fits, or a new one."""
    return held if held.shape == shape else np.empty(shape, held.dtype)


def _lay(x: Held, down: Sliding, across: Sliding, laid: Array) -> None:
    """Lay out the rows that windows see, from the first one on, as each element of a row of the kernel meets them.

    Rows are copied as single items of so many bytes where their elements lie side by side.
    """
    rows = down._replace(kernel=1, stride=1, dilation=1, places=laid.shape[2])
    found = seen(x, (rows, across), (slice(0, rows.places), slice(0, across.places)), laid.dtype)
    found = found[:, :, 0].swapaxes(2, 3)
    if found.strides[-1] == laid.itemsize:
        whole = np.dtype((np.void, laid.itemsize * across.places))
        laid, found = laid.view(whole), found.view(whole)
    laid[...] = found


def _multiply(kernels: Array, down: Sliding, laid: Array, sums: Array) -> None:
    """Make all rows of outputs, ROWS of them at once, and the remaining rows."""
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
    """Return the kernels as matrices, [channels, several, 1, count, elements]: in each row a stride farther on."""
    channels, several, rows, columns = kernels.shape
    span = (count - 1) * down.stride + down.reach
    made = np.zeros((channels, several, 1, count, span, columns), dtype)
    *outer, _, output, row, column = made.strides
    steps = (*outer, output + row * down.stride, row * down.dilation, column)
    places: Array = np.ndarray((channels, several, count, rows, columns), dtype, made.data, 0, steps)
    places[...] = kernels[:, :, None]
    return made.reshape(channels, several, 1, count, span * columns)
