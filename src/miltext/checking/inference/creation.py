"""Rules for compressed constants, and for ops that make tensors out of shapes or numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, Unknown, finite
from miltext.checking.inference.rules import linear, replaced, rule, tensor, whole
from miltext.schema.types import Shape, TensorType, Type

TYPED_BY = {
    "fill": ("value",),
    "random_bernoulli": ("prob",),
    "random_normal": ("mean", "stddev"),
    "random_uniform": ("low", "high"),
}
"""The parameters whose data type, which they share, is that of the tensor."""


@rule(*TYPED_BY)
def filled(op: Arguments) -> Sequence[Type]:
    """Return a tensor of the shape given, of the data type of what fills it (fp32 by default)."""
    dtypes = {op.tensor(name).dtype for name in TYPED_BY[op.op_type] if op.has(name)} or {"fp32"}
    if len(dtypes) > 1:
        raise Unknown
    return tensor(dtypes.pop(), *op.sizes("shape"))


@rule("random_categorical")
def random_categorical(op: Arguments) -> Sequence[Type]:
    """Return `size` (1 by default) draws in place of the last dimension of `x`."""
    x = op.tensor("x")
    return [TensorType(x.dtype, replaced(x.shape, -1, op.scalar("size", int, 1)))]


@rule("range_1d")
def range_1d(op: Arguments) -> Sequence[Type]:
    """Return the numbers from `start` to before `end`, `step` apart."""
    dtype = op.tensor("start").dtype
    start, end, step = (finite(op.all(name)[0].value) for name in ("start", "end", "step"))
    if start is None or end is None or not step:
        return tensor(dtype, None)
    steps = whole((end - start) / step, math.ceil)
    return tensor(dtype, None if steps is None else max(0, steps))


@rule("constexpr_sparse_blockwise_shift_scale")
def sparse_blockwise_shift_scale(op: Arguments) -> Sequence[Type]:
    """Return the mask as it is, and the data in the data type of `scale`."""
    return [op.type("data_mask"), TensorType(op.tensor("scale").dtype, op.shape("nonzero_data"))]


@rule("constexpr_sparse_to_dense")
def sparse_to_dense(op: Arguments) -> Sequence[Type]:
    """Return the shape given (ios16) or that of the mask (ios18), of the data type of the data."""
    shape = op.sizes("shape") if op.has("shape") else op.shape("mask")
    return [TensorType(op.tensor("nonzero_data").dtype, shape)]


@rule("constexpr_lut_to_dense")
def lut_to_dense(op: Arguments) -> Sequence[Type]:
    """Return the shape given (ios16) or that of the indices (ios18) times the table's vectors, of its data type."""
    shape = op.sizes("shape") if op.has("shape") else _vectors(op, op.shape("indices"))
    return [TensorType(op.tensor("lut").dtype, shape)]


@rule("constexpr_lut_to_sparse")
def lut_to_sparse(op: Arguments) -> Sequence[Type]:
    """Return the mask and the data, each times the table's vectors."""
    mask, [entries] = op.tensor("indices_mask"), op.shape("indices_nonzero_data", 1)
    shape = _vectors(op, mask.shape)
    size = op.shape("lut")[-1] or 0
    return [TensorType(mask.dtype, shape), TensorType(op.tensor("lut").dtype, (linear(entries, size),))]


def _vectors(op: Arguments, shape: Shape) -> Shape:
    """Return the shape with the axis of the table's vectors times their size, which is the table's last dimension."""
    size = op.shape("lut", least=1)[-1]
    if size is None:
        raise Unknown
    if size == 1:
        return shape
    axis = op.axis(len(shape), name="vector_axis")
    return replaced(shape, axis, linear(shape[axis], size))
