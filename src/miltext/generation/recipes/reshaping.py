"""Recipes for operations that give a tensor another shape."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from miltext.generation.recipes.table import recipe
from miltext.generation.scope import Redraw

if TYPE_CHECKING:
    from miltext.generation.calls import Call


@recipe("reshape")
def reshape(call: Call) -> None:
    """Generate sizes with the same number of elements, a single size perhaps as -1, the rest."""
    call.ranked("x")
    left, sizes = prod(call.shape("x")), []
    for _ in range(call.choices.integer(0, 3)):
        size = call.choices.pick([each for each in range(1, left + 1) if left % each == 0][:8])
        sizes.append(size)
        left //= size
    call.vector("shape", [*sizes, -1 if call.choices.flag() else left])


@recipe("reshape_like")
def reshape_like(call: Call) -> None:
    """Generate references whose sizes, one after another, have as many elements as there are: the tensor itself."""
    call.ranked("x")
    shape = call.shape("x")
    call.give("ref_tensors", *call.given["x"])
    for name, number in (("begins", 0), ("ends", len(shape)), ("end_masks", call.choices.flag())):
        call.number(name, number, dtype="bool" if name == "end_masks" else "int32")


@recipe("expand_dims")
def expand_dims(call: Call) -> None:
    """Generate places of the result."""
    call.tensor("x")
    rank = len(call.type("x").shape)
    count = call.choices.integer(1, 2)
    call.vector("axes", sorted(call.choices.shuffled(range(rank + count))[:count]))


@recipe("squeeze")
def squeeze(call: Call) -> None:
    """Generate some axes of size 1, or all but one."""
    call.sized("x", lambda shape: 1 in shape and len(shape) > 1, lambda: (1, call.choices.integer(2, 4)))
    ones = [axis for axis, size in enumerate(call.shape("x")) if size == 1]
    call.vector("axes", [call.choices.pick(ones)] if len(ones) < len(call.shape("x")) else ones[1:])


@recipe("pad")
def pad(call: Call) -> None:
    """Generate amounts for the last dimensions, no more than mirrors can fill."""
    call.ranked("x")
    shape = call.shape("x")
    mode = call.choices.pick(["constant", "reflect", "replicate"])
    count = 2 if mode != "constant" else call.choices.integer(1, len(shape))
    if count > len(shape):
        raise Redraw
    amounts = [min(call.choices.integer(0, 2), size - (mode == "reflect")) for size in shape[-count:] for _ in range(2)]
    call.vector("pad", amounts)
    if mode != "constant":
        call.number("mode", mode)
    elif call.choices.flag():
        call.number("constant_val", call.choices.integer(0, 8) / 8, dtype=call.type("x").dtype)
    call.leave_out("mode", "constant_val")


@recipe("reverse_sequence")
def reverse_sequence(call: Call) -> None:
    """Generate a length for each row, and two axes."""
    call.sized("x", lambda shape: len(shape) > 1, lambda: (2, 3))
    sequence, batch = call.choices.shuffled(range(len(call.shape("x"))))[:2]
    lengths = [call.choices.integer(1, call.shape("x")[sequence]) for _ in range(call.shape("x")[batch])]
    call.vector("lengths", lengths)
    call.number("seq_axis", sequence)
    call.number("batch_axis", batch)


@recipe("sliding_windows")
def sliding_windows(call: Call) -> None:
    """Generate windows no longer than the axis."""
    call.ranked("x")
    axis = call.choices.integer(0, len(call.shape("x")) - 1)
    call.number("axis", axis)
    call.number("size", call.choices.integer(1, call.shape("x")[axis]))


@recipe("identity")
def identity(call: Call) -> None:
    """Generate a tensor."""
    call.tensor("x")
