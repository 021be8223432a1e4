"""Rules for ops that select or place elements: gathers, scatters, sorting, boxes, one-hot rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from miltext.checking.inference.elementwise import named
from miltext.checking.inference.operands import Arguments, InputConflict, Unknown
from miltext.checking.inference.positions import hold_positions, hold_shape, row_of
from miltext.checking.inference.rules import replaced, rule, tensor
from miltext.diagnostics import codes
from miltext.schema.types import Dimension, Shape, TensorType, Type, compatible, show


@rule("gather")
def gather(op: Arguments) -> Sequence[Type]:
    """Return `x` with the dimension `axis` (0 by default) replaced by the shape of `indices` without its batch."""
    x, indices = op.tensor("x"), op.shape("indices")
    axis, batch = op.axis(len(x.shape), 0), op.scalar("batch_dims", int, 0, least=0)
    if batch > len(indices):
        clause = f"is {batch}, and `indices` has {len(indices)} dimensions"
        raise InputConflict(clause, "batch_dims", "indices", code=codes.VALUE_OUT_OF_RANGE)
    _hold_batch(x.shape, indices, batch)
    _hold_after_batch(op, axis, batch)
    _hold_indices(op, x.shape, axis, "x")
    return tensor(x.dtype, *x.shape[:axis], *indices[batch:], *x.shape[axis + 1 :])


def _hold_batch(shape: Shape, indices: Shape, batch: int) -> None:
    """Require `indices` to begin with the same sizes as `x`. Raise InputConflict."""
    if not compatible(shape[:batch], indices[:batch]):
        clause = f"must begin like `x`, {show(shape)}, in {batch} `batch_dims`, and is of shape {show(indices)}"
        raise InputConflict(clause, "indices", "x", code=codes.WRONG_ARGUMENT_SHAPE)


def _hold_after_batch(op: Arguments, axis: int, batch: int) -> None:
    """Require an axis after the batch. Raise InputConflict."""
    if axis < batch and op.has("axis"):
        clause = f"names axis {axis}; with `batch_dims` of {batch}, the axes to gather from begin at {batch}"
        raise InputConflict(clause, "axis", "batch_dims", "x", code=codes.AXIS_OUT_OF_RANGE)
    if axis < batch:
        clause = f"is {batch}, and `axis` is left out, which makes it {axis}; it must be {batch} or more"
        raise InputConflict(clause, "batch_dims", "x", code=codes.VALUE_OUT_OF_RANGE)


def _hold_indices(op: Arguments, shape: Shape, axis: int, of: str) -> None:
    """Require positions of an axis in `indices`; validated ones cannot be negative. Raise InputConflict."""
    where, least = f"`axis` {axis} of `{of}`", None
    if op.has("validate_indices") and op.single("validate_indices") is True:
        where, least = f"{where}, with `validate_indices`,", 0
    hold_positions(row_of(op, "indices"), shape[axis], where, "indices", of, least=least)


def _hold_places(op: Arguments, shape: Shape, batch: int, depth: int, of: str) -> None:
    """Require each row of `indices` to be a position in the dimensions after the batch.

    Raise InputConflict.
    """
    if batch + depth > len(shape):
        after = f" after {batch} `batch_dims`" if batch else ""
        clause = f"has {depth} numbers for each place, and `{of}` has {len(shape) - batch} dimensions{after}"
        raise InputConflict(clause, "indices", of, code=codes.WRONG_ARGUMENT_SHAPE)
    row = row_of(op, "indices")
    for place in range(depth):
        hold_positions(row[place::depth], shape[batch + place], f"axis {batch + place} of `{of}`", "indices", of)


@rule("gather_along_axis")
def gather_along_axis(op: Arguments) -> Sequence[Type]:
    """Return the shape of `indices`, equal to the shape of `x` except in the dimension `axis` (0 by default)."""
    x, indices = op.tensor("x"), op.shape("indices")
    _hold_along(op, "x")
    return tensor(x.dtype, *indices)


def _hold_along(op: Arguments, of: str) -> None:
    """Require `indices` to have the shape of a tensor except along the axis, and positions of that axis.

    Raise InputConflict.
    """
    shape, indices = op.shape(of), op.shape("indices")
    if len(shape) != len(indices):
        clause = f"must be of the rank of `{of}`, {len(shape)}, and is of shape {show(indices)}"
        raise InputConflict(clause, "indices", of, code=codes.WRONG_ARGUMENT_RANK)
    axis = op.axis(len(shape), 0)
    free = replaced(shape, axis, None)
    if not compatible(free, indices):
        clause = f"must be of shape {show(free)}, like `{of}` except along `axis` {axis}, not {show(indices)}"
        raise InputConflict(clause, "indices", of, code=codes.WRONG_ARGUMENT_SHAPE)
    _hold_indices(op, shape, axis, of)


@rule("gather_nd")
def gather_nd(op: Arguments) -> Sequence[Type]:
    """Return the part of `x` beyond the last dimension of `indices`, for each index."""
    x, (*rest, depth) = op.tensor("x"), op.shape("indices", least=1)
    batch = op.scalar("batch_dims", int, 0, least=0)
    if depth is None:
        raise Unknown
    _hold_places(op, x.shape, batch, depth, "x")
    return tensor(x.dtype, *rest, *x.shape[batch + depth :])


@rule("scatter", "scatter_along_axis", "scatter_nd")
def scatter(op: Arguments) -> Sequence[Type]:
    """Return the type of `data`."""
    with suppress(Unknown):  # the result is the same for any other arguments
        _HOLD_SCATTER[op.op_type](op)
    return [op.type("data")]


def _hold_scatter(op: Arguments) -> None:
    """Require `updates` to have the shape of `indices` in place of the dimension `axis` (0 by default).

    Raise InputConflict.
    """
    shape, indices = op.shape("data"), op.shape("indices")
    axis = op.axis(len(shape), 0)
    because = f"`data` with the shape of `indices`, {show(indices)}, at `axis` {axis}"
    hold_shape(op, "updates", (*shape[:axis], *indices, *shape[axis + 1 :]), because, "data", "indices")
    _hold_indices(op, shape, axis, "data")


def _hold_scatter_nd(op: Arguments) -> None:
    """Require a slice of `data` in `updates` for each index. Raise InputConflict."""
    shape, (*rest, depth) = op.shape("data"), op.shape("indices", least=1)
    if depth is not None:
        _hold_places(op, shape, 0, depth, "data")
        what = f"a slice of `data`, {show(shape[depth:])}," if shape[depth:] else "an element of `data`"
        places = f"each of the places in `indices`, {show(tuple(rest))}" if rest else "the one place in `indices`"
        hold_shape(op, "updates", (*rest, *shape[depth:]), f"{what} for {places}", "data", "indices")


_HOLD_SCATTER: dict[str, Callable[[Arguments], None]] = {
    "scatter": _hold_scatter,
    "scatter_along_axis": partial(_hold_along, of="data"),
    "scatter_nd": _hold_scatter_nd,
}


# ---- sorting


@rule("topk")
def topk(op: Arguments) -> Sequence[Type]:
    """Return `k` (1 by default) values along `axis` (the last by default), and their positions on request."""
    x = op.tensor("x")
    axis = op.axis(len(x.shape), -1)
    shape = replaced(x.shape, axis, _kept(op, x.shape[axis], axis))
    values = TensorType(x.dtype, shape)
    if not op.scalar("return_indices", bool, True):
        if op.has("output_indices_dtype"):
            raise InputConflict("is for indices, and `return_indices` is false", "output_indices_dtype")
        return [values]
    return [values, TensorType(named(op.scalar("output_indices_dtype", str, "int32")), shape)]


def _kept(op: Arguments, size: Dimension, axis: int) -> Dimension:
    """Return `k`, at most the size of the axis; -1 is the whole size since ios17. Raise InputConflict."""
    k = op.size("k", 1)
    if k == -1:
        return size
    if k is not None and (k < 1 or (size is not None and k > size)):
        there = f"from 1 to {size}" if size is not None else "from 1 on"
        whole = ", or -1 for all of it" if op.since("ios17") else ""
        clause = f"is {k}, but must be {there}, the size of `axis` {axis} of `x`{whole}"
        raise InputConflict(clause, "k", "x", code=codes.VALUE_OUT_OF_RANGE)
    return k


@rule("argsort")
def argsort(op: Arguments) -> Sequence[Type]:
    """Return the shape of `x`, of int32."""
    return tensor("int32", *op.shape("x"))


@rule("non_maximum_suppression")
def non_maximum_suppression(op: Arguments) -> Sequence[Type]:
    """Return the boxes kept, their scores, their positions and (before ios17) their number."""
    boxes, scores, kept = op.tensor("boxes"), op.tensor("scores"), op.scalar("max_boxes", int)
    batch, _, classes = op.shape("scores", 3)
    indices = TensorType("int32", (batch, kept))
    if op.since("ios17"):  # the order of the two last dimensions is uncertain
        return [TensorType(boxes.dtype, (batch, None, None)), TensorType(scores.dtype, (batch, None, None)), indices]
    found = [TensorType(boxes.dtype, (batch, kept, 4)), TensorType(scores.dtype, (batch, kept, classes))]
    return [*found, indices, TensorType("int32", (batch,))]


@rule("non_zero")
def non_zero(op: Arguments) -> Sequence[Type]:
    """Return a row of int32 for each nonzero element, with as many numbers as `x` has dimensions."""
    return tensor("int32", None, len(op.shape("x")))


@rule("one_hot")
def one_hot(op: Arguments) -> Sequence[Type]:
    """Return `indices` with a dimension of `one_hot_vector_size` inserted at `axis` (at the end by default)."""
    shape, depth = op.shape("indices"), op.size("one_hot_vector_size")
    place = op.axis(len(shape) + 1, -1)
    dtype = op.dtype("on_value", op.dtype("off_value", "int32"))
    _doubt_classes(op, depth)
    return tensor(dtype, *shape[:place], depth, *shape[place:])


def _doubt_classes(op: Arguments, depth: Dimension) -> None:
    """Note a doubt about an index past the end of its row, which has no effect; a negative index may stand for no
    class.
    """
    for index in row_of(op, "indices"):
        if depth is not None and isinstance(index, int) and index >= depth:
            clause = f"names position {index}, and `one_hot_vector_size` is {depth}: its row is all `off_value`"
            op.doubt(clause, "indices", "one_hot_vector_size", code=codes.POSITION_OUTSIDE_TENSOR)
            return
