"""The numbers of a program on samples: the range of each value, and the largest sums that such ranges allow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from miltext.bounds.intervals import UNKNOWN, Interval, hull, of_array
from miltext.bounds.ranging import Ranging
from miltext.bounds.sums import limit_of
from miltext.schema.dtypes import LEAST_NORMAL_HALF
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json
    from miltext.evaluation.carried import Named
    from miltext.evaluation.evaluator import Evaluator
    from miltext.ir.parts import Value


@dataclass
class Seen:
    """Measurements of a value: the ranges of its finite and of all elements, and the counts of the others.

    A device may lose the precision of subnormal numbers of fp16, or lose them.
    """

    range: Interval
    whole: Interval
    infinite: int = 0
    nans: int = 0
    subnormal: int = 0

    def add(self, array: np.ndarray[Any, Any]) -> None:
        """Add the elements of an array."""
        finite = array[np.isfinite(array)]
        if finite.size:
            before = [self.range] if self.range.is_known else []
            self.range = hull([*before, of_array(finite)])
        self.whole = hull([self.whole, of_array(array)])
        self.infinite += int(np.count_nonzero(np.isinf(array)))
        self.nans += int(np.count_nonzero(np.isnan(array)))
        sizes = np.abs(array)
        self.subnormal += int(np.count_nonzero((sizes > 0) & (sizes < LEAST_NORMAL_HALF)))


class SampleRow(NamedTuple):
    """A sum, or another result of fp16, on samples.

    `partial` is the largest partial sum that the ranges of the operands allow in any order, None for other results;
    `limit` is where it is infinite, and `safe` the size of inputs up to which it is not.
    """

    name: str
    operation: str
    partial: float | None
    limit: float
    safe: float | None
    least: float
    greatest: float
    infinite: int
    nans: int
    subnormal: int

    @property
    def may_overflow(self) -> bool:
        """Return whether the ranges of the samples allow a sum out of range, or a result was."""
        return self.infinite > 0 or (self.partial is not None and self.partial >= self.limit)

    def to_json(self) -> dict[str, Json]:
        """Return the row as an object of JSON."""
        found: dict[str, Json] = {**self._asdict(), "may_overflow": self.may_overflow}
        is_finite = {key: not isinstance(each, float) or math.isfinite(each) for key, each in found.items()}
        return {key: each if is_finite[key] else None for key, each in found.items()}


def ranges_on(evaluator: Evaluator, samples: Iterable[Named]) -> list[SampleRow]:
    """Return the rows of a function for samples of its inputs, each run by itself, in the order of operations.

    Raise MiltextError for inputs that the function does not accept.
    """
    seen: dict[Value, Seen] = {}
    for sample in samples:
        taken, _ = evaluator.taken(sample, None, allow_nan=False)
        for value in evaluator.plan.inputs:
            if value.name in taken:
                _see(seen, value, taken[value.name])
        for made in evaluator.steps(taken, {}, 0, allow_nan=True):
            if made.step.operation.type != "const":
                for value, array in zip(made.step.outputs, made.values, strict=True):
                    _see(seen, value, array)
    return [*_rows(evaluator, seen)]


def _see(seen: dict[Value, Seen], value: Value, array: object) -> None:
    if isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.size:
        seen.setdefault(value, Seen(UNKNOWN, of_array(array))).add(array)


def _rows(evaluator: Evaluator, seen: Mapping[Value, Seen]) -> Iterator[SampleRow]:
    observed = {value: each.whole for value, each in seen.items()}
    inputs = {value.name: observed[value] for value in evaluator.plan.inputs if value in observed}
    for bound in Ranging(evaluator, inputs, observed).bounds():
        for value, declared in zip(bound.step.outputs, bound.step.types, strict=True):
            is_half = isinstance(declared, TensorType) and declared.dtype == "fp16"
            if value in seen and is_half and (bound.sum is not None or seen[value].infinite or seen[value].subnormal):
                limit, found = limit_of(bound.step.operation.type), seen[value]
                partial = None if bound.sum is None else bound.sum.partial.size
                safe = None if bound.sum is None else bound.sum.safe(limit)
                counts = (found.infinite, found.nans, found.subnormal)
                yield SampleRow(value.name, bound.step.operation.type, partial, limit, safe, *found.range[:2], *counts)


HEADINGS = ("  name", "operation", "any order", "limit", "safe input", "min", "max", "inf", "NaN", "subnormal")


def cells(row: SampleRow) -> tuple[str, ...]:
    """Return the cells of a row of a table; a row that may overflow begins with an exclamation mark."""
    numbers = (row.partial, row.limit, row.safe, row.least, row.greatest)
    shown = ["-" if each is None else f"{each:.6g}" for each in numbers]
    mark = "! " if row.may_overflow else "  "
    return (mark + row.name, row.operation, *shown, *map(str, (row.infinite, row.nans, row.subnormal)))
