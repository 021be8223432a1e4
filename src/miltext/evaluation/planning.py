"""The steps of a function, planned once: the rule of each, its arguments, and the values to free."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from miltext.evaluation.declared import FAILURES, outputs_of
from miltext.evaluation.rules import OpsetText, Rule
from miltext.evaluation.values import CARRIERS, WITHOUT_NUMPY, widened
from miltext.ir.liveness import last_places
from miltext.ir.needs import postponed
from miltext.ir.parts import Value
from miltext.schema.operations import signature
from miltext.schema.types import TensorType
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Binding, Constant, StatedGraph
    from miltext.evaluation.arithmetic import Arithmetic, Chosen
    from miltext.evaluation.carried import Carried
    from miltext.evaluation.rules import Array, Made, Multiply, Widen
    from miltext.evaluation.values import Constants, RunValue
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.schema.paths import Path
    from miltext.schema.types import Type

RUNNING = frozenset(["Random", "Blocks"])
"""Forms of values that exist only during a run."""

AROUND = RUNNING | {"Made", "Opset", "Widen", "Multiply"}
"""Forms of values around an op."""

SETTLED_ELEMENTS = 1 << 12
"""The greatest number of elements of an argument kept in its form between runs."""


Formed: TypeAlias = "RunValue | Sequence[RunValue] | str | float | tuple[float, ...] | Made | Widen | Multiply | None"
"""An argument in the form of its parameter."""


class RuleParameter(NamedTuple):
    """A parameter of a rule: its place, the source of its values, and the function that converts them to its form."""

    place: int
    name: str
    sources: Sequence[Value | Constant]
    form: Callable[[list[Carried]], Formed]


class Named(NamedTuple):
    """A parameter with one value: its place, and the function that converts the value to its form."""

    place: int
    source: Value
    form: Callable[[Carried], Formed]


class Expected(NamedTuple):
    """The shape and carrier of an operation's only output, if its type is fully known."""

    shape: tuple[int, ...]
    carrier: np.dtype[np.generic]


class Step(NamedTuple):
    """One operation: its rule, and in the order of its parameters the `fixed` arguments, which are constants.

    The others are `named`, one value each, `given` in other ways, or `running`: the forms of values of the run, by
    their places. `expected` is the type with which the output needs no more rounding. `settled` are the values of a
    constant, where known, and `stored` the constant in a file. `frees` are the values without later use. `is_own` is
    true for an operation that a device computes in its own way.
    """

    path: Path
    operation: Op
    rule: Rule
    fixed: Sequence[Formed]
    named: Sequence[Named]
    given: Sequence[RuleParameter]
    running: Mapping[int, str]
    settled: list[RunValue] | None
    stored: Constant | None
    outputs: Sequence[Value]
    types: Sequence[Type]
    expected: Expected | None
    blocks: Sequence[Plan]
    frees: Sequence[Value]
    is_own: bool

    @property
    def names(self) -> list[str]:
        """The names of the outputs."""
        return [value.name for value in self.outputs]


class Plan(NamedTuple):
    """The steps of a block, which takes the `inputs` and returns the `outputs`."""

    inputs: Sequence[Value]
    steps: Sequence[Step]
    outputs: Sequence[Value]


def steps_of(plan: Plan) -> Iterator[Step]:
    """Yield the steps of a plan, including the steps of inner blocks."""
    for step in plan.steps:
        yield step
        for block in step.blocks:
            yield from steps_of(block)


class Planner:
    """Plans the blocks of a function; `arithmetic` is the way to compute fp16.

    Small constants of the program itself are converted to their form at once, as arguments of all runs.
    """

    def __init__(self, graph: StatedGraph, opset: str, constants: Constants, arithmetic: Arithmetic) -> None:
        self.graph = graph
        self.opset = OpsetText(opset)
        self.constants = constants
        self.arithmetic = arithmetic

    def plan(self, block: Block, inputs: Sequence[Value], path: Path) -> Plan:
        """Return the plan of a block with these inputs: its own, or those of its function."""
        own = {*inputs, *block.made()}
        # a compressed constant just before its first use, or else many adjacent ones would be expanded at the same time
        order = postponed(block, {op for op in block if is_compressed(op.type) and op.outputs})
        chosen = [self._chosen(op) for op in order]
        last = last_places(order, [[*_values(each.sources)] for each in chosen])
        leaving: dict[int, list[Value]] = {}
        for value in own.difference(block.outputs):
            leaving.setdefault(last.get(value, 0), []).append(value)
        places = {op: (*path, "operations", place) for place, op in enumerate(block)}
        steps = [self._step(op, chosen[turn], places[op], leaving.get(turn, ())) for turn, op in enumerate(order)]
        return Plan(inputs, steps, block.outputs)

    def _chosen(self, op: Op) -> Chosen:
        op_type = op.type
        return self.arithmetic.chosen(op, op_type, [self.graph.type(output) for output in op.outputs], self.graph)

    def _step(self, op: Op, chosen: Chosen, path: Path, frees: Sequence[Value]) -> Step:
        op_type, rule = op.type, chosen.rule
        types = [self.graph.type(output) for output in op.outputs]
        given, fixed = self._arguments(chosen, op, op_type)
        widen: Widen = _itself if chosen.is_held else widened
        around: dict[str, Formed] = {
            "Made": types,
            "OpsetText": self.opset,
            "Widen": widen,
            "Multiply": chosen.multiply,
        }
        fixed |= {name: around[form] for name, form in rule.forms.items() if form in around}
        running = {place: form for place, form in enumerate(rule.forms.values()) if form in RUNNING}
        blocks = [self.plan(block, block.inputs, (*path, "blocks", place)) for place, block in enumerate(op.blocks)]
        is_constant = op_type == "const"
        alone = [(each, _value_alone(each)) for each in given]
        return Step(
            path=path,
            operation=op,
            rule=rule,
            fixed=[fixed.get(name) for name in rule.forms],
            named=[Named(each.place, source, ALONE[each.form]) for each, source in alone if source is not None],
            given=[each for each, source in alone if source is None],
            running=running,
            settled=_settled(rule, fixed, types) if is_constant and not given else None,
            stored=_stored(given) if is_constant else None,
            outputs=op.outputs,
            types=types,
            expected=_expected(types),
            blocks=blocks,
            frees=frees,
            is_own=chosen.is_own,
        )

    def _arguments(self, chosen: Chosen, op: Op, op_type: str) -> tuple[list[RuleParameter], dict[str, Formed]]:
        bound: dict[str, Sequence[Binding]] = {name: [value] for name, value in self.graph.attributes[op].items()}
        bound |= {**self.graph.inputs[op], **chosen.sources}
        rule, forms = chosen.rule, HELD_FORMS if chosen.is_held else FORMS
        known = signature(op_type, self.opset)
        given: list[RuleParameter] = []
        fixed: dict[str, Formed] = {}
        for place, (name, form) in enumerate(rule.forms.items()):
            sources = [source for source in bound.get(name, ()) if source is not None]
            if sources:
                one = RuleParameter(place, name, sources, forms[form])
                if not self._settle(one, fixed):
                    given.append(one)
            elif form not in AROUND:
                parameter = known.parameters.get(name) if known else None
                fixed[name] = None if parameter is None else default_of(parameter.default, form)
        return given, fixed

    def _settle(self, given: RuleParameter, fixed: dict[str, Formed]) -> bool:
        """Fix a constant argument, and return whether it is constant."""
        sources = [self._constant(each) if isinstance(each, Value) else each for each in given.sources]
        settled = [each for each in sources if each and each.message.WhichOneof("value") == "immediateValue"]
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

    def _constant(self, value: Value) -> Constant | None:
        """Return the constant of a `const`, for its first output."""
        maker = value.maker
        is_const = maker is not None and maker.type == "const" and maker.outputs[0] is value
        return self.graph.attributes[maker].get("val") if maker is not None and is_const else None


def _values(sources: Mapping[str, Sequence[Binding]]) -> Iterator[Value]:
    """Yield the values among the sources of arguments."""
    return (each for several in sources.values() for each in several if isinstance(each, Value))


def _value_alone(given: RuleParameter) -> Value | None:
    """Return the value of a parameter; None for a constant and for several values."""
    (source, *others) = given.sources
    return source if isinstance(source, Value) and not others and given.form in ALONE else None


def _stored(given: Sequence[RuleParameter]) -> Constant | None:
    """Return the value of a const with a single one, as in a weight file."""
    sources = [source for each in given for source in each.sources]
    return sources[0] if len(sources) == 1 and not isinstance(sources[0], Value) else None


def _expected(types: Sequence[Type]) -> Expected | None:
    """Return the type with which an output needs no rounding; None if the types do not determine it."""
    if len(types) != 1 or not isinstance(types[0], TensorType) or types[0].dtype in WITHOUT_NUMPY:
        return None
    shape = tuple([size for size in types[0].shape if isinstance(size, int)])
    return Expected(shape, CARRIERS[types[0].dtype]) if len(shape) == len(types[0].shape) else None


def _settled(rule: Rule, fixed: Mapping[str, Formed], types: Sequence[Type]) -> list[RunValue] | None:
    """Return the outputs of a rule for constant arguments; None for a failure, which a run reports."""
    try:
        return outputs_of(rule.function(**fixed), types)
    except FAILURES:
        return None


def default_of(default: bool | float | str | None, form: str) -> Formed:
    """Return a default value in the form of a rule's parameter."""
    if default is None or form not in ("Array", "Held"):
        return default
    return np.asarray(default, np.float32 if isinstance(default, float) else None)


# ---- the forms in which arguments come


def _itself(value: Carried) -> Carried:
    return value


def _held(values: list[Carried]) -> Carried:
    return values[0]


def _widened(values: list[Carried]) -> Array:
    return widened(values[0])


def _element(values: list[Carried]) -> Carried:
    return values[0].item() if isinstance(values[0], np.ndarray) else values[0]


def _elements(values: list[Carried]) -> tuple[float, ...]:
    return tuple(np.atleast_1d(values[0]).tolist())


ALONE: dict[Callable[[list[Carried]], Formed], Callable[[Carried], Formed]] = {
    _held: _itself,
    _widened: widened,
    _element: lambda value: value.item() if isinstance(value, np.ndarray) else value,
    _elements: lambda value: tuple(np.atleast_1d(value).tolist()),
}
"""The forms of a single value, and their functions of that value."""

FORMS: dict[str, Callable[[list[Carried]], Formed]] = {
    "Array": _widened,
    "Held": _held,
    "Arrays": lambda values: list(map(widened, values)),
    "Helds": list,
    "Value": _held,
    "Values": list,
    **dict.fromkeys(("int", "float", "bool", "str"), _element),
    **dict.fromkeys(("Ints", "Bools"), _elements),
}

HELD_FORMS = {**FORMS, "Array": _held, "Arrays": list}
"""The forms of a rule that takes fp16 as it is carried."""
