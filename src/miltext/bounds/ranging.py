"""The range of each value of a function, operation by operation, in the order of its plan."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from miltext.bounds.intervals import GREATEST, UNKNOWN, Interval
from miltext.bounds.operands import Operands
from miltext.bounds.sums import SUMS, Sum, limit_of
from miltext.bounds.transfers import EXACT, TRANSFERS
from miltext.diagnostics import MiltextError
from miltext.evaluation.machine import Machine
from miltext.ir.parts import Value
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import StateType, TensorType

if TYPE_CHECKING:
    from miltext.evaluation.evaluator import Evaluator
    from miltext.evaluation.features import Feature
    from miltext.evaluation.planning import Plan, Step
    from miltext.schema.types import Type

Ranges = Mapping[Value, Interval]

LARGEST = 1 << 24
"""The most elements of a constant that is computed from others."""


class Bound(NamedTuple):
    """An operation with the ranges of its operands and of its result, and the sum that it adds, if any.

    `ranges` are those of all values so far, in their declared types.
    """

    step: Step
    operands: Operands
    result: Interval
    sum: Sum | None
    ranges: Ranges


def input_ranges(evaluator: Evaluator, given: Mapping[str, Interval]) -> dict[str, Interval]:
    """Return the range of each input: as given, or from the description or the type."""
    return {
        name: given[name] if name in given else _described(declared, evaluator.features.get(name))
        for name, declared in evaluator.inputs.items()
    }


def _described(declared: Type, feature: Feature | None) -> Interval:
    image = None if feature is None else feature.image
    if image is not None and image.colorSpace != image.GRAYSCALE_FLOAT16:
        return Interval(0, 255)
    if not isinstance(declared, TensorType):
        return UNKNOWN
    dtype = BY_NAME[declared.dtype]
    if dtype.kind == "bool":
        return Interval(0, 1)
    if dtype.kind == "int":
        return Interval(float(dtype.minimum), float(dtype.maximum), dtype.bits <= 8)
    most = GREATEST.get(declared.dtype, math.inf)
    return Interval(-most, most, False, False)


class Ranging:
    """Bounds of a function's operations, from the ranges of its inputs.

    `observed` ranges of values, as from samples, replace those that follow from the inputs.
    """

    def __init__(self, evaluator: Evaluator, inputs: Mapping[str, Interval], observed: Ranges | None = None) -> None:
        self.evaluator = evaluator
        self.inputs = inputs
        self.observed = observed or {}
        self.ranges: dict[Value, Interval] = {}
        self._machine = Machine(evaluator.constants, 0)

    def bounds(self) -> Iterator[Bound]:
        """Yield the bound of each operation that is computed from inputs, including those of inner blocks."""
        plan = self.evaluator.plan
        scope = {value: self.observed.get(value, self.inputs.get(value.name, UNKNOWN)) for value in plan.inputs}
        self.ranges.update(scope)
        with np.errstate(all="ignore"):
            yield from self._block(plan, dict(scope))

    def _block(self, plan: Plan, scope: dict[Value, Any]) -> Iterator[Bound]:
        for step in plan.steps:
            constants = self._constants(step, scope)
            if constants is not None:
                scope.update(zip(step.outputs, constants, strict=True))
            else:
                bound = self._bound(step, scope)
                for output, declared in zip(step.outputs, step.types, strict=True):
                    scope[output] = self.ranges[output] = self.observed.get(output, _typed(bound, declared))
                yield bound
                for block in step.blocks:
                    yield from self._block(block, {**scope, **dict.fromkeys(block.inputs, UNKNOWN)})
            for freed in step.frees:
                scope.pop(freed, None)

    def _constants(self, step: Step, scope: Mapping[Value, Any]) -> list[Any] | None:
        """Return the values of an operation whose operands are all constant; None for another one."""
        if step.settled is not None:
            return step.settled
        sources = [each.source for each in step.named]
        sources += [each for given in step.given for each in given.sources if isinstance(each, Value)]
        if step.blocks or step.running or any(isinstance(scope.get(each, UNKNOWN), Interval) for each in sources):
            return None
        sizes = [each.shape for each in step.types if isinstance(each, TensorType)]
        if any(not all(isinstance(size, int) for size in shape) or math.prod(shape) > LARGEST for shape in sizes):  # type: ignore[arg-type]
            return None if step.stored is None else self._machine.values(step, dict(scope))
        try:
            return self._machine.values(step, dict(scope))
        except MiltextError:
            return None

    def _bound(self, step: Step, scope: Mapping[Value, Any]) -> Bound:
        operands = self._operands(step, scope)
        op_type = step.operation.type
        transfer, summed = TRANSFERS.get(op_type), SUMS.get(op_type)
        found = summed(operands) if summed is not None else None
        result = transfer(operands) if transfer is not None else UNKNOWN
        if found is not None and not found.partial.size < _sum_limit(step):
            result = UNKNOWN  # it may be infinite
        if math.isnan(result.low) or math.isnan(result.high):
            result = UNKNOWN
        is_sure = result.is_sure and all(each.is_regular for each in operands.intervals())
        return Bound(step, operands, result._replace(is_sure=is_sure), found, self.ranges)

    def _operands(self, step: Step, scope: Mapping[Value, Any]) -> Operands:
        names = [*step.rule.forms]
        graph = self.evaluator.subject.graph
        values: dict[str, list[Any]] = {name: [value] for name, value in zip(names, step.fixed, strict=True)}
        for named in step.named:
            values[names[named.place]] = [scope.get(named.source, UNKNOWN)]
        for given in step.given:
            values[given.name] = [
                scope.get(each, UNKNOWN) if isinstance(each, Value) else self.evaluator.constants.read(each.message)
                for each in given.sources
            ]
        bound = graph.inputs[step.operation]
        types = {name: [graph.bound_type(each) for each in several] for name, several in bound.items()}
        return Operands(step, values, types)


def _sum_limit(step: Step) -> float:
    """Return from where on a sum of an operation may be infinite."""
    dtypes = {each.dtype for each in step.types if isinstance(each, TensorType)}
    return limit_of(step.operation.type) if "fp16" in dtypes else GREATEST["fp32"]


def _typed(bound: Bound, declared: Type) -> Interval:
    """Return the range of a result in its declared type."""
    if isinstance(declared, StateType) or not isinstance(declared, TensorType):
        return UNKNOWN
    kind = BY_NAME[declared.dtype].kind
    if kind == "bool":
        return Interval(0, 1)
    if kind != "float":
        return UNKNOWN
    is_exact = bound.step.operation.type in EXACT
    return bound.result.enclosed(declared.dtype) if is_exact else bound.result.rounded(declared.dtype)
