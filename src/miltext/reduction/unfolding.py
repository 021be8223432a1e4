"""Unfolding of an operation's blocks into the enclosing block: both branches of a `cond`, and a loop's body once.

The outputs of a `cond` are then its first branch's; the outputs of a loop, its body's after the first turn.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from miltext.ir.flow import FLOWS, Variable, variables_of
from miltext.ir.graph import Graph
from miltext.ir.parts import Value

if TYPE_CHECKING:
    from miltext.ir.parts import Op
    from miltext.schema.proto import Program


class Fold(NamedTuple):
    """An operation with blocks: its function, and its place in the function's block for an opset."""

    function: str
    opset: str
    place: int


def folds(program: Program) -> list[Fold]:
    """Return the operations in the functions' own blocks whose blocks can be unfolded."""
    return [
        Fold(function.name, opset, place)
        for function in Graph(program).functions.values()
        for opset, block in function.blocks.items()
        for place, op in enumerate(block)
        if op.blocks and _variables(op) is not None
    ]


def unfold(program: Program, chosen: Collection[Fold]) -> Program:
    """Return a Program in which the blocks of some operations are unfolded."""
    graph = Graph(program)
    for name, opset in {(each.function, each.opset) for each in chosen}:
        block = graph.functions[name].blocks[opset]
        ops = [*block]
        for each in sorted(each for each in chosen if (each.function, each.opset) == (name, opset)):
            _spread(ops[each.place])
        block.outputs = [*dict.fromkeys(block.outputs)]
    return graph.program()


def _variables(op: Op) -> list[Variable] | None:
    """Return the variables of an operation that can be unfolded: the initial value of a loop variable must not be a
    literal.
    """
    found = variables_of(op)
    needs_values = found is not None and bool(FLOWS[op.type].variables)
    return None if needs_values and not all(isinstance(each.argument, Value) for each in found or ()) else found


def _spread(op: Op) -> None:
    """Replace an operation by the operations of its blocks."""
    assert op.block is not None  # it is in a function's block
    for block in op.blocks:
        op.block.insert_before(op, *block)
    variables = _variables(op) or ()
    for variable in variables:
        variable.output.replace_uses(variable.results[0])
    for variable in variables:  # afterwards, since a result may be an input of the body
        for value in variable.inputs:
            if isinstance(variable.argument, Value):
                value.replace_uses(variable.argument)
    op.remove()
