"""The reduction of a faulty pass to the smallest program on which it has the same fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import MiltextError
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.random_inputs import random_inputs
from miltext.pass_validation.allowances import allowance
from miltext.pass_validation.confirming import Confirmation, confirmation
from miltext.pass_validation.faults import NUMBERS, PassFault
from miltext.pass_validation.runs import FunctionRuns
from miltext.pass_validation.steps import Stepping
from miltext.reduction.reducing import reduce
from miltext.rewriting.inputs import INNER_STEPS
from miltext.rewriting.site_programs import closed

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried, Named
    from miltext.models.model import Model
    from miltext.pass_validation.runs import Given
    from miltext.pass_validation.snapshots import Snapshot
    from miltext.pass_validation.steps import Step
    from miltext.reduction.trials import Candidate
    from miltext.schema.types import Type


class Shown(NamedTuple):
    """A program that shows a fault: the program before the pass, after `earlier` passes, the fault in it, whether
    coremltools confirms it, and whether it is reduced.
    """

    before: Snapshot
    earlier: tuple[str, ...]
    fault: PassFault
    confirmation: Confirmation
    is_reduced: bool


class PassTest:
    """A test of a reduction: whether a pass still has a fault, after `earlier` passes.

    With `is_strict`, coremltools must confirm it.
    """

    def __init__(self, name: str, fault: PassFault, given: Given, earlier: Sequence[str] = ()) -> None:
        self.name, self.fault, self.earlier = name, fault, tuple(earlier)
        self.is_strict = False
        self._given = given

    def __call__(self, candidate: Candidate) -> bool:
        if not self.is_strict:
            return self._found(candidate.model) is not None
        shown = self.shown(candidate.model)
        return shown is not None and shown.confirmation.is_confirmed is True

    def shown(self, model: Model, *, is_reduced: bool = True) -> Shown | None:
        """Return how a model shows the fault; None if it does not."""
        found = self._found(model)
        if found is None:
            return None
        before, step, fault = found
        certain = confirmation(fault, before, step.made, allowance(self.name))
        return Shown(before, self.earlier, fault, certain, is_reduced)

    def _found(self, model: Model) -> tuple[Snapshot, Step, PassFault] | None:
        """Return the program before the pass, its step, and the same fault; None without it."""
        try:
            stepping = Stepping(model)
            stepping.prepare(self.earlier)
            before = stepping.accepted
            if self.fault.kind == NUMBERS:
                runs = FunctionRuns(before.model, self.fault.function, self._given)
                stepping.runs = [] if runs.reason else [runs]
            step = stepping.judged(self.name)
        except Exception:  # noqa: BLE001  # coremltools raises anything
            return None
        fault = step.fault
        if fault is None or (fault.kind, fault.key) != (self.fault.kind, self.fault.key):
            return None
        return before, step, fault


def shown(before: Snapshot, name: str, fault: PassFault, most: int, first: Snapshot, earlier: Sequence[str]) -> Shown:
    """Return the smallest program found on which a pass has a fault, at best alone on a part of the program before it.

    If the pass has the fault only after `earlier` passes on the `first` program, the result is a part of that program.
    If coremltools confirms the fault of the whole program, it also confirms the fault of the part.
    """
    for start, passes in ((before, ()), (first, earlier)):
        test = PassTest(name, fault, values_of(start.model, fault), passes)
        whole = test.shown(start.model, is_reduced=False)
        if whole is not None:
            return _reduced(test, start.model, whole, most)
    return Shown(before, (), fault, Confirmation(None, "the pass has no fault on the program by itself"), False)


def _reduced(test: PassTest, model: Model, whole: Shown, most: int) -> Shown:
    """Return the smallest part of a model on which a test passes.

    If coremltools confirms the fault of the whole model only, another part is sought on which it does so.
    """
    least = _least(test, model, most) or whole
    if least.confirmation.is_confirmed or not whole.confirmation.is_confirmed:
        return least
    test.is_strict = True
    return _least(test, model, most) or whole


def _least(test: PassTest, model: Model, most: int) -> Shown | None:
    try:
        return test.shown(reduce(model, test, max_tests=most).best.model)
    except MiltextError:
        return None


def values_of(model: Model, fault: PassFault) -> Given:
    """Return a function that yields one set of inputs: the values that a model's inputs and operations had when a pass
    changed its numbers; random numbers for others.
    """
    values: dict[str, Carried] = dict(fault.inputs)
    if fault.kind == NUMBERS:
        try:
            evaluator = Evaluator(model, fault.function, check=False)
            values |= evaluator.run(fault.inputs, values="all", seed=0, allow_nan=True, inner_steps=INNER_STEPS)
        except MiltextError:
            pass

    def given(types: Mapping[str, Type]) -> Iterable[Named]:
        drawn = random_inputs({name: closed(each) for name, each in types.items() if name not in values})
        yield {name: values[name] if name in values else drawn[name] for name in types}

    return given
