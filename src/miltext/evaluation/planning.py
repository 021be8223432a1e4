"""What is to be done, step by step, read once from a function: which rule, what it is given, what is let go of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from miltext.evaluation.rules import RULES, Opset, Rule
from miltext.evaluation.values import widened
from miltext.schema.operations import signature

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Binding, Block, Constant, Declared, Operation
    from miltext.schema.paths import Path
    from miltext.schema.types import Type

AROUND = frozenset(["Made", "Opset", "Random", "Blocks"])
"""Forms of what is around an op."""


class Given(NamedTuple):
    """A parameter of a rule: where its values come from, and the function that brings them into its form."""

    name: str
    sources: Sequence[str | Constant]
    form: Callable[[list[Any]], Any]


class Step(NamedTuple):
    """One operation: its rule, what that is `given`, and `fixed`, what is always the same.

    `frees` are the names that nothing later uses.
    """

    path: Path
    operation: Operation
    rule: Rule
    given: Sequence[Given]
    fixed: Mapping[str, Any]
    names: Sequence[str]
    types: Sequence[Type]
    blocks: Sequence[Plan]
    frees: Sequence[str]


class Plan(NamedTuple):
    """The steps of a block; `inputs` are the names that it takes, `outputs` those that it gives back."""

    inputs: Sequence[str]
    steps: Sequence[Step]
    outputs: Sequence[str]


def steps_of(plan: Plan) -> Iterator[Step]:
    """Yield the steps of a plan, and those of the blocks inside of it."""
    for step in plan.steps:
        yield step
        for block in step.blocks:
            yield from steps_of(block)


class Planner:
    """Plans the blocks of one function; `native` keeps fp16 as it is, to be computed with."""

    def __init__(self, opset: str, *, native: bool) -> None:
        self.opset = Opset(opset)
        self.forms = {**FORMS, "Array": _held, "Arrays": list} if native else FORMS

    def plan(self, block: Block, inputs: Sequence[Declared], path: Path) -> Plan:
        """Return the plan of a block that takes these inputs: its own, or those of the function that it is of."""
        last: dict[str, int] = {}
        own = {value.name for value in inputs}
        for place, operation in enumerate(block.operations):
            last.update(dict.fromkeys(_uses(operation), place))
            for output in operation.outputs:
                own.add(output.name)
                last.setdefault(output.name, place)
        leaving: dict[int, list[str]] = {}
        for name in own.difference(block.outputs):
            leaving.setdefault(last.get(name, 0), []).append(name)
        steps = [
            self._step(operation, (*path, "operations", place), leaving.get(place, ()))
            for place, operation in enumerate(block.operations)
        ]
        return Plan([value.name for value in inputs], steps, block.outputs)

    def _step(self, operation: Operation, path: Path, frees: Sequence[str]) -> Step:
        rule = RULES[operation.type]
        types = [output.stated.type for output in operation.outputs]
        given, fixed = self._arguments(rule, operation)
        around = {"Made": types, "Opset": self.opset}
        fixed |= {name: around[form] for name, form in rule.forms.items() if form in around}
        blocks = [
            self.plan(block, block.inputs, (*path, "blocks", place)) for place, block in enumerate(operation.blocks)
        ]
        names = [output.name for output in operation.outputs]
        return Step(path, operation, rule, given, fixed, names, types, blocks, frees)

    def _arguments(self, rule: Rule, operation: Operation) -> tuple[list[Given], dict[str, Any]]:
        bound: dict[str, Sequence[Binding]] = {name: [value] for name, value in operation.attributes.items()}
        bound |= operation.inputs
        known = signature(operation.type, self.opset)
        given, fixed = [], {}
        for name, form in rule.forms.items():
            sources = [source for source in bound.get(name, ()) if source]
            if sources:
                given.append(Given(name, sources, self.forms[form]))
            elif form not in AROUND:
                parameter = known.parameters.get(name) if known else None
                fixed[name] = None if parameter is None else default_of(parameter.default, form)
        return given, fixed


def default_of(default: Any, form: str) -> Any:
    """Return a default as a rule of the form takes it."""
    if default is None or form not in ("Array", "Held"):
        return default
    return np.asarray(default, np.float32 if isinstance(default, float) else None)


def _uses(operation: Operation) -> set[str]:
    """Return the names that an operation and its blocks use."""
    used = {source for sources in operation.inputs.values() for source in sources if isinstance(source, str)}
    for block in operation.blocks:
        used.update(block.outputs, *map(_uses, block.operations))
    return used


# ---- the forms in which arguments come


def _held(values: list[Any]) -> Any:
    return values[0]


def _element(values: list[Any]) -> Any:
    return values[0].item() if isinstance(values[0], np.ndarray) else values[0]


def _elements(values: list[Any]) -> tuple[Any, ...]:
    return tuple(np.atleast_1d(values[0]).tolist())


FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "Array": lambda values: widened(values[0]),
    "Held": _held,
    "Arrays": lambda values: list(map(widened, values)),
    "Helds": list,
    "Value": _held,
    "Values": list,
    **dict.fromkeys(("int", "float", "bool", "str"), _element),
    **dict.fromkeys(("Ints", "Bools"), _elements),
}
