"""Rules for ops that work element by element, and for ops that return a given type or shape."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, InputConflict, Unknown, finite, number, position
from miltext.checking.inference.positions import row_of
from miltext.checking.inference.rules import broadcast_of, rule
from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.schema.dtypes import BY_NAME, ELSEWHERE
from miltext.schema.types import TensorType, Type

SAME_TYPE = {
    "x": """
    abs acos asin atan atanh ceil cos cosh erf exp exp2 floor inverse log logical_not round rsqrt sign sin sinh
    sqrt square tan tanh threshold clamped_relu elu gelu leaky_relu linear_activation relu relu6 scaled_tanh
    sigmoid sigmoid_hard silu softmax softplus softplus_parametric softsign thresholded_relu
    batch_norm instance_norm l2_norm local_response_norm
    band_part cumsum identity reverse
    """,
    "val": "const",
}

SAME_SLOPE = 1e-5
"""The greatest difference between slopes that coremltools treats as equal."""

_TYPE_OF = {op_type: name for name, op_types in SAME_TYPE.items() for op_type in op_types.split()}


@rule(*_TYPE_OF)
def same_type(op: Arguments) -> Sequence[Type]:
    """Return the type of one parameter."""
    return [op.type(_TYPE_OF[op.op_type])]


@rule("clip")
def clip(op: Arguments) -> Sequence[Type]:
    """Return the type of `x`; since ios17, `beta`, the upper bound, must exceed `alpha`, the lower one."""
    low, high = (number(op.all(name)[0].value) for name in ("alpha", "beta"))
    strict = op.since("ios17")
    if low is not None and high is not None and (low >= high if strict else low > high):
        must = "must be larger" if strict else "must not be smaller"
        raise InputConflict(
            f"is {high:g} and {must} than `alpha`, which is {low:g}", "beta", "alpha", code=codes.VALUE_OUT_OF_RANGE
        )
    return [op.type("x")]


@rule("prelu")
def prelu(op: Arguments) -> Sequence[Type]:
    """Return the type of `x`; other ranks than 4 take one slope for all channels (iOS15/activation.py)."""
    slopes = op.all("alpha")[0].value
    if len(op.shape("x")) != 4 and isinstance(slopes, tuple):
        known = [slope for slope in map(finite, slopes) if slope is not None]
        if known and max(known) - min(known) > SAME_SLOPE:
            raise InputConflict(
                f"must be one number for all channels where `x` is not of rank 4; it has {min(known):g} and"
                f" {max(known):g}",
                "alpha",
                "x",
                code=codes.VALUE_OUT_OF_RANGE,
            )
    return [op.type("x")]


@rule("fill_like")
def fill_like(op: Arguments) -> Sequence[Type]:
    """Return the shape of `ref_tensor`, of the data type of `value` (fp32 by default)."""
    return [TensorType(op.dtype("value", "fp32"), op.shape("ref_tensor"))]


_SHAPE_OF_AND_NAMED = {
    "cast": ("x", "dtype"),
    "constexpr_cast": ("source_val", "output_dtype"),
}


@rule(*_SHAPE_OF_AND_NAMED)
def cast(op: Arguments) -> Sequence[Type]:
    """Return the shape of a parameter, in the data type that another parameter names."""
    shaped, naming = _SHAPE_OF_AND_NAMED[op.op_type]
    return [TensorType(named(op.scalar(naming, str)), op.shape(shaped))]


def named(dtype: str) -> str:
    """Return the data type that a string constant names. Raise InputConflict for an unknown name."""
    if dtype not in BY_NAME:
        near = ELSEWHERE.get(dtype.lower()) or nearest(dtype, BY_NAME)
        raise InputConflict(f"{dtype!r} is not a data type{did_you_mean(near)}")
    return dtype


@rule("add", "sub", "mul", "real_div", "floor_div", "mod", "pow", "maximum", "minimum")
def arithmetic(op: Arguments) -> Sequence[Type]:
    """Return the broadcast of `x` and `y`, of their data type."""
    x, y = op.tensor("x"), op.tensor("y")
    if op.op_type in ("floor_div", "mod") and "int" in y.dtype and 0 in row_of(op, "y"):
        op.doubt("divides by 0, which has no result among integers", "y", code=codes.VALUE_OUT_OF_RANGE)
    if x.dtype != y.dtype:
        raise Unknown
    return [TensorType(x.dtype, broadcast_of(op, "x", "y"))]


@rule(
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor"
)
def comparison(op: Arguments) -> Sequence[Type]:
    """Return the broadcast of `x` and `y`, of bools."""
    return [TensorType("bool", broadcast_of(op, "x", "y"))]


@rule("select")
def select(op: Arguments) -> Sequence[Type]:
    """Return the broadcast of `a` and `b`; leave the type unknown for a larger `cond`, which coremltools disregards."""
    a, b = op.tensor("a"), op.tensor("b")
    shape = broadcast_of(op, "a", "b")
    if a.dtype != b.dtype or broadcast_of(op, "a", "b", "cond") != shape:
        raise Unknown
    return [TensorType(a.dtype, shape)]


REDUCTIONS = "l1_norm l2_norm log_sum log_sum_exp max mean min prod sum sum_square"


@rule(*(f"reduce_{name}" for name in REDUCTIONS.split()))
def reduction(op: Arguments) -> Sequence[Type]:
    """Return `x` without the dimensions in `axes` (all by default, none for an empty list), or with 1 in their
    place.
    """
    axes = op.vector("axes", int) if op.has("axes") else range(len(op.shape("x")))
    return [TensorType(op.tensor("x").dtype, _reduced(op, axes))]


@rule("reduce_argmax", "reduce_argmin")
def reduction_to_index(op: Arguments) -> Sequence[Type]:
    """Return `x` without the dimension `axis` (the last by default), of int32 or of `output_dtype`."""
    dtype = named(op.scalar("output_dtype", str, "int32").lower())
    return [TensorType(dtype, _reduced(op, [op.scalar("axis", int, -1)]))]


def _reduced(op: Arguments, axes: Sequence[int]) -> tuple[int | None, ...]:
    shape, keep = op.shape("x"), op.scalar("keep_dims", bool, False)
    places = {position(axis, len(shape)) for axis in axes}
    return tuple(1 if place in places else size for place, size in enumerate(shape) if keep or place not in places)
