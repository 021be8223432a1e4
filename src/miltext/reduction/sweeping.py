"""What nothing needs any more, taken out of a Program: operations, constants, inputs, and outputs that come twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.extraction.cutting import leave_inputs, leave_operations
from miltext.extraction.needs import Needs, free_names
from miltext.schema.walk import is_constant

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Function, Program


def sweep(program: Program) -> bool:
    """Take out of a Program, in place, what its outputs do not need.

    Return whether something is left to give out: in every block an output that an operation of it makes, if it had one.
    """
    swept = [_sweep_function(program.functions[name]) for name in program.functions]
    return all(swept)


def _sweep_function(function: Function) -> bool:
    taken = set[str]()
    is_whole = True
    for opset in sorted(function.block_specializations):
        block = function.block_specializations[opset]
        is_whole &= _sweep_block(function, block, taken)
    leave_inputs(function, taken)
    return is_whole


def _sweep_block(function: Function, block: Block, taken: set[str]) -> bool:
    """Sweep a block, and add what it takes from outside to `taken`."""
    outputs = list(dict.fromkeys(block.outputs))
    made = {value.name for operation in block.operations for value in operation.outputs}
    needed = Needs(function, block).of(outputs)
    taken |= needed.names
    leave_operations(block, needed.operations)
    block.outputs[:] = outputs
    for operation in block.operations:
        for inner in operation.blocks:
            _sweep_constants(inner)
    return bool(outputs) and (not made or not made.isdisjoint(outputs))


def _sweep_constants(block: Block) -> None:
    """Take the constants that nothing uses out of a block inside an operation, and of those inside that."""
    used = {*block.outputs}.union(*map(free_names, block.operations))
    is_used = [not used.isdisjoint(value.name for value in each.outputs) for each in block.operations]
    places = [nth for nth, each in enumerate(block.operations) if is_used[nth] or not is_constant(each)]
    if len(places) < len(block.operations):
        leave_operations(block, places)
        _sweep_constants(block)
        return
    for operation in block.operations:
        for inner in operation.blocks:
            _sweep_constants(inner)
