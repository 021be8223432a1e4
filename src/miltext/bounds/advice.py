"""Functions that fail in fp16 within the range of their inputs: the failure, its place, and the spelling to use
instead.

Each row is a public report or plain arithmetic of fp16; `source` names it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.bounds.intervals import UNKNOWN, Interval
from miltext.bounds.sums import count_of
from miltext.evaluation.devices.facts import ISSUES
from miltext.ir.parts import Value, maker_of
from miltext.schema.dtypes import GREATEST_HALF, LEAST_HALF

if TYPE_CHECKING:
    from miltext.bounds.ranging import Bound
    from miltext.ir.parts import Op


class Advice(NamedTuple):
    """A function that fails: its failure, its safe inputs, and the way out. `is_reported` on a device."""

    failure: str
    safe: str
    way_out: str
    source: str
    is_reported: bool = True


Advisor: TypeAlias = "Callable[[Bound], Advice | None]"


def _softplus(bound: Bound) -> Advice | None:
    end = math.log(32768)
    if bound.operands.interval("x").high <= end:
        return None
    return Advice(
        f"the result is 0 from x = {end:.1f} on, where 1 + e^x reaches 32768" + _in_mish(bound.step.operation),
        f"x up to {end:.2f}",
        "write max(x, 0) + log(1 + exp(-|x|))",
        f"{ISSUES}/2687",
    )


def _in_mish(op: Op) -> str:
    """Return words about the mish around a softplus, x tanh(softplus(x)), if there is one."""
    tanhs = [user for user in op.outputs[0].users if user.type == "tanh"]
    inputs = op.values("x")
    products = [user for tanh in tanhs for user in tanh.outputs[0].users if user.type == "mul"]
    is_mish = any(each in user.operands for user in products for each in inputs)
    return "; so mish, x tanh(softplus(x)), is 0 there" if is_mish else ""


def _log_sum_exp(bound: Bound) -> Advice | None:
    count = count_of(bound.operands)
    if count == 0:
        return None
    end = math.log(GREATEST_HALF / (count or 1))
    if bound.operands.interval("x").high <= end:
        return None
    return Advice(
        f"the sum of e^x is out of range from x = {end:.2f} on, and the result is 0",
        f"x up to log(65504 / {count or 'C'}) = {end:.2f}" if count else f"x up to log(65504 / C), at most {end:.2f}",
        "subtract the maximum first: m + log(sum(exp(x - m))) with m = reduce_max(x)",
        f"{ISSUES}/2690",
    )


def _log(bound: Bound) -> Advice | None:
    maker = maker_of(bound.step.operation.operand("x"))
    if maker is None:
        return None
    if maker.type == "softmax":
        return _log_of_softmax(maker, bound)
    sums = {"cumsum", "reduce_sum"}
    before = maker_of(maker.operand("x")) if maker.type in sums else None
    return _log_of_sum(maker, bound) if before is not None and before.type == "exp" else None


def _log_of_softmax(softmax: Op, bound: Bound) -> Advice | None:
    """Return the advice about classes; their number is at most the greatest size."""
    shape = bound.operands.shape("x")
    end = math.log(1 / LEAST_HALF) - (math.log(max(shape)) if shape and max(shape) else 0)
    x = _range(softmax, bound)
    if bound.operands.number("epsilon", 0) >= LEAST_HALF or (shape and x.high - x.low <= end):
        return None
    return Advice(
        "a probability below 2^-24 is 0 in fp16, and its logarithm is -inf",
        f"logits with the greatest less than {end:.1f} above the least" + ("" if shape else ", less log(C)"),
        "write x - m - log(sum(exp(x - m))) with m = reduce_max(x)",
        f"{ISSUES}/2728",
    )


def _range(op: Op, bound: Bound) -> Interval:
    """Return the range of the operand of an operation."""
    source = op.operand("x")
    return bound.ranges.get(source, UNKNOWN) if isinstance(source, Value) else UNKNOWN


def _log_of_sum(maker: Op, bound: Bound) -> Advice | None:
    if bound.ranges.get(maker.outputs[0], UNKNOWN).is_known:  # it is finite
        return None
    end = math.log(GREATEST_HALF)
    name = maker.type
    return Advice(
        f"e^x is infinite in fp16 from x = {end:.2f} on, and {name} adds several of them",
        f"x up to log(65504 / C), at most {end:.2f}, for C terms",
        "subtract the maximum before exp, and add it after log",
        f"{ISSUES}/2729",
    )


def _pow(bound: Bound) -> Advice | None:
    exponent, x = bound.operands.array("y"), bound.operands.interval("x")
    if exponent is None or exponent.size != 1 or (degree := float(exponent.reshape(-1)[0])) <= 1:
        return None
    end = GREATEST_HALF ** (1 / degree)
    if x.size <= end:
        return None
    return Advice(
        f"x to the power of {degree:g} is infinite in fp16 from |x| = {end:.5g} on",
        f"|x| up to {end:.5g}",
        "scale x before, and the result after",
        "the range of fp16",
        is_reported=False,
    )


def _layer_norm(bound: Bound) -> Advice | None:
    count, x = count_of(bound.operands), bound.operands.interval("x")
    if not count:
        return None
    end = math.sqrt(GREATEST_HALF / count)
    if (x.high - x.low) / 2 <= end:
        return None
    return Advice(
        f"the squares of a row of {count} elements may add up to more than 65504, if they are added in fp16",
        f"|x - mean| up to {end:.4g}",
        "scale x before; layer_norm with a scaled epsilon is the same",
        "the range of fp16; how a device adds them was not measured",
        is_reported=False,
    )


ADVISORS: dict[str, Advisor] = {
    "softplus": _softplus,
    "reduce_log_sum_exp": _log_sum_exp,
    "log": _log,
    "pow": _pow,
    "layer_norm": _layer_norm,
}
"""The advice for each operation."""


def advice(bound: Bound) -> Iterator[Advice]:
    """Yield the advice for an operation."""
    advisor = ADVISORS.get(bound.step.operation.type)
    found = advisor(bound) if advisor is not None else None
    if found is not None:
        yield found
