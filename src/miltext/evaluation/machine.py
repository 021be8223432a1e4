"""The steps of a plan, done one by one."""

from __future__ import annotations

from collections.abc import Generator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from miltext.diagnostics import MiltextError
from miltext.evaluation.declared import FAILURES, outputs_of
from miltext.evaluation.failures import OperationFailure
from miltext.evaluation.rules import Unfit

if TYPE_CHECKING:
    from miltext.evaluation.planning import Plan, Step
    from miltext.evaluation.values import Constants

Scope: TypeAlias = "dict[str, Any]"


class Made(NamedTuple):
    """What a step has made: its values, in the order of its names."""

    step: Step
    values: list[Any]


class Machine:
    """Does the steps of plans; `constants` reads those of the program, `seed` is that of its random numbers."""

    def __init__(self, constants: Constants, seed: int | None) -> None:
        self.constants = constants
        self.seed = seed

    @cached_property
    def generator(self) -> np.random.Generator:
        """What makes random numbers."""
        return np.random.default_rng(self.seed)

    def block(self, plan: Plan, scope: Scope, values: list[Any]) -> Generator[Made, None, list[Any]]:
        """Do the steps of a block, yield what each of them makes, and return the block's outputs.

        `scope` has the values around the block; `values` are those of its inputs. Raise OperationFailure.
        """
        scope = {**scope, **dict(zip(plan.inputs, values, strict=True))}
        for step in plan.steps:
            if step.settled is not None:
                values = step.settled
            else:
                values = (yield from self._flowing(step, scope)) if step.blocks else self._values(step, scope)
            for name, value in zip(step.names, values, strict=True):
                scope[name] = value
            yield Made(step, values)
            for name in step.frees:
                del scope[name]
        return [scope[name] for name in plan.outputs]

    @np.errstate(all="ignore")  # of half the cost of a `with`, and each step pays it
    def _values(self, step: Step, scope: Scope) -> list[Any]:
        try:
            return outputs_of(step.rule.function(**self._arguments(step, scope)), step.types)
        except MiltextError:
            raise
        except FAILURES as failure:
            raise OperationFailure(step, _clause(failure)) from failure

    def _flowing(self, step: Step, scope: Scope) -> Generator[Made, None, list[Any]]:
        try:
            return outputs_of((yield from step.rule.function(**self._arguments(step, scope))), step.types)
        except MiltextError:  # of an operation inside
            raise
        except FAILURES as failure:
            raise OperationFailure(step, _clause(failure)) from failure

    def _arguments(self, step: Step, scope: Scope) -> dict[str, Any]:
        arguments, read = {**step.fixed}, self.constants.read
        for name, sources, form in step.given:
            arguments[name] = form([scope[each] if isinstance(each, str) else read(each.message) for each in sources])
        for name, kind in step.running.items():
            blocks = [partial(self._inner, plan, scope) for plan in step.blocks]
            arguments[name] = blocks if kind == "Blocks" else self.generator
        return arguments

    def _inner(self, plan: Plan, scope: Scope, *values: Any) -> Generator[Made, None, list[Any]]:
        return self.block(plan, scope, list(values))


def _clause(failure: Exception) -> str:
    """Return why an operation has no result."""
    if isinstance(failure, Unfit):
        return str(failure)
    if isinstance(failure, MemoryError):
        return f"its result takes more memory than there is: {failure}"
    return f"numpy has no result: {failure}"
