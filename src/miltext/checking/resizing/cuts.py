"""Slices of one value that together are all of an axis: the windows of adaptive pooling, or the steps of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from miltext.checking.inference.operands import read_value
from miltext.checking.inference.reading import Constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.checking.inference.operands import Value
    from miltext.checking.inference.reading import Block, Operation

Cuts: TypeAlias = "dict[int, set[tuple[int, int]]]"
"""From where to where slices of a value go, by axis."""

MASKS = ("begin_mask", "end_mask", "squeeze_mask")


def cuts_of(block: Block) -> dict[str, Cuts]:
    """Return the cuts of each value that a block slices by constants, by its name."""
    slices = [each for each in block.operations if each.type == "slice_by_index"]
    if len(slices) <= 1:
        return {}
    constants = {each.outputs[0].name: each for each in block.operations if each.type == "const" and each.outputs}
    found: dict[str, Cuts] = {}
    for operation in slices:
        [x, *_] = operation.inputs.get("x", [None])
        begin, end = (_value(operation, name, constants) for name in ("begin", "end"))
        if not isinstance(x, str) or not isinstance(begin, tuple) or not isinstance(end, tuple):
            continue
        masks = [_value(operation, name, constants) or (False,) * len(begin) for name in MASKS]
        if all(isinstance(each, tuple) and len(each) == len(begin) for each in (end, *masks)):
            _note(found.setdefault(x, {}), begin, end, masks)
    return found


def _note(cuts: Cuts, begin: Value, end: Value, masks: Sequence[Value]) -> None:
    """Note where a slice begins and ends, at each axis where it says both."""
    for axis, (first, last, from_start, to_end, squeezed) in enumerate(zip(begin, end, *masks, strict=True)):  # type: ignore[arg-type]
        if squeezed and not from_start:
            cuts.setdefault(axis, set()).add((first, first + 1))
        elif not to_end:
            cuts.setdefault(axis, set()).add((0 if from_start else first, last))


def _value(operation: Operation, name: str, constants: dict[str, Operation]) -> Value:
    """Return the value of a parameter that is a literal, or a `const` of the block."""
    [binding, *_] = operation.inputs.get(name, [None])
    if isinstance(binding, str):
        made = constants.get(binding)
        binding = made.attributes.get("val") if made is not None else None
    return read_value(binding.message, binding.stated.type) if isinstance(binding, Constant) else None


def parts(size: int, count: int) -> list[tuple[int, int]]:
    """Return from where to where the windows of adaptive pooling go: so many parts of a size, as even as can be.

    Source: `_get_kernel_indexes_1d_for_adaptive_pooling` in coremltools/converters/mil/frontend/torch/ops.py.
    """
    return [(place * size // count, -(-(place + 1) * size // count)) for place in range(count)]


def count_of(cuts: Cuts, axis: int, size: int) -> int:
    """Return in how many even parts slices cut an axis; 0 where they do not."""
    found = cuts.get(axis, set())
    return len(found) if len(found) > 1 and found == {*parts(size, len(found))} else 0
