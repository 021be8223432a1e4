"""Rules that read or write elements at computed places, and rules that find places.

A negative place counts from the end. Since ios17, the behaviour of a device for such a place is undefined, and with
`validate_indices` it is an error: here as well. A nonexistent place is always an error here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

import numpy as np

from miltext.evaluation.rules import Array, Held, OpsetText, UnfitValues, rule

# ---- elements taken from places


@rule("gather")
def gather(x: Held, indices: Held, axis: int, batch_dims: int | None, validate_indices: bool | None) -> Held:
    """Return x[:, ..., indices, ..., :], with `indices` at `axis`; both share the first `batch_dims` axes."""
    batch, axis = batch_dims or 0, axis % x.ndim
    places = _places(indices, x.shape[axis], validate_indices)
    if not batch:
        return x.take(places, axis)
    where = (*_mesh(places.shape, range(batch)), places)
    taken = np.moveaxis(x, axis, batch)[where]
    own = range(batch, places.ndim)
    return np.moveaxis(taken, own, range(axis, axis + len(own)))


@rule("gather_along_axis")
def gather_along_axis(x: Held, indices: Held, axis: int, validate_indices: bool | None) -> Held:
    """Return x[p] for each place p of `indices`, where indices[p] stands for p[axis]."""
    return np.take_along_axis(x, _places(indices, x.shape[axis], validate_indices), axis)


@rule("gather_nd")
def gather_nd(x: Held, indices: Held, batch_dims: int | None, validate_indices: bool | None) -> Held:
    """Return x[indices[p]] for each place p in all axes of `indices` but the last: indices[p] is a place in the first
    axes of x.

    Both share the first `batch_dims` axes: x[p0, ..., indices[p]].
    """
    batch = batch_dims or 0
    depth = batch + indices.shape[-1]
    rows = x.reshape(prod(x.shape[:depth]), *x.shape[depth:])
    return np.take(rows, _row_numbers(indices, x.shape, batch, validate_indices), axis=0)


def _places(indices: Held, size: int, validated: bool | None) -> Held:
    """Return places along an axis, counted from its start. Raise UnfitValues for a nonexistent place."""
    places = indices.astype(np.intp)
    if (
        places.size == 1 and 0 <= places.item() < size
    ):  # as in a loop over time, where looking for the ends takes longer
        return places
    least, low, high = 0 if validated else -size, places.min(initial=0), places.max(initial=-1)
    if low < least or high >= size:
        takes = f"but must be from {least} to {size - 1}" if size else "but the axis has no elements"
        raise UnfitValues(f"`indices` contains {low if low < least else high}, {takes}")
    return places if low >= 0 else np.where(places < 0, places + size, places)


def _row_numbers(indices: Held, shape: Sequence[int], batch: int, validated: bool | None) -> Held:
    """Return the row of each place in `indices`: the axes of the batch, and the indexed axes, make one axis."""
    rows = np.zeros(indices.shape[:-1], np.intp)
    for size, places in zip(shape, _mesh(rows.shape, range(batch)), strict=False):
        rows = rows * size + places
    for depth, size in enumerate(shape[batch : batch + indices.shape[-1]]):
        rows = rows * size + _places(indices[..., depth], size, validated)
    return rows


def _mesh(shape: Sequence[int], axes: Sequence[int]) -> list[Held]:
    """Return the places along each of the axes of an array of the shape, which broadcast over the others."""
    return [np.arange(shape[axis]).reshape([-1 if at == axis else 1 for at in range(len(shape))]) for axis in axes]


# ---- elements written at places

MODES: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "max": np.maximum,
    "min": np.minimum,
}
"""The combination of the old element at a place and the update; "update" replaces the old, and the last update stays.

Each result is written in the data type of its target; a quotient of integers loses its fraction.
"""


@rule("scatter")
def scatter(data: Array, indices: Held, updates: Array, axis: int, mode: str, validate_indices: bool | None) -> Array:
    """Return `data` with data[:, ..., indices, ..., :] and `updates` combined by `mode`, `indices` at `axis`."""
    made, axis = data.copy(), axis % data.ndim
    places = _places(indices, data.shape[axis], validate_indices)
    if axis:
        _write(np.moveaxis(made, axis, 0), (places,), np.moveaxis(updates, axis, 0), mode)
    else:
        _write(made, (places,), updates, mode)
    return made


@rule("scatter_along_axis")
def scatter_along_axis(
    data: Array, indices: Held, updates: Array, axis: int, mode: str, validate_indices: bool | None
) -> Array:
    """Return `data` with data[p] and updates[p] combined by `mode`, where indices[p] stands for p[axis]."""
    made, axis = data.copy(), axis % data.ndim
    where = _mesh(indices.shape, range(data.ndim))
    where[axis] = _places(indices, data.shape[axis], validate_indices)
    _write(made, tuple(where), updates, mode)
    return made


@rule("scatter_nd")
def scatter_nd(data: Array, indices: Held, updates: Array, mode: str, validate_indices: bool | None) -> Array:
    """Return `data` with data[indices[p]] and updates[p] combined by `mode`, for each place p in all axes of `indices`
    but the last.
    """
    made, depth = data.copy(), indices.shape[-1]
    rows = made.reshape(prod(data.shape[:depth]), *data.shape[depth:])
    _write(rows, (_row_numbers(indices, data.shape, 0, validate_indices),), updates, mode)
    return made


def _write(made: Array, where: tuple[Held, ...], updates: Array, mode: str) -> None:
    if mode == "div" and made.dtype.kind != "f" and not updates.all():
        raise UnfitValues("integer division by zero: `updates` contains a 0")
    if mode == "update":
        made[where] = updates
    else:
        MODES[mode].at(made, where, updates)


# ---- order


@rule("argsort")
def argsort(x: Held, axis: int, ascending: bool) -> Held:
    """Return the places along `axis` by the elements there, from the greatest, or the least if `ascending`.

    Of equals, the first comes first, and NaN is last in either order.
    """
    keys = x if ascending else ~x if x.dtype.kind in "iub" else -x  # ~x of an integer is -x - 1, which it always holds
    return np.argsort(keys, axis=axis, kind="stable")


@rule("topk")
def topk(
    x: Held, k: int, axis: int, ascending: bool, return_indices: bool | None, output_indices_dtype: str | None
) -> Held | tuple[Held, Held]:
    """Return the `k` greatest elements along `axis`, or the least if `ascending`, and their places; all elements if `k`
    is -1.

    They are in the order of `argsort`, also where `sort` is false, which leaves the order open.
    """
    size = x.shape[axis]
    if not -1 <= k <= size:
        raise UnfitValues(f"`k` is {k}, and `x` has {size} elements along `axis` {axis}")
    places = argsort(x, axis, ascending).take(np.arange(size if k == -1 else k), axis)
    if output_indices_dtype == "uint16" and places.max(initial=0) > 65535:
        raise UnfitValues(f"`output_indices_dtype` is uint16, which ends at 65535, and there is a place {places.max()}")
    values = np.take_along_axis(x, places, axis)
    return values if return_indices is False else (values, places)


# ---- finding places


@rule("non_zero")
def non_zero(x: Held) -> Held:
    """Return the place of each nonzero element, in row-major order, as a row."""
    return np.argwhere(x)


@rule("one_hot")
def one_hot(indices: Held, one_hot_vector_size: int, axis: int, on_value: Held, off_value: Held) -> Held:
    """Return `on_value` where indices[p] is the place along a new axis at `axis`, else `off_value`.

    A row is all `off_value` where the index is not a place along it.
    """
    if one_hot_vector_size < 0:
        raise UnfitValues(f"`one_hot_vector_size` is {one_hot_vector_size}, and cannot be negative")
    wide = np.expand_dims(indices, axis)
    [places] = _mesh([*wide.shape[:-1], one_hot_vector_size], [wide.ndim - 1])
    return np.where(wide == np.moveaxis(places, -1, axis), on_value, off_value)


# ---- boxes


@rule("non_maximum_suppression")
def non_maximum_suppression(
    boxes: Array,
    scores: Array,
    iou_threshold: float,
    score_threshold: float | None,
    max_boxes: int,
    per_class_suppression: bool,
    opset: OpsetText,
) -> tuple[Array, ...]:
    """Return the boxes kept, their scores, their places and (before ios17) how many they are, from the best score down.

    The score of a box is the score of its best class. A box is dropped where a kept box, with `per_class_suppression`
    of the same class, shares more than `iou_threshold` of the area of both with it. Boxes are (x, y, width, height)
    around (x, y). The rest up to `max_boxes` is zeros, and places of -1.
    """
    last = opset.since("ios17")  # the boxes are the last dimension, no score is too low, and they are not counted
    boxes, scores = (each.swapaxes(1, 2) if last else each for each in (boxes, scores))
    if boxes.shape[2] != 4 or boxes.shape[:2] != scores.shape[:2]:
        requested = "[batches, 4, boxes]" if last else "[batches, boxes, 4]"
        raise UnfitValues(f"`boxes` must be {requested}, and `scores` have as many of them in the same order")
    # a box that shares exactly the threshold is kept before ios17, and dropped since: coremltools' TestNms, of devices
    most = np.nextafter(np.float32(iou_threshold), np.float32(0)) if last else iou_threshold
    places = np.full((len(boxes), max_boxes), -1)
    for row, own, marks in zip(places, boxes, scores, strict=True):
        order = _by_score(marks, -inf if score_threshold is None else score_threshold)
        groups = marks.argmax(axis=1) if per_class_suppression else np.zeros(len(marks), int)
        kept = _kept(own, order, groups, most, max_boxes)
        row[: len(kept)] = kept
    ended = (np.pad(each, [(0, 0), (0, 1), (0, 0)]) for each in (boxes, scores))  # with zeros, which -1 is the place of
    found = [np.take_along_axis(each, places[..., np.newaxis], axis=1) for each in ended]
    if last:
        return found[0].swapaxes(1, 2), found[1].swapaxes(1, 2), places
    return found[0], found[1], places, (places >= 0).sum(axis=1)


def _by_score(scores: Array, least: float) -> Array:
    """Return the boxes whose best class has at least this score, from the best down; if there is none, the best one.

    Source: coremltools' tests, which refer to Core ML.
    """
    best = scores.max(axis=1)
    order = np.argsort(-best, kind="stable")
    good = order[best[order] >= least]
    return good if good.size else order[:1]


def _kept(boxes: Array, order: Array, groups: Array, most_shared: float, count: int) -> list[int]:
    """Return the first `count` of the boxes in order without too large a shared area with an earlier one, in their
    group.
    """
    middles, sizes = boxes[:, :2], boxes[:, 2:]
    starts, ends, areas = middles - sizes / 2, middles + sizes / 2, sizes.prod(axis=1)
    kept: list[int] = []
    while order.size and len(kept) < count:
        best, order = order[0], order[1:]
        kept.append(best)
        sides = np.minimum(ends[best], ends[order]) - np.maximum(starts[best], starts[order])
        common = sides.clip(0).prod(axis=1)
        shared = common / (areas[best] + areas[order] - common)
        order = order[~((shared > most_shared) & (groups[order] == groups[best]))]
    return kept
