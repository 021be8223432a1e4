"""Recipes for operations that put tensors together or take one apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.generation.calls import Requirements
from miltext.generation.recipes.table import recipe

if TYPE_CHECKING:
    from miltext.generation.calls import Call


@recipe("concat")
def concat(call: Call) -> None:
    """Generate tensors whose sizes differ only along the axis; interleaved tensors have equal sizes."""
    call.ranked("values")
    first = call.type("values")
    axis = call.choices.integer(0, len(first.shape) - 1)
    interleaved = call.choices.rarely()
    for _ in range(call.choices.integer(1, 2)):
        same = interleaved or call.choices.flag()
        size = first.shape[axis] if same else call.choices.integer(1, 4)
        call.of_shape("values", (*first.shape[:axis], size, *first.shape[axis + 1 :]), first.dtype)
    call.number("axis", axis)
    if interleaved:
        call.number("interleave", True)
    call.leave_out("interleave")


@recipe("stack")
def stack(call: Call) -> None:
    """Generate tensors of one type."""
    call.ranked("values")
    first = call.type("values")
    for _ in range(call.choices.integer(1, 2)):
        call.of_shape("values", first.shape, first.dtype)
    call.number("axis", call.choices.integer(0, len(first.shape)))


@recipe("split")
def split(call: Call) -> None:
    """Generate the number of equal parts, or the sizes of parts."""
    call.sized("x", lambda shape: max(shape, default=0) > 1, lambda: (1, 2 * call.choices.integer(1, 3)))
    shape = call.shape("x")
    axis = call.choices.pick([axis for axis, size in enumerate(shape) if size > 1])
    size = shape[axis]
    if call.choices.flag():
        first = call.choices.integer(1, size - 1)
        call.vector("split_sizes", [first, size - first])
    else:
        call.number("num_splits", call.choices.pick([part for part in range(2, size + 1) if size % part == 0]))
    call.number("axis", axis)
    call.leave_out("num_splits", "split_sizes")


@recipe("einsum")
def einsum(call: Call) -> None:
    """Generate two tensors of floats, for either existing equation (iOS15/linear.py)."""
    rank = call.choices.integer(3, 4)
    dtype = call.choices.pick(["fp32", "fp16"])
    sizes = [call.choices.integer(1, 4) for _ in range(rank)]
    call.tensor("values", Requirements(where=lambda shape: len(shape) == rank), dtype=dtype, new=lambda: tuple(sizes))
    *batch, _, h, w = call.shape("values")
    call.of_shape("values", (*batch, w, h, call.choices.integer(1, 4)), dtype)
    call.number("equation", "chw,whu->chu" if rank == 3 else "nchw,nwhu->nchu")
