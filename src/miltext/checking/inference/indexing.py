"""Rules for ops that pick elements: slices, gathers, scatters, sorting and choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from miltext.checking.inference.elementwise import named
from miltext.checking.inference.operands import Arguments, Unknown
from miltext.checking.inference.rules import position, replaced, rule, tensor
from miltext.checking.inference.value_types import Dimension, TensorType, Type


@rule("slice_by_index")
def slice_by_index(op: Arguments) -> Sequence[Type]:
    """`x[begin:end:stride]` in each dimension; masks open an end or drop the dimension."""
    x = op.tensor("x")
    rank = len(x.shape)
    begin, end = (op.elements(name) if op.has(name) else (None,) * rank for name in ("begin", "end"))
    stride = op.elements("stride") if op.has("stride") else (1,) * rank
    masks = [op.vector(name, (False,) * rank) for name in ("begin_mask", "end_mask", "squeeze_mask")]
    columns = zip(x.shape, begin, end, stride, *masks, strict=True)
    return tensor(x.dtype, *(_sliced(*column) for *column, squeezed in columns if not squeezed))


def _sliced(size: Dimension, begin: Any, end: Any, stride: Any, from_start: bool, to_end: bool) -> Dimension:
    """How many elements a slice has; None where a bound is unknown or coremltools counts in a way of its own."""
    if not stride:
        return None
    unknown = (begin is None and not from_start) or (end is None and not to_end)
    if not unknown and not from_start and not to_end and _is_one(begin, end, stride):
        return 1
    if size is None or unknown:
        return None
    return _length(size, None if from_start else begin, None if to_end else end, stride)


def _is_one(begin: int, end: int, stride: int) -> bool:
    """Whether a slice has one element however long the dimension is."""
    return end - begin == 1 and stride > 0 and (begin >= 0) == (end >= 0)


def _length(size: int, begin: int | None, end: int | None, stride: int) -> Dimension:
    length = len(range(size)[slice(begin, end, stride)])
    if size == 1 and length != 1:
        return None  # coremltools keeps the one element whatever the bounds say
    if stride < 0 and end is not None and end < -size:
        return None
    return length


@rule("slice_by_size")
def slice_by_size(op: Arguments) -> Sequence[Type]:
    """`size` elements from `begin` on in each dimension; -1 is all the rest."""
    x = op.tensor("x")
    columns = zip(x.shape, op.elements("begin"), op.elements("size"), strict=True)
    return tensor(x.dtype, *(_rest(length, begin) if size == -1 else size for length, begin, size in columns))


def _rest(size: Dimension, begin: Any) -> Dimension:
    return None if size is None or begin is None or not 0 <= begin <= size else size - begin


@rule("gather")
def gather(op: Arguments) -> Sequence[Type]:
    """`x` with the dimension `axis` (0 by default) replaced by the shape of `indices` without its batch."""
    x, indices = op.tensor("x"), op.shape("indices")
    axis = position(op.value("axis", 0), len(x.shape))
    batch = op.value("batch_dims", 0, least=0)
    return tensor(x.dtype, *x.shape[:axis], *indices[batch:], *x.shape[axis + 1 :])


@rule("gather_along_axis")
def gather_along_axis(op: Arguments) -> Sequence[Type]:
    """As many elements of `x` as there are `indices`."""
    return [TensorType(op.tensor("x").dtype, op.shape("indices"))]


@rule("gather_nd")
def gather_nd(op: Arguments) -> Sequence[Type]:
    """What the last dimension of `indices` leaves of `x`, for each index."""
    x, indices = op.tensor("x"), op.shape("indices")
    depth = indices[-1]
    if depth is None or depth + op.value("batch_dims", 0) > len(x.shape):
        raise Unknown
    return tensor(x.dtype, *indices[:-1], *x.shape[op.value("batch_dims", 0) + depth :])


@rule("scatter", "scatter_along_axis", "scatter_nd")
def scatter(op: Arguments) -> Sequence[Type]:
    """The type of `data`."""
    return [op.type("data")]


@rule("topk")
def topk(op: Arguments) -> Sequence[Type]:
    """`k` (1 by default) values along `axis` (the last by default), and where they stood, if that is asked for."""
    x = op.tensor("x")
    k = op.scalar("k") if op.has("k") else 1
    shape = replaced(x.shape, op.value("axis", -1), k)
    values = TensorType(x.dtype, shape)
    if not op.value("return_indices", True):
        return [values]
    return [values, TensorType(named(op.value("output_indices_dtype", "int32")), shape)]


@rule("argsort")
def argsort(op: Arguments) -> Sequence[Type]:
    """The shape of `x`, of int32."""
    return [TensorType("int32", op.shape("x"))]


@rule("non_maximum_suppression")
def non_maximum_suppression(op: Arguments) -> Sequence[Type]:
    """The boxes kept, their scores, where they stood and (before ios17) how many they are."""
    boxes, scores, kept = op.tensor("boxes"), op.tensor("scores"), op.value("max_boxes")
    batch, _, classes = op.shape("scores", 3)
    indices = TensorType("int32", (batch, kept))
    if op.since("ios17"):  # which of the two last dimensions is which is not plain
        return [TensorType(boxes.dtype, (batch, None, None)), TensorType(scores.dtype, (batch, None, None)), indices]
    found = [TensorType(boxes.dtype, (batch, kept, 4)), TensorType(scores.dtype, (batch, kept, classes))]
    return [*found, indices, TensorType("int32", (batch,))]


@rule("non_zero")
def non_zero(op: Arguments) -> Sequence[Type]:
    """A row of int32 for each element that is not zero, as many as `x` has dimensions."""
    return tensor("int32", None, len(op.shape("x")))


@rule("one_hot")
def one_hot(op: Arguments) -> Sequence[Type]:
    """`indices` with a dimension of `one_hot_vector_size` inserted at `axis` (at the end by default)."""
    shape, depth = op.shape("indices"), op.scalar("one_hot_vector_size")
    place = position(op.value("axis", -1), len(shape) + 1)
    dtype = op.dtype("on_value", op.dtype("off_value", "int32"))
    return tensor(dtype, *shape[:place], depth, *shape[place:])
