"""The operations and values of two programs that correspond."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.ir.parts import Op, Value
    from miltext.pairing.pairing import PairedBlock, PairedFunction


class Partners(NamedTuple):
    """The old operations and values by the new ones that correspond to them."""

    ops: dict[Op, Op]
    values: dict[Value, Value]


def partners_of(pairs: Iterable[PairedFunction]) -> Partners:
    """Return the partners in all functions, also inside blocks."""
    found = Partners({}, {})
    for pair in pairs:
        if pair.old and pair.new:
            found.values.update((pair.new.inputs[j], pair.old.inputs[i]) for i, j in pair.inputs)
        for block in pair.blocks:
            _enter(block, found)
    return found


def _enter(pair: PairedBlock, found: Partners) -> None:
    """Enter the partners of a block, and of the blocks inside it."""
    if pair.old and pair.new:
        found.values.update((pair.new.inputs[j], pair.old.inputs[i]) for i, j in pair.inputs)
    for _, old, new in pair.partners():
        found.ops[new] = old
        if len(old.outputs) == len(new.outputs):
            found.values.update(zip(new.outputs, old.outputs, strict=True))
    for inner in (each for blocks in pair.inner.values() for each in blocks):
        _enter(inner, found)
