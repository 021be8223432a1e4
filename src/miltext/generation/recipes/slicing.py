"""Recipes for slices of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.generation.recipes.table import recipe

if TYPE_CHECKING:
    from miltext.generation.calls import Call


@recipe("slice_by_index", "slice_update")
def slice_by_index(call: Call) -> None:
    """Generate bounds that leave something of each dimension, and masks that open an end or drop a dimension."""
    call.ranked("x")
    shape, choices = call.shape("x"), call.choices
    begin = [choices.integer(0, size - 1) for size in shape]
    end = [choices.integer(first + 1, size) for first, size in zip(begin, shape, strict=True)]
    stride = [1 if choices.integer(0, 3) < 3 else 2 for _ in shape]
    call.vector("begin", begin)
    call.vector("end", end)
    masks = {name: [choices.rarely() for _ in shape] for name in ("begin_mask", "end_mask", "squeeze_mask")}
    if any(step > 1 for step in stride):
        call.vector("stride", stride)
    for name, mask in masks.items():
        if any(mask):
            call.vector(name, mask)
        call.leave_out(name)
    call.leave_out("stride")
    if call.known.name == "slice_update":
        _update(call, shape, masks, begin, end, stride)


def _update(
    call: Call,
    shape: tuple[int, ...],
    masks: dict[str, list[bool]],
    begin: list[int],
    end: list[int],
    stride: list[int],
) -> None:
    """Generate the replacement of a slice."""
    sizes = []
    for axis, size in enumerate(shape):
        first = 0 if masks["begin_mask"][axis] else begin[axis]
        last = size if masks["end_mask"][axis] else end[axis]
        if not masks["squeeze_mask"][axis]:
            sizes.append(len(range(first, last, stride[axis])))
    call.of_shape("update", tuple(sizes), call.type("x").dtype)


@recipe("slice_by_size")
def slice_by_size(call: Call) -> None:
    """Generate ranges inside the tensor; -1 is all the rest."""
    call.ranked("x")
    begin = [call.choices.integer(0, size - 1) for size in call.shape("x")]
    room = [size - first for first, size in zip(begin, call.shape("x"), strict=True)]
    call.vector("begin", begin)
    call.vector("size", [-1 if call.choices.rarely() else call.choices.integer(1, size) for size in room])
