"""Rules for ops that create tensors from shapes or numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, InputConflict, number
from miltext.checking.inference.rules import replaced, rule, tensor, whole
from miltext.diagnostics import codes
from miltext.schema.types import TensorType, Type

TYPED_BY = {
    "fill": ("value",),
    "random_bernoulli": ("prob",),
    "random_normal": ("mean", "stddev"),
    "random_uniform": ("low", "high"),
}
"""The parameters that share the data type of the tensor."""


@rule(*TYPED_BY)
def filled(op: Arguments) -> Sequence[Type]:
    """Return a tensor of the given shape, with the data type of its value (fp32 by default)."""
    dtypes = {name: op.tensor(name).dtype for name in TYPED_BY[op.op_type] if op.has(name)}
    for name, dtype in dtypes.items():
        first, other = next(iter(dtypes.items()))
        if dtype != other:
            clause = f"is {dtype}, but `{first}` is {other}: they must be of one data type"
            raise InputConflict(clause, name, first, code=codes.DTYPES_DIFFER)
    if op.op_type == "random_uniform":
        _hold_order(op)
    return tensor(next(iter(dtypes.values()), "fp32"), *op.sizes("shape"))


def _hold_order(op: Arguments) -> None:
    low, high = (number(op.all(name)[0].value) if op.has(name) else None for name in ("low", "high"))
    if low is not None and high is not None and low > high:
        raise InputConflict(
            f"is {high:g} and must not be smaller than `low`, which is {low:g}",
            "high",
            "low",
            code=codes.VALUE_OUT_OF_RANGE,
        )


@rule("random_categorical")
def random_categorical(op: Arguments) -> Sequence[Type]:
    """Return `size` (1 by default) draws in place of the last dimension of `x`."""
    x = op.tensor("x")
    return [TensorType(x.dtype, replaced(x.shape, -1, op.scalar("size", int, 1)))]


@rule("range_1d")
def range_1d(op: Arguments) -> Sequence[Type]:
    """Return the numbers from `start` to before `end`, `step` apart, of their data type.

    coremltools 9.0 computes the numbers of a known range in fp64; later versions use that data type.
    """
    dtype = op.tensor("start").dtype
    start, end, step = (_bound(op, name) for name in ("start", "end", "step"))
    if step == 0:
        raise InputConflict("must not be 0", "step", code=codes.VALUE_OUT_OF_RANGE)
    if start is None or end is None or step is None:
        return tensor(dtype, None)
    if (end - start) * step < 0:
        clause = f"is {step:g}, and does not lead from `start`, {start:g}, to `end`, {end:g}"
        raise InputConflict(clause, "step", "start", "end", code=codes.VALUE_OUT_OF_RANGE)
    steps = whole((end - start) / step, math.ceil)
    return tensor(dtype, None if steps is None else max(0, steps))


def _bound(op: Arguments, name: str) -> float | None:
    """Return a number of a range, None when it is unknown."""
    found = number(op.all(name)[0].value)
    if found is not None and not math.isfinite(found):
        raise InputConflict(f"must be finite, not {found}", name, code=codes.VALUE_OUT_OF_RANGE)
    return found
