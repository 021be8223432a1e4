"""Rules that give elements another shape or order."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np

from miltext.evaluation.rules import Held, Helds, Index, Ints, Made, OpsetText, UnfitValues, Value, rule
from miltext.schema.types import TensorType, compatible, show


@rule("identity")
def identity(x: Value) -> Value:
    """Return `x`, of any type."""
    return x


@rule("shape")
def shape(x: Held) -> Held:
    """Return the sizes of `x`, as int32."""
    return np.array(x.shape, np.int32)


@rule("reshape")
def reshape(x: Held, shape: Ints, opset: OpsetText) -> Held:
    """Return the elements of `x`, in their order, as `shape`.

    A 0 stands for the size of `x` at the same axis; since ios17 axes are counted from the last one for this, and where
    `x` has none a 0 is 1. A single -1 stands for the remaining size.
    """
    if 0 in shape:
        shape = _zeros_kept(x.shape, shape, from_back=opset.since("ios17"))
    if -1 in shape:
        shape = _rest_filled(x.size, shape)
    return _reshaped(x, shape, "shape")


def _zeros_kept(sizes: Ints, shape: Ints, *, from_back: bool) -> Ints:
    """Return a shape with the sizes of `x` in place of zeros."""
    if not from_back and len(sizes) != len(shape):
        raise UnfitValues(f"`shape` keeps sizes of `x` with 0, and must have {len(sizes)} numbers, not {len(shape)}")
    missing = max(0, len(shape) - len(sizes))
    olds = ((1,) * missing + sizes)[-len(shape) :]
    return tuple(size or old for size, old in zip(shape, olds, strict=True))


def _rest_filled(elements: int, shape: Ints) -> Ints:
    """Return a shape with the remaining size in place of its -1."""
    others = prod(size for size in shape if size != -1)
    if shape.count(-1) > 1 or others <= 0 or elements % others:
        raise UnfitValues(
            f"`shape` is {show(shape)}, and the {elements} elements of `x` leave no single size for its -1"
        )
    return tuple(elements // others if size == -1 else size for size in shape)


def _reshaped(x: Held, shape: Ints, name: str) -> Held:
    if min(shape, default=0) < 0 or prod(shape) != x.size:
        raise UnfitValues(f"`{name}` requests {show(shape)}, and `x`, {show(x.shape)}, has {x.size} elements")
    return x.reshape(shape)


@rule("reshape_like")
def reshape_like(x: Held, ref_tensors: Helds, begins: Helds, ends: Helds, end_masks: Helds) -> Held:
    """Return the elements of `x` in a shape composed of ranges of the shapes of `ref_tensors`: each from its `begins`
    to its `ends`, or to the last size if its `end_masks` is true.
    """
    columns = zip(ref_tensors, begins, ends, end_masks, strict=True)
    stretches = (like.shape[int(begin) : None if to_end else int(end)] for like, begin, end, to_end in columns)
    return _reshaped(x, tuple(size for stretch in stretches for size in stretch), "ref_tensors")


@rule("flatten2d")
def flatten2d(x: Held, axis: int) -> Held:
    """Return `x` as a matrix: the dimensions before `axis` are its rows, the others its columns."""
    return x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:]))


@rule("expand_dims")
def expand_dims(x: Held, axes: Ints) -> Held:
    """Return `x` with dimensions of one at the places `axes` of the result."""
    if len(axes) == 1 and 0 <= axes[0] <= x.ndim:  # as in loops over time, where numpy's function takes longer
        place: Index = (slice(None),) * axes[0] + (None,)
        return x[place]
    return np.expand_dims(x, axes)


@rule("squeeze")
def squeeze(x: Held, axes: Ints | None, made: Made) -> Held:
    """Return `x` without the axes of size one among `axes`, all of them by default.

    A dimension whose size was unknown when the op's type was declared stays, though it has a size of one now.
    """
    # coremltools' squeeze (ops/defs/iOS15) ignores axes of other sizes, and takes unknown sizes for such.
    named = range(x.ndim) if axes is None else {axis % x.ndim for axis in axes}
    ones = [axis for axis in named if x.shape[axis] == 1]
    [declared] = made
    if isinstance(declared, TensorType):
        for gone in combinations(ones, max(0, x.ndim - len(declared.shape))):
            squeezed = np.squeeze(x, gone)
            if compatible(declared.shape, squeezed.shape):
                return squeezed
    return np.squeeze(x, tuple(ones))


@rule("transpose")
def transpose(x: Held, perm: Ints) -> Held:
    """Return `x` with its dimensions in the order `perm`."""
    return np.transpose(x, perm)


@rule("tile")
def tile(x: Held, reps: Ints) -> Held:
    """Return `x` repeated `reps` times along each axis."""
    return np.tile(x, reps)


@rule("reverse")
def reverse(x: Held, axes: Ints | None) -> Held:
    """Return `x` backwards along `axes`, all of them by default."""
    return np.flip(x, axes)


@rule("reverse_sequence")
def reverse_sequence(x: Held, lengths: Ints, seq_axis: int, batch_axis: int) -> Held:
    """Return `x` where the first `lengths[b]` along `seq_axis` are backwards in row b along `batch_axis`."""
    time, batch = seq_axis % x.ndim, batch_axis % x.ndim
    if time == batch:
        raise UnfitValues(f"`seq_axis` and `batch_axis` are both {time}, and must be two")
    if len(lengths) != x.shape[batch] or not all(0 <= length <= x.shape[time] for length in lengths):
        raise UnfitValues(
            f"`lengths` must be {x.shape[batch]} numbers from 0 to {x.shape[time]}, the length of the sequence"
        )
    places = _along(np.arange(x.shape[time]), time, x.ndim)
    until = _along(np.array(lengths, int), batch, x.ndim)
    return np.take_along_axis(x, np.where(places < until, until - 1 - places, places), time)


def _along(vector: Held, axis: int, rank: int) -> Held:
    """Return a vector as a tensor of a rank, along an axis of it."""
    return vector.reshape([-1 if place == axis else 1 for place in range(rank)])


@rule("pad")
def pad(x: Held, pad: Ints, mode: str, constant_val: float) -> Held:
    """Return `x`, its last dimensions grown by their pairs in `pad`, before and after their elements.

    The padding is `constant_val`, or elements of `x`: mirrored at its border, which is not repeated (mode "reflect"),
    or its border (mode "replicate").
    """
    first = x.ndim - len(pad) // 2
    if len(pad) % 2 or first < 0 or min(pad, default=0) < 0:
        raise UnfitValues(f"`pad` is {show(pad)}, but must be two numbers from 0 on for each dimension that it pads")
    widths = [(0, 0)] * first + list(zip(pad[::2], pad[1::2], strict=True))
    if mode == "constant":
        return np.pad(x, widths, constant_values=constant_val)
    for axis, (size, width) in enumerate(zip(x.shape, widths, strict=True)):
        if max(width) > size - (mode == "reflect"):
            raise UnfitValues(f"`pad` is {max(width)} at axis {axis}, more than the {size} of `x` there can fill")
    return np.pad(x, widths, "reflect" if mode == "reflect" else "edge")


@rule("crop")
def crop(x: Held, crop_height: Held, crop_width: Held) -> Held:
    """Return `x` without its borders: `crop_height` is removed at the top and bottom, `crop_width` at the sides."""
    return _cropped(x, crop_height, crop_width)


def _cropped(x: Held, height: Held, width: Held) -> Held:
    """Return `x` without borders of its last two dimensions."""
    rows, columns = x.shape[-2:]
    (top, bottom), (left, right) = height.ravel().tolist(), width.ravel().tolist()
    return x[..., top : max(top, rows - bottom), left : max(left, columns - right)]


@rule("band_part")
def band_part(x: Held, lower: int, upper: int) -> Held:
    """Return `x`, zero outside a band of each matrix: `lower` diagonals below the main one, `upper` above it.

    A negative number stands for all of them.
    """
    if x.ndim < 2:
        raise UnfitValues(f"`x` is {show(x.shape)}, and has no matrices")
    rows, columns = x.shape[-2:]
    above = np.arange(columns) - np.arange(rows)[:, None]
    within = ((lower < 0) | (above >= -lower)) & ((upper < 0) | (above <= upper))
    return np.where(within, x, x.dtype.type(0))


@rule("sliding_windows")
def sliding_windows(x: Held, axis: int, size: int, stride: int) -> Held:
    """Return the windows of `size` along `axis`, `stride` apart: window w begins at w * stride.

    The windows are along `axis`, the elements of each along a further dimension after it.
    """
    place = axis % x.ndim
    windows = np.lib.stride_tricks.sliding_window_view(x, size, place)
    return np.moveaxis(windows[(slice(None),) * place + (slice(None, None, stride),)], -1, place + 1)


# ---- blocks moved between dimensions


@rule("depth_to_space")
def depth_to_space(x: Held, block_size: int) -> Held:
    """Return channels moved into squares of height and width, squares first among the channels.

    With b = `block_size` and C channels left, y[n, c, h*b + i, w*b + j] = x[n, (i*b + j)*C + c, h, w].
    """
    n, channels, h, w = x.shape
    b = block_size
    c = _share(channels, b * b, "the number of channels of `x`", "block_size")
    parts = x.reshape(n, b, b, c, h, w)
    return np.reshape(parts.transpose(0, 3, 4, 1, 5, 2), (n, c, h * b, w * b))


@rule("space_to_depth")
def space_to_depth(x: Held, block_size: int) -> Held:
    """Return squares of height and width moved into the channels, squares first among them.

    With b = `block_size` and C channels of `x`, y[n, (i*b + j)*C + c, h, w] = x[n, c, h*b + i, w*b + j].
    """
    squares = _squares(x, (block_size, block_size), "block_size")
    n, c, h, b, w, _ = squares.shape
    return np.reshape(squares.transpose(0, 3, 5, 1, 2, 4), (n, c * b * b, h, w))


@rule("pixel_shuffle")
def pixel_shuffle(x: Held, upscale_factor: int) -> Held:
    """Return channels moved into squares of height and width, squares last among the channels.

    With f = `upscale_factor`, y[n, c, h*f + i, w*f + j] = x[n, (c*f + i)*f + j, h, w].
    """
    n, channels, h, w = x.shape
    f = upscale_factor
    c = _share(channels, f * f, "the number of channels of `x`", "upscale_factor")
    parts = x.reshape(n, c, f, f, h, w)
    return np.reshape(parts.transpose(0, 1, 4, 2, 5, 3), (n, c, h * f, w * f))


@rule("pixel_unshuffle")
def pixel_unshuffle(x: Held, downscale_factor: int) -> Held:
    """Return squares of height and width moved into the channels, squares last among them.

    With f = `downscale_factor`, y[n, (c*f + i)*f + j, h, w] = x[n, c, h*f + i, w*f + j].
    """
    squares = _squares(x, (downscale_factor, downscale_factor), "downscale_factor")
    n, c, h, f, w, _ = squares.shape
    return np.reshape(squares.transpose(0, 1, 3, 5, 2, 4), (n, c * f * f, h, w))


@rule("space_to_batch")
def space_to_batch(x: Held, block_shape: Ints, paddings: Held) -> Held:
    """Return blocks of the height and width, with zeros for `paddings`, moved into the batch.

    With blocks of I rows and J columns, y[(i*J + j)*N + n, c, h, w] = padded[n, c, h*I + i, w*J + j].
    """
    padded = np.pad(x, [(0, 0), (0, 0), *paddings.reshape(2, 2).tolist()])
    squares = _squares(padded, block_shape, "block_shape")
    n, c, h, rows, w, columns = squares.shape
    return np.reshape(squares.transpose(3, 5, 0, 1, 2, 4), (rows * columns * n, c, h, w))


@rule("batch_to_space")
def batch_to_space(x: Held, block_shape: Ints, crops: Held) -> Held:
    """Return blocks moved out of the batch into height and width, then without `crops`.

    With blocks of I rows and J columns, whole[n, c, h*I + i, w*J + j] = x[(i*J + j)*N + n, c, h, w].
    """
    rows, columns = block_shape
    batch, c, h, w = x.shape
    n = _share(batch, rows * columns, "the batch of `x`", "block_shape")
    blocks = x.reshape(rows, columns, n, c, h, w).transpose(2, 3, 4, 0, 5, 1)
    return _cropped(np.reshape(blocks, (n, c, h * rows, w * columns)), *crops.reshape(2, 2))


def _squares(x: Held, sizes: Ints, name: str) -> Held:
    """Return `x` [n, c, h, w] as blocks of so many rows and columns, [n, c, h / rows, rows, w / columns, columns]."""
    n, c, h, w = x.shape
    rows, columns = sizes
    down, across = _share(h, rows, "the height of `x`", name), _share(w, columns, "the width of `x`", name)
    return x.reshape(n, c, down, rows, across, columns)


def _share(size: int, by: int, of: str, name: str) -> int:
    """Return a size divided into equal parts. Raise UnfitValues if it is not a multiple."""
    if by < 1 or size % by:
        raise UnfitValues(f"`{name}` requires a multiple of {by}, but {of} is {size}")
    return size // by
