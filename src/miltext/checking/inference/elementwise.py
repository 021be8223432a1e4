"""Rules for ops that work element by element, and for those that give back the type they were given."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, Conflict, Unknown
from miltext.checking.inference.rules import broadcast, position, rule
from miltext.checking.inference.value_types import TensorType, Type
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.schema.dtypes import BY_NAME, ELSEWHERE

KEEP_X = """
    abs acos asin atan atanh ceil clip cos cosh erf exp exp2 floor inverse log logical_not round rsqrt sign sin sinh
    sqrt square tan tanh threshold clamped_relu elu gelu leaky_relu linear_activation prelu relu relu6 scaled_tanh
    sigmoid sigmoid_hard silu softmax softplus softplus_parametric softsign thresholded_relu
    batch_norm instance_norm l2_norm layer_norm local_response_norm
    band_part cumsum identity reverse reverse_sequence slice_update
"""


@rule(*KEEP_X.split())
def keep_x(op: Arguments) -> Sequence[Type]:
    """The type of `x`."""
    return [op.type("x")]


@rule("add", "sub", "mul", "real_div", "floor_div", "mod", "pow", "maximum", "minimum")
def arithmetic(op: Arguments) -> Sequence[Type]:
    """The broadcast of `x` and `y`, of their data type."""
    x, y = op.tensor("x"), op.tensor("y")
    if x.dtype != y.dtype:
        raise Unknown
    return [TensorType(x.dtype, broadcast(x.shape, y.shape))]


@rule(
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor"
)
def comparison(op: Arguments) -> Sequence[Type]:
    """The broadcast of `x` and `y`, of bools."""
    return [TensorType("bool", broadcast(op.shape("x"), op.shape("y")))]


@rule("select")
def select(op: Arguments) -> Sequence[Type]:
    """The broadcast of `a` and `b`; coremltools leaves a larger `cond` out of account, so nothing is said then."""
    a, b = op.tensor("a"), op.tensor("b")
    shape = broadcast(a.shape, b.shape)
    if a.dtype != b.dtype or broadcast(op.shape("cond"), shape) != shape:
        raise Unknown
    return [TensorType(a.dtype, shape)]


@rule("cast")
def cast(op: Arguments) -> Sequence[Type]:
    """The shape of `x`, of the data type that `dtype` names."""
    return [TensorType(named(op.value("dtype")), op.shape("x"))]


def named(dtype: str) -> str:
    """The data type that a string constant names; Conflict for names that are none."""
    if dtype not in BY_NAME:
        near = ELSEWHERE.get(dtype.lower()) or nearest(dtype, BY_NAME)
        raise Conflict(f"there is no data type {dtype!r}{did_you_mean(near)}")
    return dtype


REDUCTIONS = "l1_norm l2_norm log_sum log_sum_exp max mean min prod sum sum_square"


@rule(*(f"reduce_{name}" for name in REDUCTIONS.split()))
def reduction(op: Arguments) -> Sequence[Type]:
    """`x` without the dimensions in `axes` (all of them by default), or with ones in their place."""
    axes = op.vector("axes") if op.has("axes") else range(len(op.shape("x")))
    return [TensorType(op.tensor("x").dtype, _reduced(op, axes))]


@rule("reduce_argmax", "reduce_argmin")
def reduction_to_index(op: Arguments) -> Sequence[Type]:
    """`x` without the dimension `axis` (the last by default), of int32 or of `output_dtype`."""
    return [TensorType(named(op.value("output_dtype", "int32")), _reduced(op, [op.value("axis", -1)]))]


def _reduced(op: Arguments, axes: Sequence[int]) -> tuple[int | None, ...]:
    shape, keep = op.shape("x"), op.value("keep_dims", False)
    places = {position(axis, len(shape)) for axis in axes}
    if not places and shape:
        raise Unknown  # writers differ on what no axis means
    return tuple(1 if place in places else size for place, size in enumerate(shape) if keep or place not in places)
