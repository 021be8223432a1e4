"""Execution of a plan, step by step."""

from __future__ import annotations

import math
from collections.abc import Generator
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np

from miltext.diagnostics import MiltextError
from miltext.evaluation.declared import FAILURES, outputs_of
from miltext.evaluation.failures import OperationFailure
from miltext.evaluation.rules import UnfitValues
from miltext.evaluation.values import narrowed
from miltext.ir.parts import Value

if TYPE_CHECKING:
    from miltext.evaluation.planning import Formed, Plan, Step
    from miltext.evaluation.rules import Blocks, Random
    from miltext.evaluation.values import Constants, RunValue

HALVES, FLOATS = np.dtype(np.float16), np.dtype(np.float32)

T = TypeVar("T")

Scope: TypeAlias = "dict[Value, RunValue]"


class Made(NamedTuple):
    """The values made by a step, in the order of its outputs."""

    step: Step
    values: list[RunValue]


class Machine:
    """Executes the steps of plans; `constants` reads the program's constants, `seed` is the seed of its random numbers.

    `block` yields each value to an observer, `quietly` does not: both do the same steps. A block has no result
    after `inner_steps` steps in inner blocks, if that is given.
    """

    def __init__(self, constants: Constants, seed: int | None, inner_steps: int | None = None) -> None:
        self.constants = constants
        self.seed = seed
        self._inner_steps = inner_steps
        self._left = math.inf if inner_steps is None else inner_steps
        self._settled: dict[int, list[RunValue]] = {}
        self._repeated: dict[int, tuple[Scope, list[Step]]] = {}

    @cached_property
    def generator(self) -> np.random.Generator:
        """The generator of random numbers."""
        return np.random.default_rng(self.seed)

    def block(self, plan: Plan, scope: Scope, values: list[RunValue]) -> Generator[Made, None, list[RunValue]]:
        """Run the steps of a block, yield the values of each, and return the block's outputs.

        `scope` contains the outer values; `values` are the inputs. Raise OperationFailure.
        """
        scope = {**scope, **dict(zip(plan.inputs, values, strict=True))}
        for step in plan.steps:
            if step.settled is not None:
                values = step.settled
            elif step.blocks:
                values = yield from self._flowing(step, scope)
            else:
                with np.errstate(all="ignore"):
                    values = self.values(step, scope)
            scope.update(zip(step.outputs, values, strict=True))
            yield Made(step, values)
            for freed in step.frees:
                del scope[freed]
        return [scope[output] for output in plan.outputs]

    def quietly(self, plan: Plan, scope: Scope, values: list[RunValue]) -> list[RunValue]:
        """Run the steps of a block as `block` does, without yielding values, and return its outputs."""
        with np.errstate(all="ignore"):
            return self._quietly(plan, scope, values)

    def _quietly(self, plan: Plan, scope: Scope, values: list[RunValue]) -> list[RunValue]:
        constants, steps = self._repeated.get(id(plan)) or ({}, plan.steps)
        scope = {**scope, **constants, **dict(zip(plan.inputs, values, strict=True))}
        values_of, settle = self.values, self._settled.get
        for step in steps:
            if step.settled is not None:
                values = step.settled
            elif step.blocks:
                values = self._flown(step, scope)
            elif step.stored is None:
                values = values_of(step, scope)
            else:
                values = settle(id(step)) or self._stored(step, scope)
            if len(values) == 1:
                scope[step.outputs[0]] = values[0]
            else:
                scope.update(zip(step.outputs, values, strict=True))
            for freed in step.frees:
                del scope[freed]
        return [scope[output] for output in plan.outputs]

    def _stored(self, step: Step, scope: Scope) -> list[RunValue]:
        """Return the stored value of a const, and keep a mapped one, which takes no memory, for a loop."""
        values = self.values(step, scope)
        if step.stored is not None and self.constants.keeps(step.stored.message):
            self._settled[id(step)] = values
        return values

    def values(self, step: Step, scope: Scope) -> list[RunValue]:
        """Return the values of an operation, with a fast path for values that need no rounding."""
        try:
            if step.stored is not None:
                made = self.constants.read(step.stored.message)
            else:
                made = step.rule.function(*self._arguments(step, scope))
            expected = step.expected
            if type(made) is np.ndarray and expected is not None and made.shape == expected.shape:
                if made.dtype is expected.carrier:
                    return [made]
                if expected.carrier is HALVES and made.dtype is FLOATS:
                    return [narrowed(made)]
            return outputs_of(made, step.types)
        except MiltextError:
            raise
        except FAILURES as failure:
            raise OperationFailure(step, _clause(failure)) from failure

    def _flowing(self, step: Step, scope: Scope) -> Generator[Made, None, list[RunValue]]:
        blocks = [partial(self._inner, plan, scope) for plan in step.blocks]
        try:
            return outputs_of((yield from step.rule.function(*self._arguments(step, scope, blocks))), step.types)
        except MiltextError:  # of an operation inside
            raise
        except FAILURES as failure:
            raise OperationFailure(step, _clause(failure)) from failure

    def _flown(self, step: Step, scope: Scope) -> list[RunValue]:
        """Run an operation with blocks without yielding."""
        blocks = [partial(self._inner_quietly, plan, scope) for plan in step.blocks]
        try:
            return outputs_of(_ended(step.rule.function(*self._arguments(step, scope, blocks))), step.types)
        except MiltextError:  # of an operation inside
            raise
        except FAILURES as failure:
            raise OperationFailure(step, _clause(failure)) from failure

    def _arguments(self, step: Step, scope: Scope, blocks: Blocks = ()) -> list[Formed | Blocks | Random]:
        """Return the arguments of a step in the order of its rule's parameters."""
        arguments: list[Formed | Blocks | Random] = [*step.fixed]
        for place, source, form in step.named:
            arguments[place] = form(scope[source])
        if step.given:
            read = self.constants.read
            for place, _, sources, form in step.given:
                values = [scope[each] if isinstance(each, Value) else read(each.message) for each in sources]
                arguments[place] = form(values)
        for place, kind in step.running.items():
            arguments[place] = blocks if kind == "Blocks" else self.generator
        return arguments

    def _inner(self, plan: Plan, scope: Scope, *values: RunValue) -> Generator[Made, None, list[RunValue]]:
        self._count(plan)
        return self.block(plan, scope, list(values))

    def _inner_quietly(self, plan: Plan, scope: Scope, *values: RunValue) -> Generator[Made, None, list[RunValue]]:
        yield from ()  # a generator, as `while_loop` and `cond` have it
        self._count(plan)
        made = self._quietly(plan, scope, list(values))
        if id(plan) not in self._repeated:
            self._repeated[id(plan)] = self._without_constants(plan)
        return made

    def _count(self, plan: Plan) -> None:
        """Count the steps of an inner block. Raise UnfitValues if they are more than the allowed ones."""
        self._left -= len(plan.steps) + 1  # a block may be empty
        if self._left < 0:
            raise UnfitValues(f"it takes more than {self._inner_steps:,} steps in inner blocks")

    def _without_constants(self, plan: Plan) -> tuple[Scope, list[Step]]:
        """Return the values of a block with the same contents in each turn, and the steps for the others."""
        constants: Scope = {}
        steps: list[Step] = []
        for step in plan.steps:
            values = self._settled.get(id(step)) if step.settled is None else step.settled
            if values is None:
                steps.append(step)
            else:
                constants.update(zip(step.outputs, values, strict=True))
        return constants, steps


def _ended(flowing: Generator[Made, None, T]) -> T:
    """Return a generator's return value, after consuming it."""
    try:
        while True:
            next(flowing)
    except StopIteration as end:
        value: T = end.value
        return value


def _clause(failure: Exception) -> str:
    """Return the reason why an operation has no result."""
    if isinstance(failure, UnfitValues):
        return str(failure)
    if isinstance(failure, MemoryError):
        return f"its result takes more memory than there is: {failure}"
    return f"numpy has no result: {failure}"
