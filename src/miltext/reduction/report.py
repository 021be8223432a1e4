"""What a reduction did, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics.wording import tally
from miltext.diffing import diff
from miltext.reduction.graph import count_operations
from miltext.schema.walk import is_constant, operations

if TYPE_CHECKING:
    from miltext.reduction.trials import Candidate
    from miltext.schema.proto import Function, Program


def sizes(program: Program) -> str:
    """Count a program's operations, constants, inputs and outputs; and its functions, if it has several."""
    functions = [program.functions[name] for name in program.functions]
    counts = [
        (count_operations(program), "operation"),
        (sum(is_constant(operation) for _, operation in operations(program)), "constant"),
        (sum(len(each.inputs) for each in functions), "input"),
        (sum(map(_outputs, functions)), "output"),
    ]
    several = [(len(functions), "function")] if len(functions) > 1 else []
    return ", ".join(tally(count, noun) for count, noun in [*several, *counts])


def _outputs(function: Function) -> int:
    return len({name for block in function.block_specializations.values() for name in block.outputs})


def told(original: Candidate, best: Candidate, tests: int, reused: int) -> str:
    """Return what was made of a model with how many tests, and what `miltext diff` counts between the two."""
    run = tally(tests, "test") + (f", and {tally(reused, 'answer')} known from before" if reused else "")
    lines = [f"before: {sizes(original.program)}", f"after:  {sizes(best.program)}", run]
    difference = diff(original.program, best.program, ignore_weights=True)
    return "\n".join([*lines, *([] if difference.same else ["", difference.to_stat()])]).rstrip() + "\n"
