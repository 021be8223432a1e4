"""The numbers of a program between two passes: its functions, run on the same inputs before and after a pass."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from miltext.checking.findings import named
from miltext.diagnostics import MiltextError
from miltext.evaluation.comparing.comparing import compare
from miltext.evaluation.evaluator import Evaluator
from miltext.pass_validation.allowances import EXACT
from miltext.pass_validation.faults import NUMBERS, PassFault
from miltext.rewriting.inputs import INNER_STEPS, INNER_STEPS_AFTER, InputDrawer
from miltext.rewriting.random_operations import is_random
from miltext.rewriting.site_programs import closed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.comparing.comparison import Origin
    from miltext.evaluation.rules import Array
    from miltext.evaluation.subjects import Subject
    from miltext.models.model import Model
    from miltext.pass_validation.allowances import Allowance
    from miltext.schema.types import Type

Given: TypeAlias = "Callable[[Mapping[str, Type]], Iterable[Named]]"
"""A function that returns the inputs to run for the types of a function's inputs."""

PATIENCE = 5.0
"""The seconds after which a function is run on no more inputs."""

SHOWN = 3
"""The number of elements in a message."""


class Results(NamedTuple):
    """The results of a run: the outputs in order, and the states after it."""

    outputs: dict[str, Carried]
    states: dict[str, Carried]


class FunctionRuns:
    """A function with its inputs, and its results before a pass; `reason` states why its numbers are not compared."""

    def __init__(self, model: Model | Subject, function: str, given: Given) -> None:
        self.function = function
        self.reason = ""
        self.inputs: list[Named] = []
        self.results: list[Results] = []
        try:
            evaluator = Evaluator(model, function, check=False)
            if any(is_random(op.type) for op in evaluator.subject.graph.functions[function].walk()):
                self.reason = "it has random numbers"  # which depend on the random operations before
            else:
                self._run(evaluator, given)
        except MiltextError as failure:
            self.reason = failure.diagnostics[0].message

    def _run(self, evaluator: Evaluator, given: Given) -> None:
        failure = ""
        began = time.monotonic()
        for inputs in given(evaluator.inputs):
            try:
                self.results.append(results(evaluator, inputs))
            except MiltextError as found:
                failure = found.diagnostics[0].message
            else:
                self.inputs.append(inputs)
            if time.monotonic() - began > PATIENCE:
                break
        if not self.inputs:
            self.reason = failure or "there are no inputs for it"


def default_inputs(count: int) -> Given:
    """Return a function that yields random inputs, edge values among them; an unknown size is 2."""

    def given(types: Mapping[str, Type]) -> Iterator[Named]:
        return islice(InputDrawer({name: closed(each) for name, each in types.items()}).inputs(), count)

    return given


def results(evaluator: Evaluator, inputs: Named, inner_steps: int = INNER_STEPS) -> Results:
    """Run a function whose states are zeros at first. Raise MiltextError."""
    states: dict[str, Carried] = {}
    outputs = evaluator.run(inputs, seed=0, allow_nan=True, state=states, inner_steps=inner_steps)
    return Results(outputs, states)


def numbers_fault(
    before: Model | Subject, after: Model, runs: FunctionRuns, allowed: Allowance
) -> tuple[PassFault | None, list[Results]]:
    """Return the first forbidden difference between the numbers of two programs, and the new results."""
    try:
        evaluator = Evaluator(after, runs.function, check=False)
    except MiltextError as failure:
        return _without_result(runs.function, {}, failure), []
    names = dict(zip(before_names(runs), evaluator.inputs, strict=False)) if allowed.names else {}
    found: list[Results] = []
    for inputs, wanted in zip(runs.inputs, runs.results, strict=True):
        given = {names.get(name, name): array for name, array in inputs.items()}
        try:
            made = results(evaluator, given, INNER_STEPS_AFTER)
        except MiltextError as failure:
            return _without_result(runs.function, inputs, failure), []
        found.append(made)
        fault = None if allowed.numbers == "free" else _difference(runs.function, inputs, wanted, made)
        if fault is not None and allowed.numbers == "close":
            fault = _beyond(fault, before, after) if _is_finite(inputs, wanted) else None
        if fault is not None:
            return fault, []
    return None, found


def before_names(runs: FunctionRuns) -> list[str]:
    """Return the names of a function's inputs."""
    return [*runs.inputs[0]] if runs.inputs else []


def _without_result(function: str, inputs: Named, failure: MiltextError) -> PassFault:
    first = failure.diagnostics[0]
    message = f"there is no result any more: {first.code}: {first.message}"
    return PassFault(NUMBERS, ("result", first.code), message, function, inputs)


def _difference(function: str, inputs: Named, wanted: Results, made: Results) -> PassFault | None:
    """Return the unequal outputs and states; the message is about the first."""
    outputs = zip(wanted.outputs, made.outputs, strict=False)
    pairs = [(name, wanted.outputs[name], made.outputs[other]) for name, other in outputs]
    pairs += [(name, array, made.states.get(name)) for name, array in wanted.states.items()]
    apart = [each for each in pairs if not is_equal(*each[1:])]
    if not apart:
        return None
    before, after = ({each[0]: each[side] for each in apart} for side in (1, 2))
    return PassFault(NUMBERS, ("numbers",), difference_in_words(*apart[0]), function, inputs, before, after)


def is_equal(one: Carried, other: Carried) -> bool:
    """Return whether two values are equal; zeros of both signs are equal, and all NaNs."""
    if isinstance(one, (dict, list)) or isinstance(other, (dict, list)):
        return repr(one) == repr(other)
    before, after = np.asarray(one), np.asarray(other)
    if before.dtype != after.dtype or before.shape != after.shape:
        return False
    return not EXACT.excess(before, after, before.dtype.name).any()


def difference_in_words(name: str, one: Carried, other: Carried) -> str:
    """Return the difference between two values of an output or state, in words."""
    before, after = np.asarray(one), np.asarray(other)
    if isinstance(one, (dict, list)) or before.shape != after.shape:
        return f"{named(name)} was {_shown(before)}, and is {_shown(after)}"
    apart = EXACT.excess(before, after, before.dtype.name) if before.dtype == after.dtype else before != after
    place = [int(each) for each in np.argwhere(apart)[0]]
    was, now = before[tuple(place)], after[tuple(place)]
    more = f"; {int(np.count_nonzero(apart))} of {apart.size} elements differ" if apart.size > 1 else ""
    return f"{named(name)}{place or ''} was {was!s}, and is {now!s}{more}"


def _shown(array: Array) -> str:
    numbers = ", ".join(map(str, array.reshape(-1)[:SHOWN].tolist()))
    return f"[{numbers}{', ...' if array.size > SHOWN else ''}] of the shape {list(array.shape)}"


def _is_finite(inputs: Named, wanted: Results) -> bool:
    """Return whether all floats of the inputs and results are finite, and none is the limit of a type."""
    arrays = [np.asarray(each) for each in (*inputs.values(), *wanted.outputs.values())]
    return all(np.isfinite(each).all() for each in arrays if each.dtype.kind == "f")


def _beyond(fault: PassFault, before: Model | Subject, after: Model) -> PassFault | None:
    """Return the fault if an operation that the pass changed is beyond the thresholds of `miltext.compare`."""
    try:
        comparison = compare(before, after, fault.inputs, function=fault.function, allow_nan=True, seed=0)
    except MiltextError:
        return fault
    origins = [each for each in comparison.origins if _is_changed(each)]
    if comparison.ok or not origins:
        return None
    return fault


def _is_changed(origin: Origin) -> bool:
    """Return whether the pass changed the operation at which numbers first differ too much, or a constant of others."""
    value = origin.value
    is_constant = value.kind == "constant" and origin.reaches_output
    return bool(is_constant or origin.between or origin.removed or value.operation != value.old_operation)
