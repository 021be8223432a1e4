"""The range of an operation's result, from the ranges of its operands.

Functions that the Neural Engine reads from tables get room for their largest measured errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from miltext.bounds.intervals import (
    UNKNOWN,
    ZERO,
    Interval,
    added,
    hull,
    inverted,
    magnitude,
    multiplied,
    negated,
    squared,
)
from miltext.bounds.sums import SUMS, count_of
from miltext.schema.dtypes import LEAST_HALF

if TYPE_CHECKING:
    from miltext.bounds.operands import Operands

Transfer: TypeAlias = "Callable[[Operands], Interval]"

TABLE_ERROR = 0.01
"""More than the largest relative or absolute error of a function by a table (f3_lut_m6.txt)."""

LARGE = 2.0**100
"""A number from which on the sums of products inside an operation may leave the range of fp32."""

# ---- operations that move elements, or choose among them

MOVED = {
    "x": (
        "identity cast reshape reshape_like transpose expand_dims squeeze flatten2d tile reverse reverse_sequence "
        "slice_by_index slice_by_size gather gather_along_axis gather_nd depth_to_space space_to_depth pixel_shuffle "
        "pixel_unshuffle split max_pool reduce_max reduce_min resize_nearest_neighbor upsample_nearest_neighbor topk "
        "sliding_windows upsample_bilinear resize_bilinear"
    ),
    "values": "concat stack",
}
"""Operations whose results are elements of one parameter, or between them."""

CHOOSING = "abs clip maximum minimum pad relu relu6 select slice_update fill fill_like one_hot"
"""Operations whose results are elements or limits, or differ from them in the sign."""

EXACT = frozenset(" ".join([*MOVED.values(), CHOOSING]).split()) - {"upsample_bilinear", "resize_bilinear"}
"""Operations without an error of their own: no more than their data type rounds."""

WITH_ZERO = "band_part crop space_to_batch batch_to_space"
"""Operations whose results are between 0 and the elements of `x`."""


def _hull(*names: str) -> Transfer:
    return lambda operands: hull(operands.interval(name) for name in names if name in operands)


def _hull_with_zero(operands: Operands) -> Interval:
    return hull([operands.interval("x"), ZERO])


def _padded(operands: Operands) -> Interval:
    value = operands.interval("constant_val") if "constant_val" in operands else ZERO
    return hull([operands.interval("x"), value, ZERO])


# ---- arithmetic


def _binary(function: Callable[[Interval, Interval], Interval]) -> Transfer:
    return lambda operands: function(operands.interval("x"), operands.interval("y"))


def _divided(x: Interval, y: Interval) -> Interval:
    return multiplied(x, inverted(y))


def _least(x: Interval, y: Interval) -> Interval:
    return Interval(min(x.low, y.low), min(x.high, y.high), x.is_known and y.is_known)


def _greatest(x: Interval, y: Interval) -> Interval:
    return Interval(max(x.low, y.low), max(x.high, y.high), x.is_known and y.is_known)


def _power(operands: Operands) -> Interval:
    x, exponent = operands.interval("x"), operands.array("y")
    if exponent is None or exponent.size != 1:
        return UNKNOWN
    degree = float(exponent.reshape(-1)[0])
    if degree > 0 and degree % 2 == 0:
        return magnitude(x).mapped(lambda number: number**degree, error=TABLE_ERROR)
    if degree > 0 and (degree % 2 == 1 or x.low >= 0):
        above = Interval(max(x.low, 0), max(x.high, 0), x.is_known).mapped(lambda size: size**degree, error=TABLE_ERROR)
        below = Interval(max(-x.high, 0), max(-x.low, 0), x.is_known)
        return hull([above, negated(below.mapped(lambda size: size**degree, error=TABLE_ERROR))])
    return UNKNOWN


# ---- functions


def _rising(function: Callable[[float], float], *, error: float = TABLE_ERROR) -> Transfer:
    return lambda operands: operands.interval("x").mapped(function, error=error)


def _within(low: float, high: float) -> Transfer:
    return lambda _: Interval(low, high)


def _clip(operands: Operands) -> Interval:
    return operands.interval("x").clipped(operands.number("alpha", -math.inf), operands.number("beta", math.inf))


def _exp(number: float) -> float:
    return math.exp(number) if number > -math.inf else 0.0


def _averaged(operands: Operands) -> Interval:
    """Return the range of means; a sum of very large numbers may be infinite in fp32."""
    return _hull_with_zero(operands) if operands.interval("x").size < LARGE else UNKNOWN


def _attended(operands: Operands) -> Interval:
    """Return the range of means of `value`; a row without any is NaN, as one with a sum out of range."""
    is_large = operands.interval("query").size * operands.interval("key").size >= LARGE
    is_sure = not is_large and "attn_mask" not in operands
    return operands.interval("value")._replace(is_sure=is_sure)


def _softplus(number: float) -> float:
    return max(number, 0) + math.log1p(math.exp(-abs(number)))


def _gated(operands: Operands) -> Interval:
    """Return the range of x times a number from 0 to 1, which is above -1: gelu, silu, and hard or soft kinds."""
    x = operands.interval("x")
    return Interval(max(min(x.low, 0), -1), max(x.high, 0), x.is_known)


def _bent(operands: Operands) -> Interval:
    """Return the range of x where x > 0, and of alpha x elsewhere."""
    x, slope = operands.interval("x"), operands.interval("alpha")
    return hull([x, multiplied(x, slope), ZERO])


def _elu(operands: Operands) -> Interval:
    x, slope = operands.interval("x"), operands.number("alpha", 1)
    return hull([Interval(0, max(x.high, 0), x.is_known), Interval(min(-slope, 0), max(-slope, 0))])


def _positive(function: Callable[[float], float], usual: float) -> Transfer:
    """Return a falling or rising function of x + epsilon for positive numbers."""

    def ranged(operands: Operands) -> Interval:
        epsilon, x = operands.number("epsilon", usual), operands.interval("x")
        ends = [end + epsilon for end in x[:2]]
        if min(ends) <= 2.0**-14:  # it may round to 0
            return UNKNOWN
        first, last = sorted(function(end) for end in ends)
        room = [TABLE_ERROR * (1 + abs(end)) for end in (first, last)]
        return Interval(first - room[0], last + room[1], x.is_known)

    return ranged


def _root(operands: Operands) -> Interval:
    x = operands.interval("x")
    if x.low < 0:
        return UNKNOWN  # it may be NaN
    return Interval(0, math.sqrt(x.high) * (1 + TABLE_ERROR), x.is_known)


def _linear_activation(operands: Operands) -> Interval:
    slope, offset = operands.interval("alpha"), operands.interval("beta")
    return added(multiplied(operands.interval("x"), slope), offset)


# ---- normalization and reductions


def _divides(operands: Operands) -> bool:
    """Return whether a division by the size of a row has a number as its result: it is neither 0 nor out of range."""
    return operands.number("epsilon", 1e-5) >= LEAST_HALF and operands.interval("x").size < math.sqrt(LARGE)


def _standardized(operands: Operands, count: int | None) -> Interval:
    """Return the range of gamma x + beta for x with mean 0 and variance 1, which is at most sqrt(count) in size."""
    if count is None:
        return UNKNOWN
    size = math.sqrt(count) * (1 + TABLE_ERROR)
    made = Interval(-size, size, is_sure=_divides(operands))
    if "gamma" in operands:
        made = multiplied(made, operands.interval("gamma"))
    return added(made, operands.interval("beta")) if "beta" in operands else made


def _layer_norm(operands: Operands) -> Interval:
    return _standardized(operands, count_of(operands))


def _instance_norm(operands: Operands) -> Interval:
    shape = operands.shape("x")
    return _standardized(operands, None if shape is None else math.prod(shape[2:]))


def _batch_norm(operands: Operands) -> Interval:
    mean, variance = operands.array("mean"), operands.array("variance")
    if mean is None or variance is None:
        return UNKNOWN
    gamma = operands.array("gamma") if "gamma" in operands else np.ones_like(mean)
    beta = operands.array("beta") if "beta" in operands else np.zeros_like(mean)
    if gamma is None or beta is None:
        return UNKNOWN
    scale = gamma / np.sqrt(variance + operands.number("epsilon", 1e-5))
    x = operands.interval("x")
    if not math.isfinite(x.size):
        return UNKNOWN
    ends = np.stack([(end - mean) * scale + beta for end in x[:2]])
    room = float(np.max(np.abs(scale)) * (x.size + np.max(np.abs(mean)))) * 2.0**-10
    return Interval(float(ends.min()) - room, float(ends.max()) + room, x.is_known)


def _summed(operands: Operands) -> Interval:
    found = SUMS[operands.step.operation.type](operands)
    return UNKNOWN if found is None else found.whole


def _norm(operands: Operands) -> Interval:
    found = SUMS["reduce_l2_norm"](operands)
    if found is None:
        return UNKNOWN
    return Interval(0, math.sqrt(max(found.whole.high, 0)) * (1 + TABLE_ERROR), found.whole.is_known)


def _log_sum_exp(operands: Operands) -> Interval:
    x, count = operands.interval("x"), count_of(operands)
    if not count:
        return UNKNOWN
    room = TABLE_ERROR * (1 + x.size)
    return Interval(min(x.low, 0) - room, x.high + math.log(count) + room, x.is_known)


TRANSFERS: dict[str, Transfer] = {
    **{name: _hull(source) for source, names in MOVED.items() for name in names.split()},
    **dict.fromkeys(WITH_ZERO.split(), _hull_with_zero),
    **dict.fromkeys(SUMS, _summed),
    "avg_pool": _averaged,
    "pad": _padded,
    "select": _hull("a", "b"),
    "slice_update": _hull("x", "update"),
    "fill": _hull("value"),
    "fill_like": _hull("value"),
    "one_hot": _hull("on_value", "off_value"),
    "add": _binary(added),
    "sub": _binary(lambda x, y: added(x, negated(y))),
    "mul": _binary(multiplied),
    "real_div": _binary(_divided),
    "maximum": _binary(_greatest),
    "minimum": _binary(_least),
    "pow": _power,
    "abs": lambda operands: magnitude(operands.interval("x")),
    "square": lambda operands: squared(operands.interval("x")),
    "sign": _within(-1, 1),
    "floor": _rising(lambda x: math.floor(x) if math.isfinite(x) else x, error=0),
    "ceil": _rising(lambda x: math.ceil(x) if math.isfinite(x) else x, error=0),
    "round": _rising(lambda x: round(x) if math.isfinite(x) else x, error=0),
    "clip": _clip,
    "relu": lambda operands: operands.interval("x").clipped(0, math.inf),
    "relu6": lambda operands: operands.interval("x").clipped(0, 6),
    "leaky_relu": _bent,
    "prelu": _bent,
    "elu": _elu,
    "linear_activation": _linear_activation,
    "sigmoid": _within(0, 1),
    "sigmoid_hard": _within(0, 1),
    "softmax": _within(0, 1),
    "tanh": _within(-1, 1),
    "softsign": _within(-1, 1),
    "erf": _within(-1, 1),
    "sin": _within(-1, 1),
    "cos": _within(-1, 1),
    "exp": _rising(_exp),
    "exp2": _rising(lambda x: 2.0**x),
    "softplus": lambda operands: hull([operands.interval("x").mapped(_softplus, error=TABLE_ERROR), ZERO]),
    "gelu": _gated,
    "silu": _gated,
    "log": _positive(math.log, 0),
    "rsqrt": _positive(lambda x: 1 / math.sqrt(x), 0),
    "inverse": _positive(lambda x: 1 / x, 1e-4),
    "sqrt": _root,
    "layer_norm": _layer_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "l2_norm": lambda operands: Interval(-1, 1, is_sure=_divides(operands)),
    "reduce_mean": _hull("x"),
    "reduce_l2_norm": _norm,
    "reduce_log_sum_exp": _log_sum_exp,
    "scaled_dot_product_attention": _attended,
}
"""The range of an operation's result; it is unknown for other operations."""
