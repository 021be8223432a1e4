"""Errors before and during a run, located at the operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import Finding, named
from miltext.checking.inference.reading import Constant
from miltext.diagnostics import MiltextError, Note, codes, error
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.evaluation.planning import steps_of
from miltext.evaluation.rules import RULES
from miltext.files.refusals import WeightsError
from miltext.ir.parts import Op
from miltext.schema.paths import Key

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.evaluation.planning import Plan, Step
    from miltext.evaluation.subjects import Subject
    from miltext.evaluation.values import Constants
    from miltext.ir.functions import Block
    from miltext.schema.paths import Path
    from miltext.schema.proto import Value

ELSEWHERE = Note("if the weights are in another folder, name it with `weights=`: it is the folder for `@model_path`")


class OperationFailure(MiltextError):
    """An operation without a result for its values (MIL838); `clause` is the reason."""

    def __init__(self, step: Step, clause: str) -> None:
        super().__init__([error(codes.NO_RESULT, f"{_called(step)} cannot be computed: {clause}")])
        self.step = step
        self.clause = clause

    def locate(self, subject: Subject) -> None:
        """Locate the error in the text of the program that ran."""
        self.path = subject.name
        self.diagnostics, self.text = subject.located(
            [Finding(self.step.path, codes.NO_RESULT, self.diagnostics[0].message)]
        )


def _called(step: Step) -> str:
    """Return the name of an operation in a message: its first output, if any."""
    operation = f"`{step.operation.type}`"
    return f"{named(step.names[0])}, of {operation}," if step.names else operation


# ---- errors found before anything runs


def without_rule(block: Block, path: Path) -> list[Finding]:
    """Return a finding at the first operation of each type without a rule in a block."""
    first: dict[str, Path] = {}
    for place, part in block.parts(path):
        if isinstance(part, Op) and part.type not in RULES:
            first.setdefault(part.type, place)
    return [Finding((*place, "type"), codes.NO_RULE, _no_rule(op_type)) for op_type, place in first.items()]


def _no_rule(op_type: str) -> str:
    near = did_you_mean(nearest(op_type, RULES))
    return f"there is no rule that computes the operation {named(op_type)}{near or '; run a program without it'}"


def refuse_unreadable(subject: Subject, plan: Plan, constants: Constants) -> None:
    """Refuse a plan with unreadable constants; report the first of each problem.

    Raise WeightsError for weight files, MiltextError (MIL838) for values that contradict their types.
    """
    first: dict[str, tuple[Path, Diagnostic]] = {}
    for each in _held(plan):
        problem = _problem(each, constants)
        if problem is not None:
            first.setdefault(problem.message, (each.path, problem))
    if not first:
        return
    reported = []
    for path, problem in first.values():
        (found,), text = subject.located([Finding(path, problem.code, problem.message)])
        reported.append(found._replace(notes=problem.notes))
    kind = MiltextError if any(each.code == codes.NO_RESULT for each in reported) else WeightsError
    raise kind(reported, text=text, path=subject.name)


class _Held(NamedTuple):
    """A constant argument of an operation, and its place."""

    step: Step
    parameter: str
    path: Path
    value: Value


def _held(plan: Plan) -> Iterator[_Held]:
    for step in steps_of(plan):
        for given in step.given:
            for place, source in enumerate(given.sources):
                if isinstance(source, Constant):
                    where: Path = ("inputs", Key(given.name), "arguments", place)
                    if given.name in step.operation.attributes:
                        where = ("attributes", Key(given.name))
                    yield _Held(step, given.name, (*step.path, *where), source.message)


def _problem(held: _Held, constants: Constants) -> Diagnostic | None:
    """Return the reason why a constant is unreadable, else None."""
    try:
        constants.find(held.value)
    except WeightsError as failure:
        found = failure.diagnostics[0]
        return found._replace(notes=(*found.notes, ELSEWHERE)) if found.code == codes.MISSING_WEIGHT_FILE else found
    except (ArithmeticError, ValueError) as failure:
        return OperationFailure(held.step, f"{named(held.parameter)} {failure}").diagnostics[0]
    return None
