"""The part of a Program between values: a Program whose only function has these as inputs and outputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from miltext.extraction.planning import plan
from miltext.extraction.wanted import wanted_values
from miltext.ir.passes import remove_where
from miltext.printing.flexible_shapes import ATTRIBUTE, information_of
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.extraction.planning import BlockPlan, PartPlan
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Value
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
    """Return the part of a Program that computes the `outputs` from the `inputs`: a Program with a single function.

    Names, types, attributes and order stay. The function is the one named `function`, or the only one with all of the
    values. Its inputs are those of the function that are still needed, and then the `inputs`, with their types. The
    part contains all writes to a state that it uses; without `later_writes`, only the writes before a use. It contains
    the blocks for other opsets that have the values. If an input is one of several outputs of a kept operation, the
    operation's output gets a new name.

    Raise ModelError: MIL430 for an unknown name, MIL446 for an impossible input, MIL447 for an input that no output
    needs, MIL448 for an impossible output.
    """
    with gc_paused:
        return as_planned(plan(program, wanted_values(outputs, inputs), function, later_writes=later_writes))


def as_planned(planned: PartPlan) -> Program:
    """Return the planned part of a Program; this edits the graph of the plan."""
    graph = planned.graph
    for name in [each for each in graph.functions if each != planned.function]:
        del graph.functions[name]
    function = graph.functions[planned.function]
    for opset in planned.left_out:
        function.remove_block(opset)
    for message in planned.new:
        function.declare_input(message)
    taken = {value.name: value for value in function.inputs}
    for opset, block in planned.blocks.items():
        _keep(function.blocks[opset], block, taken)
    leave_inputs(function, {*planned.taken, *(each.name for each in planned.new)})
    return graph.program()


def _keep(block: Block, planned: BlockPlan, taken: Mapping[str, Value]) -> None:
    """Reduce a block to the planned part; `taken` are the inputs of the function, by name."""
    block.outputs = planned.outputs
    for value, unused in planned.given.items():
        value.replace_uses(taken[value.name])
        value.name = unused
    staying = {*planned.ops.values()}
    remove_where(block, lambda op: op not in staying)


def leave_inputs(function: Function, names: Collection[str]) -> None:
    """Keep only the named inputs of a function, and the facts about their shapes."""
    for value in [each for each in function.inputs if each.name not in names]:
        function.remove_input(value)
    attribute = function.attributes.get(ATTRIBUTE)
    kept = information_of(attribute, names)
    if kept is not attribute:
        function.set_attribute(ATTRIBUTE, kept)
