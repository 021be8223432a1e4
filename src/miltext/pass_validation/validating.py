"""coremltools' default passes, run one by one, with a report of each that has a fault: the front door."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.checking.findings import named
from miltext.diagnostics import MiltextError
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.subjects import opened
from miltext.evaluation.values import rounded
from miltext.pass_validation.allowances import allowance
from miltext.pass_validation.faults import in_words
from miltext.pass_validation.reducing import shown
from miltext.pass_validation.reports import PassValidation, report, versions
from miltext.pass_validation.runs import FunctionRuns, default_inputs, numbers_fault
from miltext.pass_validation.snapshots import bare_model
from miltext.pass_validation.steps import Stepping
from miltext.pymil.exporting import from_pymil, is_pymil
from miltext.pymil.installed import require_coremltools
from miltext.pymil.passes import default_passes, known_passes
from miltext.schema.function_io import interfaces
from miltext.schema.types import TensorType
from miltext.weight_files.model_weights import BlobFolder, blob_values

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.subjects import Subject
    from miltext.models.model import Model
    from miltext.pass_validation.reports import PassReport
    from miltext.pass_validation.runs import Given
    from miltext.schema.types import Type


def validation(
    source: Any, inputs: Named | None, passes: Sequence[str] | None, runs: int, max_tests: int
) -> PassValidation:
    """Return the result of `miltext.coreml.validate_passes`, which describes the arguments."""
    require_coremltools()
    names = _known(passes)
    subject = opened(from_pymil(source) if is_pymil(source) else source)
    subject.refuse(subject.errors())
    _require_weights(subject)
    if inputs is not None:
        _require_inputs(inputs, subject)
    model = bare_model(subject.program, subject.folder)
    given = _given(inputs, default_inputs(runs))
    stepping, failure = _loaded(model)
    if stepping is None:
        return PassValidation(versions(), not_loaded=failure)
    first = stepping.accepted
    stepping.runs = [FunctionRuns(first.model, name, given) for name in sorted(first.program.functions)]
    notes = [*_notes(model, stepping, given)]
    work = _Validation(stepping, max_tests)
    reports = [*work.reports(names)]
    free = {name: allowance(name).reason for name in work.changing if allowance(name).numbers == "free"}
    notes += [f"{name} changes numbers on purpose, which are not judged: {reason}" for name, reason in free.items()]
    if not stepping.is_unchanged():
        notes.append("a pass overwrote numbers in place: these are not compared")
    return PassValidation(versions(), tuple(reports), tuple(work.changing), tuple(notes))


class _Validation:
    """A validation in progress; `changing` are the passes that changed the program without a fault."""

    def __init__(self, stepping: Stepping, max_tests: int) -> None:
        self.changing: list[str] = []
        self._stepping, self._first, self._max_tests = stepping, stepping.accepted, max_tests
        self._known: set[Hashable] = set()

    def reports(self, names: Sequence[str]) -> Iterator[PassReport]:
        """Run passes, and yield a report of each kind of fault that a pass has."""
        for place, name in enumerate(names):
            before = self._stepping.accepted
            step = self._stepping.run(name)
            if step.fault is None:
                self.changing += [name] if step.made is not None else []
                continue
            kind = (name, step.fault.kind, step.fault.key)
            if kind not in self._known:
                self._known.add(kind)
                found = shown(before, name, step.fault, self._max_tests, self._first, self.changing)
                yield report(name, place, found)


def _loaded(model: Model) -> tuple[Stepping | None, str]:
    """Return a model as loaded by coremltools, and as written by it and loaded again; or its error.

    Raise ModelError (MIL481) for weights in several folders.
    """
    try:
        stepping = Stepping(model)
    except MiltextError:
        raise
    except Exception as failure:  # noqa: BLE001  # coremltools raises anything
        return None, in_words(failure)
    try:
        stepping.reload()
    except Exception as failure:  # noqa: BLE001  # coremltools raises anything
        return None, f"coremltools does not load the model that it wrote itself: {in_words(failure)}"
    return stepping, ""


def _require_weights(subject: Subject) -> None:
    """Raise WeightsError for a weight that cannot be read: coremltools would raise an error without its place."""
    with closing(BlobFolder(subject.folder)) as folder:
        for held in blob_values(subject.program):
            folder.blob(held.value)


def _require_inputs(inputs: Named, subject: Subject) -> None:
    """Run each function that has inputs of a caller. Raise MiltextError for wrong inputs, ValueError for none."""
    functions = interfaces(subject.program)
    fitting = [name for name, interface in functions.items() if interface.inputs.keys() == inputs.keys()]
    for name in fitting:
        Evaluator(subject, name, check=False).run(inputs, seed=0, allow_nan=True)
    if not fitting:
        known = "; ".join(f"{name} has {listed([*each.inputs], 'and') or 'none'}" for name, each in functions.items())
        raise ValueError(f"`inputs` of validate_passes() match no function of the program: {known}")


def _known(passes: Sequence[str] | None) -> list[str]:
    """Return the names of the passes to run. Raise ValueError for an unknown one."""
    known = known_passes()
    for name in passes or ():
        if name not in known:
            raise ValueError(f"coremltools has no pass {name!r}{did_you_mean(nearest(name, known))}")
    return default_passes() if passes is None else [*passes]


def _given(inputs: Named | None, others: Given) -> Given:
    """Return a function that yields the inputs of a caller for each function that has them, then others."""

    def given(types: Mapping[str, Type]) -> Iterator[Named]:
        if inputs is not None and inputs.keys() == types.keys():
            yield {name: _typed(array, types[name]) for name, array in inputs.items()}
        yield from others(types)

    return given


def _typed(given: Carried, type: Type) -> Carried:
    """Return an array of the declared data type."""
    return rounded(np.asarray(given), type.dtype) if isinstance(type, TensorType) else given


def _notes(model: Model, stepping: Stepping, given: Given) -> Iterator[str]:
    """Yield a note on each function whose numbers are not compared, or are other numbers after loading."""
    for runs in stepping.runs:
        function = f"the function {named(runs.function)}"
        if runs.reason:
            yield f"the numbers of {function} are not compared: {runs.reason}"
            continue
        original = FunctionRuns(model, runs.function, given)
        loaded = stepping.accepted.model
        fault, _ = numbers_fault(model, loaded, original, allowance("")) if not original.reason else (None, [])
        if fault is not None:
            yield f"coremltools' loader changes {function}: {fault.message}"
    stepping.runs = [each for each in stepping.runs if not each.reason]
