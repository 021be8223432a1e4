"""Whole programs: functions with their inputs, states and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.findings import counted
from miltext.descriptions.program_descriptions import SEVERAL_FUNCTIONS
from miltext.diagnostics import MiltextError, Note, codes, error
from miltext.generation.choices import SeededChoices
from miltext.generation.growing import Growth, declared
from miltext.generation.options import Options, refusal
from miltext.generation.scope import FunctionScope, ScopedValue
from miltext.schema.operations import signature
from miltext.schema.opsets import PROTO_BY_TEXT, specification_of
from miltext.schema.proto import Function, Program
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.generation.choices import Choices


def generate(seed: int = 0, options: Options | None = None) -> Program:
    """Return the valid Program of a seed from 0 on: the same one on every system.

    Raise MiltextError: MIL482 for impossible options, MIL483 if nothing can be generated.
    """
    if seed < 0:
        raise refusal(f"the seed is {seed}, and cannot be less than 0", "choose another one")
    return program(SeededChoices(seed), options or Options())


def program(choices: Choices, options: Options) -> Program:
    """Return a valid Program for these choices. Raise MiltextError (MIL483) if nothing can be generated."""
    opset = choices.pick(_opsets(options))
    made = Program(version=1)
    count = choices.integer(1, options.functions if specification_of(opset) >= SEVERAL_FUNCTIONS else 1)
    for name in ("main", *(f"function_{place}" for place in range(1, count))):
        made.functions[name].CopyFrom(_function(choices, options, opset, alone=count == 1))
    return made


def _opsets(options: Options) -> list[str]:
    """Return the suitable opsets with all requested operations, or else with the most."""
    names = options.operations or ()
    fitting = options.opsets_that_fit()
    having = {opset: sum(signature(name, opset) is not None for name in names) for opset in fitting}
    return [opset for opset in fitting if having[opset] == max(having.values())]


def _function(choices: Choices, options: Options, opset: str, *, alone: bool) -> Function:
    scope = FunctionScope(choices, options, opset)
    growth = Growth(scope)
    count, classifies = choices.integer(*options.ops), alone and _classifies(scope)
    made = growth.grow(count - classifies)
    labels = growth.attempt("classify") if classifies else None
    made += bool(labels) or growth.grow(count - made)
    if made < options.ops[0]:
        raise _nothing_made(options, opset)
    outputs = [*_outputs(growth, len(labels or ())), *(labels or ())]
    function = Function(opset=PROTO_BY_TEXT[opset], inputs=map(declared, [*scope.states, *scope.inputs]))
    function.block_specializations[function.opset].CopyFrom(growth.block([item.name for item in outputs]))
    return function


def _classifies(scope: FunctionScope) -> bool:
    """Return whether a function should end as a classifier."""
    options = scope.options
    if options.operations is not None:
        return "classify" in options.operations
    return options.classifiers and options.allows_dtype("fp32") and scope.choices.rarely()


def _outputs(growth: Growth, others: int) -> list[ScopedValue]:
    """Return the further outputs: all or some of the unused values that a model can return."""
    scope = growth.scope
    able = [item for item in growth.items if scope.goes_in_and_out(item.type)]
    outputs = [item for item in able if item.name not in scope.used] or able[-1:]
    if not outputs and not others:
        outputs = [_casted(growth)]
    most = scope.options.outputs
    if most is None:
        return outputs
    return sorted(scope.choices.shuffled(outputs)[: max(0, most - others)], key=outputs.index)


def _casted(growth: Growth) -> ScopedValue:
    """Add a value that a model can return if there is none: the last value as fp32, or a constant."""
    dtypes = signature("cast", growth.scope.opset)
    castable = dtypes.dtypes("x") if dtypes else frozenset()
    found = [item for item in growth.items if isinstance(item.type, TensorType) and item.type.dtype in castable]
    return growth.cast(found[-1], "fp32") if found else growth.value_of(TensorType("fp32", (1,)))


def _nothing_made(options: Options, opset: str) -> MiltextError:
    what = "of these operations and data types" if options.operations or options.dtypes else "of these options"
    message = f"{counted(options.ops[0], 'operation')} cannot be made {what} in {opset}"
    return MiltextError(
        [error(codes.NOTHING_GENERATED, message, None, Note("allow more operations, data types or inputs"))]
    )
