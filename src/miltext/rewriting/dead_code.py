"""The pass `dead-code`: operations that no output, no write to a state and no block needs.

A random operation without a seed stays if a needed one has no seed either: both take their numbers from one sequence,
as the evaluator computes them, and without the one the other would have different numbers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from miltext.checking.findings import named
from miltext.ir.needs import written
from miltext.ir.parts import Op
from miltext.ir.passes import is_dead
from miltext.rewriting.applying import remove_unused
from miltext.rewriting.passes import GraphPass, RuleSite, in_each_function
from miltext.rewriting.random_operations import is_unseeded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.ir.functions import Function
    from miltext.rewriting.operands import ConstantContents


def _sites(function: Function, contents: ConstantContents) -> Iterator[RuleSite]:
    """Yield the dead operations, users before makers. Constants that die with an operation are part of its site."""
    drawing = {op for op in function.walk() if is_unseeded(op, contents)}
    drawn = _needed(function, drawing) if drawing else None
    for op in reversed([*function.walk()]):
        if op.block is not None and is_dead(op):
            yield RuleSite(op, partial(_remove, op), _reason(op, drawing, drawn))


def _reason(op: Op, drawing: set[Op], drawn: Op | None) -> str:
    """Return the reason against the removal of a dead operation; empty if nothing forbids it."""
    if drawn is None or drawing.isdisjoint((op, *op.walk())):
        return ""
    return f"without it, the random numbers of {named(drawn.outputs[0].name)} would change: state the `seed` of both"


def _needed(function: Function, drawing: set[Op]) -> Op | None:
    """Return one of some operations that an output, a write to a state or a block needs; None if there is none."""
    seen = set[Op]()
    todo = [op for op in function.walk() if any(written(op))]
    returned = (value for block in function.blocks.values() for value in block.outputs)
    todo += [value.maker for value in returned if value.maker is not None]
    while todo:
        op = todo.pop()
        if op in seen:
            continue
        seen.add(op)
        if op in drawing:
            return op
        values = (*op.operands, *(value for block in op.blocks for value in block.outputs))
        todo += [value.maker for value in values if value.maker is not None]
    return None


def _remove(op: Op) -> None:
    remove_unused([op])


DEAD_CODE = GraphPass(
    "dead-code",
    in_each_function(_sites),
    source="coremltools: `dead_code_elimination`, at conversion only",
    purpose="nothing needs the operation",
)
