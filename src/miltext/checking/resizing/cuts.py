"""Slices that together cover an axis of a value: the windows of adaptive pooling, or the steps of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from miltext.checking.inference.operands import read_value
from miltext.ir.parts import literal_of
from miltext.schema.types import read_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.checking.inference.operands import Value as Held
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op, Value

Cuts: TypeAlias = "dict[int, set[tuple[int, int]]]"
"""The ranges of the slices of a value, by axis."""

MASKS = ("begin_mask", "end_mask", "squeeze_mask")


def cuts_of(value: Value, block: Block) -> Cuts:
    """Return the constant slices of a value in a block."""
    cuts: Cuts = {}
    for op in value.users:
        if op.type != "slice_by_index" or op.block is not block or op.operand("x") is not value:
            continue
        begin, end = _held(op, "begin"), _held(op, "end")
        if not isinstance(begin, tuple) or not isinstance(end, tuple):
            continue
        masks = [_held(op, name) or (False,) * len(begin) for name in MASKS]
        if all(isinstance(each, tuple) and len(each) == len(begin) for each in (end, *masks)):
            _note(cuts, begin, end, masks)
    return cuts


def _note(cuts: Cuts, begin: Held, end: Held, masks: Sequence[Held]) -> None:
    """Record the begin and the end of a slice at each axis with both."""
    for axis, (first, last, from_start, to_end, squeezed) in enumerate(zip(begin, end, *masks, strict=True)):  # type: ignore[arg-type]
        if squeezed and not from_start:
            cuts.setdefault(axis, set()).add((first, first + 1))
        elif not to_end:
            cuts.setdefault(axis, set()).add((0 if from_start else first, last))


def _held(op: Op, name: str) -> Held:
    """Return the constant value of a parameter."""
    literal = literal_of(op.operand(name))
    return None if literal is None else read_value(literal, read_type(literal.type))


def parts(size: int, count: int) -> list[tuple[int, int]]:
    """Return the ranges of the windows of adaptive pooling: a number of parts of a size, as equal as possible.

    Source: `_get_kernel_indexes_1d_for_adaptive_pooling` in coremltools/converters/mil/frontend/torch/ops.py.
    """
    return [(place * size // count, -(-(place + 1) * size // count)) for place in range(count)]


def count_of(cuts: Cuts, axis: int, size: int) -> int:
    """Return the number of even parts into which slices cut an axis; 0 without such a cut."""
    found = cuts.get(axis, set())
    return len(found) if len(found) > 1 and found == {*parts(size, len(found))} else 0
