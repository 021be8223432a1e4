"""The most memory that the values of a function take at a time, in the order of the program.

A value lives from the operation that makes it to the last one that uses it, an input from the beginning, and an output
to the end. Views share the memory of their source. Constants and states do not count. While an operation with
blocks runs, the values of the block that needs the most live too; a loop is one turn, whose variables are views of the
arguments, and the outputs of a block become those of its operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.costing.formulas import VIEWS
from miltext.ir.liveness import last_places
from miltext.ir.parts import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from miltext.ir.functions import Block
    from miltext.ir.parts import Op


class Peak(NamedTuple):
    """The moment with the most memory: its bytes, the innermost operation that runs, None for the beginning, and the
    living values that take memory.
    """

    bytes: int
    op: Op | None
    values: tuple[Value, ...]


def peak_of(block: Block, inputs: Sequence[Value], size: Callable[[Value], int]) -> Peak:
    """Return the peak of a block whose own values begin with these inputs; `size` returns the bytes of a value."""
    ops = [op for op in block if not op.is_constant]
    lives = _Lives(block, ops, inputs)
    present = sum(map(size, inputs))
    best, at, inner = present, -1, None
    present -= sum(map(size, lives.leaving.get(-1, ())))
    for place, op in enumerate(ops):
        made = sum(map(size, lives.made(op)))
        inside = max((peak_of(each, (), size) for each in op.blocks), key=lambda peak: peak.bytes, default=None)
        total = present + max(made, inside.bytes if inside else 0)
        if total > best:
            best, at, inner = total, place, inside if inside and inside.bytes >= made else None
        present += made - sum(map(size, lives.leaving.get(place, ())))
    values = tuple(value for value in lives.at(at, without_made=inner is not None) if size(value))
    if inner is None:
        return Peak(best, ops[at] if at >= 0 else None, values)
    return Peak(best, inner.op or ops[at], (*values, *inner.values))


class _Lives:
    """The values of a block that have memory of their own, with the places of their first and last operations."""

    def __init__(self, block: Block, ops: Sequence[Op], inputs: Sequence[Value]) -> None:
        self._sources: dict[Value, Value | None] = {}
        self._first: dict[Value, int] = dict.fromkeys(inputs, -1)
        self._last: dict[Value, int] = dict.fromkeys(inputs, -1)
        for place, op in enumerate(ops):
            if op.type in VIEWS and op.outputs:
                source = op.operand(VIEWS[op.type])
                self._sources[op.outputs[0]] = self._sources.get(source, source) if isinstance(source, Value) else None
            self._first.update(dict.fromkeys(self.made(op), place))
        used = last_places(ops) | dict.fromkeys(block.outputs, len(ops))
        for value, place in used.items():
            own = self._sources.get(value, value)
            if own in self._first:
                self._last[own] = max(self._last.get(own, -1), place)
        self.leaving: dict[int, list[Value]] = {}
        for value, place in self._last.items():
            self.leaving.setdefault(place, []).append(value)

    def made(self, op: Op) -> list[Value]:
        """Return the outputs of an operation except views."""
        return [value for value in op.outputs if value not in self._sources]

    def at(self, place: int, *, without_made: bool) -> list[Value]:
        """Return the values that live while an operation runs, in their order, without its outputs if told so."""
        return [
            value
            for value, first in self._first.items()
            if first <= place <= self._last[value] and not (without_made and first == place)
        ]
