"""Findings about numbers that leave the range of fp16, or of sums on the Neural Engine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from miltext.bounds.advice import advice
from miltext.bounds.intervals import Interval
from miltext.bounds.ranging import Bound, Ranging, input_ranges
from miltext.bounds.sums import ENGINE_LIMIT, limit_of
from miltext.checking.findings import Finding, Remark, named
from miltext.checking.ignores import without_ignored
from miltext.checking.verifier import Checked
from miltext.diagnostics import codes
from miltext.evaluation.evaluator import Evaluator
from miltext.schema.dtypes import GREATEST_HALF
from miltext.schema.paths import Key
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.evaluation.subjects import Subject
    from miltext.ir.parts import Value


def checked_numbers(subject: Subject, ranges: Mapping[str, tuple[float, float]]) -> Checked:
    """Return the diagnostics of the findings about numbers, for `ranges` of inputs, with the text that they refer to.

    Comments of the text may ignore them. Raise MiltextError for a program that cannot be run.
    """
    given = {name: Interval(*ends) for name, ends in ranges.items()}
    found, text = subject.located(number_findings(subject, given))
    placeless = [each._replace(notes=tuple(note._replace(span=None) for note in each.notes)) for each in found]
    left = placeless if text is None else without_ignored(text, placeless)
    return Checked([each for each in left if each in placeless], text)  # those about comments are of the plain check


def number_findings(subject: Subject, given: Mapping[str, Interval]) -> list[Finding]:
    """Return the findings about the numbers of all functions of a program, with the `given` ranges of inputs.

    Ranges of other names are ignored: they may be inputs of other models. Raise MiltextError for a program that cannot
    be run.
    """
    evaluators = [Evaluator(subject, function, check=False) for function in subject.graph.functions]
    return [finding for evaluator in evaluators for finding in _of_function(evaluator, given)]


def _of_function(evaluator: Evaluator, given: Mapping[str, Interval]) -> Iterator[Finding]:
    ranges = input_ranges(evaluator, given)
    bounds = [each for each in Ranging(evaluator, ranges).bounds() if _is_half(each)]
    yield from (finding for bound in bounds for finding in _of_bound(bound))
    if any(each.sum is not None and not each.sum.partial.is_known for each in bounds):
        for place, value in enumerate(evaluator.plan.inputs):
            if value.name in ranges and not ranges[value.name].is_known and not _is_empty(value):
                path = ("functions", Key(evaluator.function), "inputs", place)
                message = f"the range of the input {named(value.name)} is unknown, and so are sums that follow from it"
                yield Finding(path, codes.UNKNOWN_RANGE, message, severity="note")


def _is_empty(value: Value) -> bool:
    """Return whether a value has no elements, whose range would be meaningless."""
    return isinstance(value.type, TensorType) and 0 in value.type.shape


def _is_half(bound: Bound) -> bool:
    return any(isinstance(each, TensorType) and each.dtype == "fp16" for each in bound.step.types)


def _of_bound(bound: Bound) -> Iterator[Finding]:
    step = bound.step
    called = f"{named(step.names[0])} ({step.operation.type})"
    advised = [*advice(bound)]
    for found in advised:
        is_known = bound.operands.interval("x").is_known
        severity = "warning" if found.is_reported or is_known else "note"
        notes = tuple(Remark(words, step.path) for words in (f"safe: {found.safe}", f"source: {found.source}"))
        yield Finding(
            step.path, codes.FAILS_IN_HALF, f"{called}: {found.failure}; {found.way_out}", notes, severity=severity
        )
    if bound.sum is not None and bound.sum.partial.is_known:
        yield from _of_sum(bound, called)
    elif bound.sum is None and not advised and _overflows(bound):
        message = f"{called} reaches {_shown(bound.result)}, beyond the 65504 of fp16"
        yield Finding(step.path, codes.OUT_OF_RANGE, message, severity="warning")


def _overflows(bound: Bound) -> bool:
    """Return whether a result from known ranges leaves the range of fp16."""
    return bound.result.is_known and bound.result.size > GREATEST_HALF


def _of_sum(bound: Bound, called: str) -> Iterator[Finding]:
    assert bound.sum is not None, "the caller found one"
    limit = limit_of(bound.step.operation.type)
    if bound.sum.partial.size < limit:
        return
    where = "on the Neural Engine" if limit == ENGINE_LIMIT else "in fp16"
    sums = _shown(bound.sum.partial)
    message = f"{called} may add up to {sums} on the way, and a sum of {limit:.0f} or more is infinite {where}"
    safe = bound.sum.safe(limit)
    notes = () if safe is None else (Remark(f"safe: inputs up to {safe:.4g} in size", bound.step.path),)
    yield Finding(bound.step.path, codes.OUT_OF_RANGE, message, notes, severity="warning")


def _shown(interval: Interval) -> str:
    """Return the end of a range that is farther from 0."""
    end = interval.high if interval.high >= -interval.low else interval.low
    return f"{end:.6g}" if math.isfinite(end) else str(end)
