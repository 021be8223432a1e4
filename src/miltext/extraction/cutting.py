"""The part of a Program between values: a Program again, whose only function takes and gives those."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from miltext.extraction.planning import plan
from miltext.extraction.wanted import wanted_values
from miltext.printing.flexible_shapes import keep_inputs
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.extraction.planning import BlockPlan, Plan
    from miltext.schema.proto import Block, Function, Program


@with_room
def cut(
    program: Program,
    outputs: Iterable[str] | str,
    inputs: Iterable[str] | str = (),
    *,
    function: str | None = None,
    later_writes: bool = True,
) -> Program:
    """Return the part of a Program that makes the `outputs`, given the `inputs`: a Program with that one function.

    Names, types, attributes and order stay. The function is the one that has all of the values, or the one of the name
    `function`; it takes those of its inputs that are still needed, and then the `inputs`, of the types that they have.
    All that is written to a state that the part uses is in it; without `later_writes`, only what is written before a
    use. Blocks for other opsets are in it if they have the values, too. A value that is given in the place of one
    output of several gets a new name where it is made.

    Raise ModelError: MIL430 for what is unknown, MIL446 for what cannot be an input, MIL447 for an input that no
    output needs, MIL448 for what cannot be an output.
    """
    with gc_paused:
        return as_planned(program, plan(program, wanted_values(outputs, inputs), function, later_writes=later_writes))


def as_planned(program: Program, planned: Plan) -> Program:
    """Return what stays of a Program."""
    made = program.__class__()
    made.CopyFrom(program)
    for name in [each for each in made.functions if each != planned.function]:
        del made.functions[name]
    function = made.functions[planned.function]
    for opset in planned.left_out:
        del function.block_specializations[opset]
    for opset, block in planned.blocks.items():
        _keep(function.block_specializations[opset], block, planned.outputs)
    leave_inputs(function, planned.taken)
    function.inputs.extend(planned.new)
    return made


def _keep(block: Block, planned: BlockPlan, outputs: Iterable[str]) -> None:
    """Leave in a block what stays of it."""
    for (place, index), name in planned.renamed.items():
        block.operations[place].outputs[index].name = name
    leave_operations(block, planned.operations)
    block.outputs[:] = outputs


def leave_inputs(function: Function, names: Collection[str]) -> None:
    """Leave in a function the inputs of some names, and what it notes of their shapes."""
    inputs = [value for value in function.inputs if value.name in names]
    del function.inputs[:]
    function.inputs.extend(inputs)
    keep_inputs(function.attributes, names)


def leave_operations(block: Block, places: Iterable[int]) -> None:
    """Leave in a block the operations at some places, in that order."""
    operations = [block.operations[place] for place in places]
    del block.operations[:]
    block.operations.extend(operations)
