"""Removal of unneeded parts of a Program: operations, constants, inputs, and repeated outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.extraction.cutting import leave_inputs
from miltext.ir.needs import Needs
from miltext.ir.passes import remove_where

if TYPE_CHECKING:
    from miltext.ir.functions import Block, Function
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Value


def sweep(graph: Graph) -> bool:
    """Remove all parts of a graph that its outputs do not need.

    Return whether each block that returned a value of its operations still does.
    """
    swept = [_sweep_function(function) for function in graph.functions.values()]
    return all(swept)


def _sweep_function(function: Function) -> bool:
    taken: set[Value] = set()
    is_whole = [_sweep_block(block, taken) for block in function.blocks.values()]
    leave_inputs(function, {value.name for value in taken})
    return all(is_whole)


def _sweep_block(block: Block, taken: set[Value]) -> bool:
    """Sweep a block, and add its values from outside to `taken`."""
    outputs = [*dict.fromkeys(block.outputs)]
    made = {*block.made()}
    needed = Needs(block).of(outputs)
    taken.update(needed.outside)
    block.outputs = outputs
    staying = {*needed.ops}
    remove_where(block, lambda op: op not in staying)
    remove_where((inner for op in block for inner in op.walk()), lambda op: op.is_constant and not op.is_used)
    return bool(outputs) and (not made or not made.isdisjoint(outputs))
