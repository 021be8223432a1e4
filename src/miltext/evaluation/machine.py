"""The steps of a plan, done one by one."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import partial
from inspect import isgenerator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from miltext.checking.inference.reading import Constant
from miltext.diagnostics import MiltextError
from miltext.evaluation.failures import OperationFailure
from miltext.evaluation.rules import Unfit
from miltext.evaluation.values import CARRIERS, Constants, rounded
from miltext.schema.types import TensorType, Type, compatible, show

if TYPE_CHECKING:
    from miltext.evaluation.planning import Given, Plan, Step

Scope: TypeAlias = "dict[str, Any]"


class Made(NamedTuple):
    """What a step has made: its values, in the order of its names."""

    step: Step
    values: list[Any]


class Machine:
    """Does the steps of plans; `constants` reads those of the program, `generator` makes random numbers."""

    def __init__(self, constants: Constants, generator: np.random.Generator) -> None:
        self.constants = constants
        self.generator = generator

    def block(self, plan: Plan, scope: Scope, values: list[Any]) -> Generator[Made, None, list[Any]]:
        """Do the steps of a block, yield what each of them makes, and return the block's outputs.

        `scope` has the values around the block; `values` are those of its inputs. Raise OperationFailure.
        """
        scope = {**scope, **dict(zip(plan.inputs, values, strict=True))}
        for step in plan.steps:
            yield Made(step, (yield from self._values(step, scope)))
            for name in step.frees:
                del scope[name]
        return [scope[name] for name in plan.outputs]

    def _values(self, step: Step, scope: Scope) -> Generator[Made, None, list[Any]]:
        try:
            with np.errstate(all="ignore"):
                result = step.rule.function(**self._arguments(step, scope))
                values = None if isgenerator(result) else _outputs(result, step.types)
            if values is None:
                values = _outputs((yield from result), step.types)
        except MiltextError:  # of an operation inside
            raise
        except Unfit as failure:
            raise OperationFailure(step, str(failure)) from failure
        except MemoryError as failure:
            raise OperationFailure(step, f"its result takes more memory than there is: {failure}") from failure
        except (ArithmeticError, IndexError, TypeError, ValueError) as failure:
            raise OperationFailure(step, f"numpy has no result: {failure}") from failure
        scope.update(zip(step.names, values, strict=True))
        return values

    def _arguments(self, step: Step, scope: Scope) -> dict[str, Any]:
        arguments = {each.name: each.form(self._sources(each, scope)) for each in step.given}
        for name, form in step.rule.forms.items():
            if form == "Random":
                arguments[name] = self.generator
            elif form == "Blocks":
                arguments[name] = [partial(self._inner, plan, scope) for plan in step.blocks]
        return {**step.fixed, **arguments}

    def _sources(self, given: Given, scope: Mapping[str, Any]) -> list[Any]:
        return [
            self.constants.read(source.message) if isinstance(source, Constant) else scope[source]
            for source in given.sources
        ]

    def _inner(self, plan: Plan, scope: Scope, *values: Any) -> Generator[Made, None, list[Any]]:
        return self.block(plan, scope, list(values))


def _outputs(result: Any, types: Sequence[Type]) -> list[Any]:
    """Return what a rule gives back as the outputs that an op declares."""
    results = result if isinstance(result, tuple) else (result,)
    return [_declared(*pair) for pair in zip(results, types, strict=True)] if types else []


def _declared(value: Any, type: Type) -> Any:
    """Return a value as its declared type has it. Raise Unfit where it is of another shape."""
    if not isinstance(type, TensorType):
        return value
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if not compatible(type.shape, array.shape):
        raise Unfit(f"makes {show(array.shape)}, where {show(type.shape)} is declared")
    return array if array.dtype == CARRIERS[type.dtype] and _is_exact(type.dtype) else rounded(array, type.dtype)


def _is_exact(dtype: str) -> bool:
    """Tell whether all that the carrier of a data type holds is of the data type."""
    return dtype not in ("bf16", "fp8e4m3fn", "fp8e5m2")
