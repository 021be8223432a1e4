"""The variables of operations with blocks: for each, an argument, block inputs, block outputs and an output.

The source is the definition of coremltools' operations (`mil/ops/defs/iOS15/control_flow.py`): `cond` returns the
results of the branch that runs; `while_loop` passes `loop_vars` to both blocks, the test and the body, and the body's
outputs to the next turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.ir.parts import Op

if TYPE_CHECKING:
    from miltext.ir.functions import Block
    from miltext.ir.parts import Operand, Value


class Flow(NamedTuple):
    """The flow of values through the blocks of an operation.

    `variables` is the parameter whose arguments are the inputs of every block, if the blocks have inputs. `results` are
    the indices of the blocks whose outputs are the operation's outputs. `test` is the index of the block that
    determines whether another turn runs, and `decides` the parameter that selects the block to run.
    """

    blocks: int
    results: tuple[int, ...]
    variables: str = ""
    test: int | None = None
    decides: str = ""


FLOWS = {
    "cond": Flow(blocks=2, results=(0, 1), decides="pred"),
    "while_loop": Flow(blocks=2, results=(1,), variables="loop_vars", test=0),
}
"""The flow of each operation that has blocks."""


class Variable(NamedTuple):
    """A variable: its initial argument, its block inputs, its block outputs, and the output."""

    argument: Operand
    inputs: tuple[Value, ...]
    results: tuple[Value, ...]
    output: Value


def variables_of(op: Op) -> list[Variable] | None:
    """Return the variables of an operation with blocks, in order.

    None for an operation of another kind, and for different numbers of arguments, block inputs, block outputs and
    outputs.
    """
    flow = FLOWS.get(op.type)
    if flow is None or len(op.blocks) != flow.blocks:
        return None
    arguments = op.inputs.get(flow.variables, [])
    inputs = [block.inputs for block in op.blocks]
    results = [op.blocks[place].outputs for place in flow.results]
    counts = {*map(len, results), *([len(arguments), *map(len, inputs)] if flow.variables else [])}
    if counts != {len(op.outputs)} or (not flow.variables and any(inputs)):
        return None
    return [
        Variable(
            arguments[place] if flow.variables else None,
            tuple(side[place] for side in inputs if flow.variables),
            tuple(side[place] for side in results),
            output,
        )
        for place, output in enumerate(op.outputs)
    ]


def carried_into(block: Block, value: Value) -> Operand:
    """Return the initial argument of a block's input; None for an input of a function's block."""
    if not isinstance(block.owner, Op) or block.owner.type not in FLOWS or value not in block.inputs:
        return None
    arguments = block.owner.inputs.get(FLOWS[block.owner.type].variables, [])
    place = block.inputs.index(value)
    return arguments[place] if place < len(arguments) else None
