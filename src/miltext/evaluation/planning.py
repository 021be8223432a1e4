"""The steps of a function, read once: the rule of each, its arguments, and the values to free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from miltext.evaluation.declared import FAILURES, outputs_of
from miltext.evaluation.rules import RULES, OpsetText, Rule
from miltext.evaluation.values import CARRIERS, WITHOUT_NUMPY, widened
from miltext.schema.operations import signature
from miltext.schema.types import TensorType
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Binding, Constant, Declared, Operation, ReadBlock
    from miltext.evaluation.values import Constants
    from miltext.schema.paths import Path
    from miltext.schema.types import Type

RUNNING = frozenset(["Random", "Blocks"])
"""Forms of values that only a run has."""

AROUND = RUNNING | {"Made", "OpsetText", "Widen"}
"""Forms of values around an op."""

SETTLED_ELEMENTS = 1 << 12
"""The most elements of an argument kept in its form from one run to the next."""


class RuleParameter(NamedTuple):
    """A parameter of a rule: its place, where its values come from, and the function that brings them into its form."""

    place: int
    name: str
    sources: Sequence[str | Constant]
    form: Callable[[list[Any]], Any]


class Named(NamedTuple):
    """A parameter that takes the value of one name: its place, and the function that brings the value into its form."""

    place: int
    source: str
    form: Callable[[Any], Any]


class Expected(NamedTuple):
    """The shape and carrier of an operation's only output, where all of its type is known."""

    shape: tuple[int, ...]
    carrier: np.dtype[Any]


class Step(NamedTuple):
    """One operation: its rule, and in the order of its parameters the constant arguments.

    The others are `named`, values of one name each, `given` in other ways, or `running`: the forms of values of the
    run, by their places. `expected` is the type with which the output needs no more rounding. `settled` are the values
    of a constant, where known, and `stored` the constant in a file. `frees` are the names without later use.
    """

    path: Path
    operation: Operation
    rule: Rule
    arguments: Sequence[Any]
    named: Sequence[Named]
    given: Sequence[RuleParameter]
    running: Mapping[int, str]
    settled: list[Any] | None
    stored: Constant | None
    names: Sequence[str]
    types: Sequence[Type]
    expected: Expected | None
    blocks: Sequence[Plan]
    frees: Sequence[str]


class Plan(NamedTuple):
    """The steps of a block; `inputs` are the names of its arguments, `outputs` of its results."""

    inputs: Sequence[str]
    steps: Sequence[Step]
    outputs: Sequence[str]


def steps_of(plan: Plan) -> Iterator[Step]:
    """Yield the steps of a plan, including the steps of inner blocks."""
    for step in plan.steps:
        yield step
        for block in step.blocks:
            yield from steps_of(block)


class Planner:
    """Plans the blocks of one function; `native` keeps fp16 as it is, to be computed with.

    Arguments that are small constants of the program itself are converted to their form at once, for all runs.
    """

    def __init__(self, opset: str, constants: Constants, *, native: bool) -> None:
        self.opset = OpsetText(opset)
        self.constants = constants
        self.forms = {**FORMS, "Array": _held, "Arrays": list} if native else FORMS
        self.widen = _itself if native else widened

    def plan(
        self, block: ReadBlock, inputs: Sequence[Declared], path: Path, around: Mapping[str, Constant] | None = None
    ) -> Plan:
        """Return the plan of a block that takes these inputs: its own, or the inputs of its function.

        `around` are the constants of the blocks around it, by name.
        """
        last: dict[str, int] = {}
        taken = {value.name for value in inputs}
        own = {*taken}
        order = _order(block)
        for turn, place in enumerate(order):
            last.update(dict.fromkeys(_uses(block.operations[place]), turn))
            for output in block.operations[place].outputs:
                own.add(output.name)
                last[output.name] = turn  # earlier uses of the name meant a value of another block
        leaving: dict[int, list[str]] = {}
        for name in own.difference(block.outputs):
            leaving.setdefault(last.get(name, 0), []).append(name)
        known = {name: constant for name, constant in (around or {}).items() if name not in taken}
        steps = []
        for turn, place in enumerate(order):
            operation = block.operations[place]
            steps.append(self._step(operation, (*path, "operations", place), leaving.get(turn, ()), known))
            _note_constant(operation, known)
        return Plan([value.name for value in inputs], steps, block.outputs)

    def _step(self, operation: Operation, path: Path, frees: Sequence[str], known: Mapping[str, Constant]) -> Step:
        rule = RULES[operation.type]
        types = [output.stated.type for output in operation.outputs]
        given, fixed = self._arguments(rule, operation, known)
        around = {"Made": types, "OpsetText": self.opset, "Widen": self.widen}
        fixed |= {name: around[form] for name, form in rule.forms.items() if form in around}
        running = {place: form for place, form in enumerate(rule.forms.values()) if form in RUNNING}
        blocks = [
            self.plan(block, block.inputs, (*path, "blocks", place), known)
            for place, block in enumerate(operation.blocks)
        ]
        names = [output.name for output in operation.outputs]
        is_constant = operation.type == "const"
        return Step(
            path=path,
            operation=operation,
            rule=rule,
            arguments=[fixed.get(name) for name in rule.forms],
            named=[Named(each.place, source, ALONE[each.form]) for each in given if (source := _name_alone(each))],
            given=[each for each in given if not _name_alone(each)],
            running=running,
            settled=_settled(rule, fixed, types) if is_constant and not given else None,
            stored=_stored(given) if is_constant else None,
            names=names,
            types=types,
            expected=_expected(types),
            blocks=blocks,
            frees=frees,
        )

    def _arguments(
        self, rule: Rule, operation: Operation, constants: Mapping[str, Constant]
    ) -> tuple[list[RuleParameter], dict[str, Any]]:
        bound: dict[str, Sequence[Binding]] = {name: [value] for name, value in operation.attributes.items()}
        bound |= operation.inputs
        known = signature(operation.type, self.opset)
        given: list[RuleParameter] = []
        fixed: dict[str, Any] = {}
        for place, (name, form) in enumerate(rule.forms.items()):
            sources = [source for source in bound.get(name, ()) if source]
            if sources:
                one = RuleParameter(place, name, sources, self.forms[form])
                if not self._settle(one, constants, fixed):
                    given.append(one)
            elif form not in AROUND:
                parameter = known.parameters.get(name) if known else None
                fixed[name] = None if parameter is None else default_of(parameter.default, form)
        return given, fixed

    def _settle(self, given: RuleParameter, constants: Mapping[str, Constant], fixed: dict[str, Any]) -> bool:
        """Fix a constant argument, and return whether it is constant."""
        sources = [constants.get(each) if isinstance(each, str) else each for each in given.sources]
        settled = [each for each in sources if each is not None and _is_immediate(each)]
        if len(settled) < len(sources):
            return False
        try:
            values = [self.constants.read(each.message) for each in settled]
            if max(getattr(value, "size", 0) for value in values) > SETTLED_ELEMENTS:
                return False
            fixed[given.name] = given.form(values)
        except FAILURES:  # reported by a run
            return False
        return True


def _name_alone(given: RuleParameter) -> str:
    """Return the name whose value a parameter takes, empty for a constant and for several values."""
    (source, *others) = given.sources
    return source if isinstance(source, str) and not others and given.form in ALONE else ""


def _stored(given: Sequence[RuleParameter]) -> Constant | None:
    """Return the value of a const, where it has just one, as in a weight file."""
    sources = [source for each in given for source in each.sources]
    return sources[0] if len(sources) == 1 and not isinstance(sources[0], str) else None


def _expected(types: Sequence[Type]) -> Expected | None:
    """Return the type with which one output needs no more rounding; None where the types alone do not decide."""
    if len(types) != 1 or not isinstance(types[0], TensorType) or types[0].dtype in WITHOUT_NUMPY:
        return None
    shape = tuple([size for size in types[0].shape if isinstance(size, int)])
    return Expected(shape, CARRIERS[types[0].dtype]) if len(shape) == len(types[0].shape) else None


def _settled(rule: Rule, fixed: Mapping[str, Any], types: Sequence[Type]) -> list[Any] | None:
    """Return the outputs of a rule for constant arguments; None for a failure, which a run reports."""
    try:
        return outputs_of(rule.function(**fixed), types)
    except FAILURES:
        return None


def _note_constant(operation: Operation, known: dict[str, Constant]) -> None:
    """Map the names of an operation's outputs to its constant, if it is one, and to no other."""
    for output in operation.outputs:
        known.pop(output.name, None)
    if operation.type == "const" and operation.outputs and "val" in operation.attributes:
        known[operation.outputs[0].name] = operation.attributes["val"]


def _is_immediate(constant: Constant) -> bool:
    return bool(constant.message.WhichOneof("value") == "immediateValue")


def default_of(default: Any, form: str) -> Any:
    """Return a default as a rule of the form takes it."""
    if default is None or form not in ("Array", "Held"):
        return default
    return np.asarray(default, np.float32 if isinstance(default, float) else None)


def _order(block: ReadBlock) -> list[int]:
    """Return the places of the operations in the order of execution: a compressed constant just before its first use.

    Where many are together, as coremltools has them in programs of fp32, all would be expanded at the same time.
    """
    waiting: dict[str, int] = {}
    order: list[int] = []

    def take(names: Iterable[str]) -> None:
        needed: set[int] = set()
        while found := {waiting[name] for name in names if name in waiting} - needed:
            needed |= found
            names = {name for place in found for name in _uses(block.operations[place])}
        for place in sorted(needed):
            for output in block.operations[place].outputs:
                del waiting[output.name]
            order.append(place)

    for place, operation in enumerate(block.operations):
        if is_compressed(operation.type) and operation.outputs:
            waiting.update((output.name, place) for output in operation.outputs)
        else:
            if waiting:
                take(_uses(operation))
            order.append(place)
    take(waiting)
    return order


def _uses(operation: Operation) -> set[str]:
    """Return the names that an operation and its blocks use."""
    used = {source for sources in operation.inputs.values() for source in sources if isinstance(source, str)}
    for block in operation.blocks:
        used.update(block.outputs, *map(_uses, block.operations))
    return used


# ---- the forms in which arguments come


def _itself(value: Any) -> Any:
    return value


def _held(values: list[Any]) -> Any:
    return values[0]


def _widened(values: list[Any]) -> Any:
    return widened(values[0])


def _element(values: list[Any]) -> Any:
    return values[0].item() if isinstance(values[0], np.ndarray) else values[0]


def _elements(values: list[Any]) -> tuple[Any, ...]:
    return tuple(np.atleast_1d(values[0]).tolist())


ALONE: dict[Callable[[list[Any]], Any], Callable[[Any], Any]] = {
    _held: _itself,
    _widened: widened,
    _element: lambda value: value.item() if isinstance(value, np.ndarray) else value,
    _elements: lambda value: tuple(np.atleast_1d(value).tolist()),
}
"""The forms that take one value, and the same function of the value by itself."""

FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "Array": _widened,
    "Held": _held,
    "Arrays": lambda values: list(map(widened, values)),
    "Helds": list,
    "Value": _held,
    "Values": list,
    **dict.fromkeys(("int", "float", "bool", "str"), _element),
    **dict.fromkeys(("Ints", "Bools"), _elements),
}
