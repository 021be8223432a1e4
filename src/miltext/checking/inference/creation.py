"""Rules for constants, compressed constants, and ops that make tensors out of shapes or numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from miltext.checking.inference.elementwise import named
from miltext.checking.inference.operands import Arguments, Unknown
from miltext.checking.inference.rules import linear, replaced, rule, tensor
from miltext.checking.inference.value_types import Dimension, Shape, TensorType, Type

TOLERANCE = 1e-4
"""How near to a whole number a count of floats may come before rounding decides it."""


@rule("const")
def const(op: Arguments) -> Sequence[Type]:
    """The type of `val`."""
    return [op.type("val")]


@rule("fill")
def fill(op: Arguments) -> Sequence[Type]:
    """A tensor of the shape given, of the data type of `value` (fp32 by default)."""
    return tensor(op.dtype("value", "fp32"), *op.elements("shape"))


@rule("fill_like")
def fill_like(op: Arguments) -> Sequence[Type]:
    """The shape of `ref_tensor`, of the data type of `value` (fp32 by default)."""
    return [TensorType(op.dtype("value", "fp32"), op.shape("ref_tensor"))]


PARAMETERS = {
    "random_bernoulli": ("prob",),
    "random_normal": ("mean", "stddev"),
    "random_uniform": ("low", "high"),
}


@rule(*PARAMETERS)
def random(op: Arguments) -> Sequence[Type]:
    """A tensor of the shape given, of the data type of the distribution's parameters (fp32 by default)."""
    dtypes = {op.tensor(name).dtype for name in PARAMETERS[op.op_type] if op.has(name)} or {"fp32"}
    if len(dtypes) > 1:
        raise Unknown
    return tensor(dtypes.pop(), *op.elements("shape"))


@rule("random_categorical")
def random_categorical(op: Arguments) -> Sequence[Type]:
    """`size` (1 by default) draws in place of the last dimension of `x`."""
    x = op.tensor("x")
    return [TensorType(x.dtype, replaced(x.shape, -1, op.value("size", 1)))]


@rule("range_1d")
def range_1d(op: Arguments) -> Sequence[Type]:
    """The numbers from `start` to before `end`, `step` apart."""
    dtype = op.tensor("start").dtype
    bounds = [op.all(name)[0].value for name in ("start", "end", "step")]
    if any(bound is None or isinstance(bound, str | tuple) for bound in bounds):
        return tensor(dtype, None)
    start, end, step = bounds
    return tensor(dtype, _whole((end - start) / step))  # type: ignore[operator]


def _whole(steps: float) -> Dimension:
    if steps != int(steps) and abs(steps - round(steps)) < TOLERANCE * max(1.0, abs(steps)):
        return None
    return max(0, math.ceil(steps))


@rule("quantize")
def quantize(op: Arguments) -> Sequence[Type]:
    """The shape of `input`, of the data type that `output_dtype` names."""
    return [TensorType(named(op.value("output_dtype")), op.shape("input"))]


@rule("dequantize")
def dequantize(op: Arguments) -> Sequence[Type]:
    """The shape of `input`, of the data type of `scale`."""
    return [TensorType(op.tensor("scale").dtype, op.shape("input"))]


@rule("constexpr_affine_dequantize")
def affine_dequantize(op: Arguments) -> Sequence[Type]:
    """The shape of the data, of the data type of `scale`."""
    return [TensorType(op.tensor("scale").dtype, op.shape("quantized_data"))]


@rule("constexpr_blockwise_shift_scale")
def blockwise_shift_scale(op: Arguments) -> Sequence[Type]:
    """The shape of `data`, of the data type of `scale`."""
    return [TensorType(op.tensor("scale").dtype, op.shape("data"))]


@rule("constexpr_sparse_blockwise_shift_scale")
def sparse_blockwise_shift_scale(op: Arguments) -> Sequence[Type]:
    """The mask as it is, and the data in the data type of `scale`."""
    return [op.type("data_mask"), TensorType(op.tensor("scale").dtype, op.shape("nonzero_data"))]


@rule("constexpr_cast")
def constexpr_cast(op: Arguments) -> Sequence[Type]:
    """The shape of `source_val`, of the data type that `output_dtype` names."""
    return [TensorType(named(op.value("output_dtype")), op.shape("source_val"))]


@rule("constexpr_sparse_to_dense")
def sparse_to_dense(op: Arguments) -> Sequence[Type]:
    """The shape given (ios16) or that of the mask (ios18), of the data type of the data."""
    shape = op.elements("shape") if op.has("shape") else op.shape("mask")
    return [TensorType(op.tensor("nonzero_data").dtype, shape)]


@rule("constexpr_lut_to_dense")
def lut_to_dense(op: Arguments) -> Sequence[Type]:
    """The shape given (ios16) or that of the indices (ios18) times the table's vectors, of the table's data type."""
    shape = op.elements("shape") if op.has("shape") else _vectors(op, op.shape("indices"))
    return [TensorType(op.tensor("lut").dtype, shape)]


@rule("constexpr_lut_to_sparse")
def lut_to_sparse(op: Arguments) -> Sequence[Type]:
    """The mask and the data, each times the table's vectors."""
    mask, data, table = op.tensor("indices_mask"), op.shape("indices_nonzero_data", 1), op.tensor("lut")
    entries = TensorType(table.dtype, tuple(linear(size, table.shape[-1] or 0) for size in data))
    return [TensorType(mask.dtype, _vectors(op, mask.shape)), entries]


def _vectors(op: Arguments, shape: Shape) -> Shape:
    size = op.shape("lut")[-1]
    if size is None:
        raise Unknown
    if size == 1:
        return shape
    axis = op.value("vector_axis")
    return replaced(shape, axis, linear(shape[axis], size))
