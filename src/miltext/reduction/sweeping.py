"""What nothing needs any more, taken out of a Program: operations, constants, inputs, and outputs that come twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.extraction.needs import Needs
from miltext.printing.flexible_shapes import keep_inputs

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
    inputs = [value for value in function.inputs if value.name in taken]
    del function.inputs[:]
    function.inputs.extend(inputs)
    keep_inputs(function.attributes, taken)
    return is_whole


def _sweep_block(function: Function, block: Block, taken: set[str]) -> bool:
    """Sweep a block, and add what it takes from outside to `taken`."""
    outputs = list(dict.fromkeys(block.outputs))
    made = {value.name for operation in block.operations for value in operation.outputs}
    needed = Needs(function, block).of(outputs)
    taken |= needed.names
    kept = [block.operations[place] for place in needed.operations]
    del block.operations[:], block.outputs[:]
    block.operations.extend(kept)
    block.outputs.extend(outputs)
    return bool(outputs) and (not made or not made.isdisjoint(outputs))
