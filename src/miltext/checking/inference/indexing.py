"""Rules for ops that pick elements: slices, gathers, sorting and choice."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.elementwise import named
from miltext.checking.inference.operands import Arguments, Unknown
from miltext.checking.inference.rules import replaced, rule, tensor
from miltext.checking.inference.value_types import Dimension, TensorType, Type


@rule("slice_by_index")
def slice_by_index(op: Arguments) -> Sequence[Type]:
    """Return `x[begin:end:stride]` in each dimension; masks open an end or drop the dimension."""
    x = op.tensor("x")
    rank = len(x.shape)
    begin, end = (op.sizes(name, rank) if op.has(name) else (None,) * rank for name in ("begin", "end"))
    stride = op.sizes("stride", rank) if op.has("stride") else (1,) * rank
    masks = [op.vector(name, bool, rank, False) for name in ("begin_mask", "end_mask", "squeeze_mask")]
    columns = zip(x.shape, begin, end, stride, *masks, strict=True)
    return tensor(x.dtype, *(_sliced(*column) for *column, squeezed in columns if not squeezed))


def _sliced(
    size: Dimension, begin: Dimension, end: Dimension, stride: Dimension, from_start: bool, to_end: bool
) -> Dimension:
    """Return how many elements a slice has.

    None where a bound is unknown or coremltools counts in a way of its own.
    """
    unknown = (begin is None and not from_start) or (end is None and not to_end)
    if unknown or not stride:
        return None
    begin, end = None if from_start else begin, None if to_end else end
    if begin is not None and end is not None and end - begin == 1 and stride > 0 and (begin >= 0) == (end >= 0):
        return 1  # however long the dimension is
    if size is None:
        return None
    first, last, stride = slice(begin, end, stride).indices(size)
    length = max(0, -((first - last) // stride))
    if size == 1 and length != 1:
        return None  # coremltools keeps the one element whatever the bounds say
    return None if stride < 0 and end is not None and end < -size else length


@rule("slice_by_size")
def slice_by_size(op: Arguments) -> Sequence[Type]:
    """Return `size` elements from `begin` on in each dimension; -1 is all the rest."""
    x = op.tensor("x")
    columns = zip(x.shape, *(op.sizes(name, len(x.shape)) for name in ("begin", "size")), strict=True)
    return tensor(x.dtype, *(_rest(length, begin) if size == -1 else size for length, begin, size in columns))


def _rest(size: Dimension, begin: Dimension) -> Dimension:
    return None if size is None or begin is None or not 0 <= begin <= size else size - begin


@rule("gather")
def gather(op: Arguments) -> Sequence[Type]:
    """Return `x` with the dimension `axis` (0 by default) replaced by the shape of `indices` without its batch."""
    x, indices = op.tensor("x"), op.shape("indices")
    axis = op.axis(len(x.shape), 0)
    batch = op.scalar("batch_dims", int, 0, least=0)
    return tensor(x.dtype, *x.shape[:axis], *indices[batch:], *x.shape[axis + 1 :])


@rule("gather_nd")
def gather_nd(op: Arguments) -> Sequence[Type]:
    """Return what the last dimension of `indices` leaves of `x`, for each index."""
    x, (*rest, depth) = op.tensor("x"), op.shape("indices", least=1)
    batch = op.scalar("batch_dims", int, 0, least=0)
    if depth is None or depth + batch > len(x.shape):
        raise Unknown
    return tensor(x.dtype, *rest, *x.shape[batch + depth :])


@rule("topk")
def topk(op: Arguments) -> Sequence[Type]:
    """Return `k` (1 by default) values along `axis` (the last by default), and where they stood, if that is asked."""
    x = op.tensor("x")
    shape = replaced(x.shape, op.scalar("axis", int, -1), op.size("k", 1))
    values = TensorType(x.dtype, shape)
    if not op.scalar("return_indices", bool, True):
        return [values]
    return [values, TensorType(named(op.scalar("output_indices_dtype", str, "int32")), shape)]


@rule("argsort")
def argsort(op: Arguments) -> Sequence[Type]:
    """Return the shape of `x`, of int32."""
    return tensor("int32", *op.shape("x"))


@rule("non_maximum_suppression")
def non_maximum_suppression(op: Arguments) -> Sequence[Type]:
    """Return the boxes kept, their scores, where they stood and (before ios17) how many they are."""
    boxes, scores, kept = op.tensor("boxes"), op.tensor("scores"), op.scalar("max_boxes", int)
    batch, _, classes = op.shape("scores", 3)
    indices = TensorType("int32", (batch, kept))
    if op.since("ios17"):  # which of the two last dimensions is which is not plain
        return [TensorType(boxes.dtype, (batch, None, None)), TensorType(scores.dtype, (batch, None, None)), indices]
    found = [TensorType(boxes.dtype, (batch, kept, 4)), TensorType(scores.dtype, (batch, kept, classes))]
    return [*found, indices, TensorType("int32", (batch,))]


@rule("non_zero")
def non_zero(op: Arguments) -> Sequence[Type]:
    """Return a row of int32 for each element that is not zero, as many as `x` has dimensions."""
    return tensor("int32", None, len(op.shape("x")))


@rule("one_hot")
def one_hot(op: Arguments) -> Sequence[Type]:
    """Return `indices` with a dimension of `one_hot_vector_size` inserted at `axis` (at the end by default)."""
    shape, depth = op.shape("indices"), op.size("one_hot_vector_size")
    place = op.axis(len(shape) + 1, -1)
    dtype = op.dtype("on_value", op.dtype("off_value", "int32"))
    return tensor(dtype, *shape[:place], depth, *shape[place:])
