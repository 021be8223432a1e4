"""The part of a Program between values: a Program again, whose only function takes and gives those."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from miltext.extraction.planning import plan
from miltext.extraction.wanted import wanted_values
from miltext.ir.parts import Value
from miltext.printing.flexible_shapes import ATTRIBUTE, information_of
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.extraction.planning import BlockPlan, Plan
    from miltext.ir.functions import Function
    from miltext.ir.parts import Block
    from miltext.schema.proto import Program


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
        return as_planned(plan(program, wanted_values(outputs, inputs), function, later_writes=later_writes))


def as_planned(planned: Plan) -> Program:
    """Return what stays of a Program; the graph of the plan is edited for it."""
    graph = planned.graph
    for name in [each for each in graph.functions if each != planned.function]:
        del graph.functions[name]
    function = graph.functions[planned.function]
    for opset in planned.left_out:
        function.remove_block(opset)
    function.inputs += [Value(each.name, each, function) for each in planned.new]
    taken = {value.name: value for value in function.inputs}
    for opset, block in planned.blocks.items():
        _keep(function.blocks[opset], block, taken)
    leave_inputs(function, {*planned.taken, *(each.name for each in planned.new)})
    return graph.program()


def _keep(block: Block, planned: BlockPlan, taken: Mapping[str, Value]) -> None:
    """Leave in a block what stays of it; `taken` are the inputs of the function, by name."""
    block.outputs = planned.outputs
    for value, unused in planned.given.items():
        value.replace_uses(taken[value.name])
        value.name = unused
    staying = {*planned.ops.values()}
    for op in reversed([*block]):
        if op not in staying:
            op.remove()


def leave_inputs(function: Function, names: Collection[str]) -> None:
    """Leave in a function the inputs of some names, and what it notes of their shapes."""
    for value in [each for each in function.inputs if each.name not in names]:
        function.remove_input(value)
    attribute = function.attributes.get(ATTRIBUTE)
    kept = information_of(attribute, names)
    if kept is not attribute:
        function.set_attribute(ATTRIBUTE, kept)
