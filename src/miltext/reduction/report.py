"""What a reduction did, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diffing import diff
from miltext.reduction.graph import count_operations

if TYPE_CHECKING:
    from miltext.reduction.trials import Candidate
    from miltext.schema.proto import Function, Program


def sizes(program: Program) -> str:
    """Count a program's operations, inputs and outputs; and its functions, if it has several."""
    functions = [program.functions[name] for name in program.functions]
    counts = [
        (count_operations(program), "operation"),
        (sum(len(each.inputs) for each in functions), "input"),
        (sum(map(_outputs, functions)), "output"),
    ]
    several = [(len(functions), "function")] if len(functions) > 1 else []
    return ", ".join(counted(count, noun) for count, noun in [*several, *counts])


def _outputs(function: Function) -> int:
    return len({name for block in function.block_specializations.values() for name in block.outputs})


def counted(count: int, noun: str) -> str:
    """Count things: `1 test`, `2 tests`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def told(original: Candidate, best: Candidate, tests: int, reused: int) -> str:
    """Return what was made of a model with how many tests, and what `miltext diff` counts between the two."""
    lines = [
        f"before: {sizes(original.program)}",
        f"after:  {sizes(best.program)}",
        f"{counted(tests, 'test')}, {counted(reused, 'more answer')} known from before",
    ]
    difference = diff(original.program, best.program, ignore_weights=True)
    return "\n".join([*lines, *([] if difference.same else ["", difference.to_stat()])]).rstrip() + "\n"
