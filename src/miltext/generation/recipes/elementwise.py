"""Recipes for operations that work element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.generation.calls import Requirements
from miltext.generation.recipes.table import recipe

if TYPE_CHECKING:
    from miltext.generation.calls import Call
    from miltext.schema.types import Shape


@recipe(
    "add", "sub", "mul", "maximum", "minimum",
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor",
)  # fmt: skip
def broadcasting(call: Call) -> None:
    """Generate two tensors, the second of a shape that broadcasts to the first's."""
    call.tensor("x")
    beside(call, "y", "x")


def beside(call: Call, name: str, first: str) -> None:
    """Generate a tensor of a shape that broadcasts to the first's, or the first once more."""
    shape = call.type(first).shape
    if None in shape:
        call.give(name, call.given[first][0])
    else:
        call.of_shape(name, broadcast_part(call, shape))


def broadcast_part(call: Call, shape: Shape) -> Shape:
    """Choose a shape that broadcasts to another one: the same, a scalar, its end, or ones in place of some sizes."""
    ways: list[Shape] = [
        shape,
        (),
        shape[len(shape) // 2 :],
        tuple(1 if place % 2 else size for place, size in enumerate(shape)),
    ]
    return call.choices.pick(ways)


@recipe("real_div", "floor_div", "mod", "pow")
def dividing(call: Call) -> None:
    """Generate a second tensor above 0: integers are not divided by 0, nor raised to negative powers."""
    call.tensor("x")
    shape = call.type("x").shape
    part = () if None in shape else broadcast_part(call, shape)
    call.filled("y", part, dtype=call.type("x").dtype, positive=True)


@recipe("select")
def select(call: Call) -> None:
    """Generate two tensors, the second of the first's shape or a part of it, and a choice for each element."""
    call.tensor("a")
    beside(call, "b", "a")
    shape = call.type("a").shape
    call.of_shape("cond", () if None in shape else broadcast_part(call, shape))


@recipe("clip")
def clip(call: Call) -> None:
    """Generate the least value, and a larger greatest one."""
    call.tensor("x")
    least = call.choices.integer(0, 8) / 8
    call.number("alpha", -least)
    call.number("beta", 1 + call.choices.integer(0, 16) / 8)


@recipe("prelu")
def prelu(call: Call) -> None:
    """Generate one slope for all channels, as all ranks but 4 require."""
    call.tensor("x")
    call.number("alpha", *[call.choices.integer(1, 8) / 8] * call.size("c"), shape=(call.size("c"),))


@recipe("flatten2d")
def flatten2d(call: Call) -> None:
    """Generate an existing axis: coremltools 9.0 fails on the one after the last (iOS15/tensor_operation.py)."""
    call.ranked("x")
    if call.choices.flag():
        call.number("axis", call.choices.integer(0, len(call.shape("x")) - 1))
    call.leave_out("axis")


@recipe("const")
def const(call: Call) -> None:
    """Generate a tensor."""
    call.filled("val", (call.choices.integer(1, 4),), dtype="fp32")


DISTRIBUTED = {"mean": (-4, 4), "stddev": (0, 16), "low": (-8, 0), "high": (1, 8)}
"""The least and the most eighths of parameters given together, or not at all: they share a data type."""


@recipe("fill", "random_bernoulli", "random_normal", "random_uniform")
def made_of_shape(call: Call) -> None:
    """Generate the shape of a new tensor."""
    rank = call.choices.integer(1, 4)
    call.vector("shape", [call.choices.integer(1, 4) for _ in range(rank)])
    if call.choices.flag():
        for name in filter(call.has, DISTRIBUTED):
            call.number(name, call.choices.integer(*DISTRIBUTED[name]) / 8)
    call.leave_out(*DISTRIBUTED)


@recipe("random_categorical")
def random_categorical(call: Call) -> None:
    """Generate finite numbers to draw by."""
    call.tensor("x", Requirements(fresh=True))
    if call.choices.rarely():
        call.number("mode", "logits")  # "probs" takes distributions alone
    call.leave_out("mode")


@recipe("range_1d")
def range_1d(call: Call) -> None:
    """Generate a range of a few numbers."""
    count, step = call.choices.integer(1, 6), call.choices.integer(1, 3)
    start = call.choices.integer(0, 3)
    sign = -1 if call.choices.flag() else 1
    call.number("end", start + sign * count * step)
    call.number("start", start)
    call.number("step", sign * step)


@recipe("band_part")
def band_part(call: Call) -> None:
    """Generate matrices."""
    call.ranked("x", 2)


@recipe("local_response_norm")
def local_response_norm(call: Call) -> None:
    """Generate a tensor and an odd number of channels to sum."""
    call.tensor("x")
    call.number("size", 1 + 2 * call.choices.integer(0, 2))
