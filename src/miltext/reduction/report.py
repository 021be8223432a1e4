"""The result of a reduction, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics.wording import tally
from miltext.diffing import diff
from miltext.reduction.graph import count_operations
from miltext.schema.walk import blocks_of, is_constant, operations

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record
    from miltext.reduction.reducing import Reduction
    from miltext.reduction.trials import Candidate
    from miltext.schema.proto import Function, Program


def counts(program: Program) -> dict[str, int]:
    """Count a program's functions, operations, constants, inputs and outputs."""
    functions = [program.functions[name] for name in program.functions]
    return {
        "functions": len(functions),
        "operations": count_operations(program),
        "constants": sum(is_constant(operation.type) for _, operation in operations(program)),
        "inputs": sum(len(each.inputs) for each in functions),
        "outputs": sum(map(_outputs, functions)),
    }


def sizes(program: Program) -> str:
    """Return the counts of a program in words, with the functions if there are several."""
    found = [(count, noun) for noun, count in counts(program).items() if noun != "functions" or count > 1]
    return ", ".join(tally(count, noun.removesuffix("s")) for count, noun in found)


def _outputs(function: Function) -> int:
    return len({name for block in blocks_of(function).values() for name in block.outputs})


def record(done: Reduction) -> Record:
    """Return the result of a reduction and its number of tests, for programs."""
    return {
        "before": counts(done.original.program),
        "after": counts(done.best.program),
        "tests": done.tests,
        "reused": done.reused,
        "complete": done.is_complete,
        "steady": done.is_steady,
    }


def in_words(original: Candidate, best: Candidate, tests: int, reused: int) -> str:
    """Return the result of a reduction and its number of tests, and the counts of `miltext diff` between the two
    models.
    """
    run = tally(tests, "test") + (f", and {tally(reused, 'answer')} known from before" if reused else "")
    lines = [f"before: {sizes(original.program)}", f"after:  {sizes(best.program)}", run]
    difference = diff(original.program, best.program, ignore_weights=True)
    return "\n".join([*lines, *([] if difference.same else ["", difference.to_stat()])]).rstrip() + "\n"
