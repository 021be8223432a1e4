"""Proofs of whole rewritings: each function with a replaced site, computed before and after."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.checking.findings import named
from miltext.diagnostics import MiltextError, codes, error
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import tally
from miltext.evaluation.comparing.measures import measure
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.features import NOTHING_SAID, features_of
from miltext.evaluation.subjects import Subject
from miltext.rewriting.exactness import Exactness
from miltext.rewriting.excess import steps
from miltext.rewriting.inputs import INNER_STEPS, INNER_STEPS_AFTER
from miltext.rewriting.proving import difference, drawer
from miltext.rewriting.python_rules import PythonRule
from miltext.rewriting.random_operations import is_unseeded
from miltext.rewriting.site_programs import SIZES, closed
from miltext.rewriting.verifying import given_note
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.features import Feature
    from miltext.evaluation.rules import Array
    from miltext.ir.functions import Function
    from miltext.rewriting.inputs import InputDrawer
    from miltext.rewriting.operands import ConstantContents
    from miltext.rewriting.passes import AnyRule
    from miltext.rewriting.planning import PlannedSite
    from miltext.schema.proto import ModelDescription, Program
    from miltext.schema.types import Type

SEEDS = 1
"""The number of random inputs of each kind."""

EXACT = Exactness("exact")


@dataclass
class OutputChange:
    """How far an output, or a state after the run, is from that before the rewriting.

    `equal` are equal bits for all inputs. `ulp`, `atol` and `rtol` are the largest differences on given and random
    inputs, of elements that are finite before and after. `lost` is the number of elements, for all inputs, that are
    finite only before.
    """

    name: str
    equal: bool = True
    ulp: float = 0.0
    atol: float = 0.0
    rtol: float = 0.0
    lost: int = 0

    @np.errstate(all="ignore")
    def add(self, before: Carried, after: Carried, *, is_random: bool) -> None:
        """Add the values of a run, of equal shapes."""
        if isinstance(before, Mapping | list):
            found = measure(before, after)
            self.equal = self.equal and found.level == math.inf
            self.atol = max(self.atol, (found.maximum or 0.0) if is_random else 0.0)
            return
        old, new = np.asarray(before), np.asarray(after)
        self.equal = self.equal and not EXACT.excess(old, new, "").any()
        if old.dtype.kind == "f":
            are_finite = np.isfinite(old) & np.isfinite(new)
            self.lost += int(np.count_nonzero(np.isfinite(old) & ~are_finite))
            if is_random and are_finite.any():
                self._widen(old[are_finite], new[are_finite])

    def _widen(self, before: Array, after: Array) -> None:
        """Widen the bounds by the differences of finite elements."""
        numbers = before.astype(np.float64)
        apart = np.abs(numbers - after.astype(np.float64))
        self.ulp = max(self.ulp, float(np.abs(steps(before) - steps(after)).max()))
        self.atol = max(self.atol, float(apart.max()))
        self.rtol = max(self.rtol, float(np.max(apart / np.abs(numbers), where=numbers != 0, initial=0.0)))


@dataclass
class FunctionProof:
    """A function before and after a rewriting: the number of inputs, or the reason why it was not computed.

    `declared` is the exactness of each rule that replaced a site and may change numbers.
    """

    function: str
    inputs: int = 0
    reason: str = ""
    declared: dict[str, str] = field(default_factory=dict)
    outputs: list[OutputChange] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        """Whether all outputs have equal bits for all inputs."""
        return all(each.equal for each in self.outputs)

    def lines(self) -> Iterator[str]:
        """Yield the result in words, as lines."""
        if self.reason:
            yield f"{self.function}: only its replacements are proven: {self.reason}"
            return
        number = tally(self.inputs, "input")
        if self.is_equal:
            yield f"{self.function}: all outputs are equal bit for bit, on {number}"
            return
        for each in self.outputs:
            if each.equal:
                yield f"{self.function}/{each.name}: equal bit for bit, on {number}"
                continue
            lost = f", {tally(each.lost, 'element')} no longer finite" if each.lost else ""
            found = f"ulp {each.ulp:g}, atol {each.atol:.3g}, rtol {each.rtol:.3g}{lost}"
            yield f"{self.function}/{each.name}: differs by {found}, on {number}"
        bounds = "; ".join(f"{rule}: {exactness}" for rule, exactness in self.declared.items())
        yield f"{self.function}: declared for each replacement: {bounds}"


class WholeRewriting(NamedTuple):
    """A program before and after a rewriting, and the rules that may have changed it, by function."""

    before: Program
    after: Program
    rules: Mapping[str, Sequence[AnyRule]]

    @classmethod
    def of(
        cls, before: Program, after: Program, rules: Iterable[AnyRule], replaced: Iterable[PlannedSite]
    ) -> WholeRewriting:
        """Return a rewriting by some rules, with these replaced sites. A rule in Python may change all functions."""
        by_name = {rule.name: rule for rule in rules}
        used: dict[str, list[AnyRule]] = {}
        for function, name in dict.fromkeys((each.function, each.rule) for each in replaced):
            for place in before.functions if isinstance(by_name[name], PythonRule) else [function]:
                used.setdefault(place, []).append(by_name[name])
        return cls(before, after, {place: [*dict.fromkeys(several)] for place, several in used.items()})


def prove_whole(
    done: WholeRewriting, contents: ConstantContents, description: ModelDescription | None, given: Named | None = None
) -> list[FunctionProof]:
    """Compute each function with a replaced site before and after, on given and on drawn inputs.

    Raise MiltextError: MIL872 if exact rules changed a number, or a function has no result any more; MIL832 for given
    inputs that no function has, and the other errors of given inputs.
    """
    before, after = (Subject(each, None, constants=contents.constants()) for each in (done.before, done.after))
    _refuse_unknown(given or {}, before)
    return [
        _FunctionProving(name, rules, contents, description).proof(before, after, given or {})
        for name, rules in sorted(done.rules.items())
    ]


def _refuse_unknown(given: Named, before: Subject) -> None:
    """Raise MiltextError (MIL832) for given inputs that no function has."""
    known = {value.name: None for function in before.graph.functions.values() for value in function.inputs}
    unknown = [name for name in given if name not in known]
    if unknown:
        words = ((name, did_you_mean(nearest(name, known))) for name in unknown)
        raise MiltextError(
            [error(codes.UNKNOWN_INPUT, f"no function has an input {named(name)}{near}") for name, near in words]
        )


class _Drawn(NamedTuple):
    """The inputs and states of a run; some may be given, and the others random or with edge values."""

    values: dict[str, Carried]
    is_random: bool
    is_given: bool = False


class _FunctionProving:
    """The proof of a function in progress."""

    _old: Evaluator
    _new: Evaluator

    def __init__(
        self, name: str, rules: Sequence[AnyRule], contents: ConstantContents, description: ModelDescription | None
    ) -> None:
        inexact = [each for each in rules if not (each.exactness.is_exact and each.domain is None)]
        self._proof = FunctionProof(name, declared={each.name: _declared(each) for each in inexact})
        self._contents = contents
        self._description = description

    def proof(self, before: Subject, after: Subject, given: Named) -> FunctionProof:
        """Return the proof. Raise MiltextError as `prove_whole` does."""
        proof = self._proof
        try:
            self._old = Evaluator(before, proof.function)
        except MiltextError as failure:
            proof.reason = _first(failure)
            return proof
        proof.reason = self._random(before.graph.functions[proof.function])
        if not proof.reason:
            with self._refusing({}):
                self._new = Evaluator(after, proof.function)
            self._run_all(given)
        return proof

    def _random(self, function: Function) -> str:
        """Return the reason why random operations forbid a comparison; empty if they do not."""
        drawn = next((op.outputs[0].name for op in function.walk() if is_unseeded(op, self._contents)), None)
        return "" if drawn is None else f"{named(drawn)} is random, without a seed"

    # ---- inputs

    @property
    def _states(self) -> dict[str, Type]:
        return {name: state.wrapped for name, state in self._old.states.items()}

    def _features(self) -> Mapping[str, Feature]:
        """Return the facts of the description, or else of the program, about inputs."""
        if self._description is None:
            return self._old.features
        types = {name: each for name, each in self._old.inputs.items() if isinstance(each, TensorType)}
        return features_of(
            self._description, self._proof.function, None, {name: each.shape for name, each in types.items()}
        )

    def _drawer(self, size: int, names: Collection[str] = ()) -> InputDrawer:
        """Return a function that draws the inputs and states, except some names."""
        features = self._features()
        types = {
            name: each if features.get(name, NOTHING_SAID).default else closed(each, size)
            for name, each in (self._old.inputs | self._states).items()
            if name not in names
        }
        return drawer(self._old, types, None, features)

    def _inputs(self, given: Named, size: int) -> Iterator[_Drawn]:
        """Yield the inputs of all runs, first the given ones. Raise MiltextError for inputs that cannot be drawn."""
        if given:
            yield _Drawn({**next(self._drawer(size, given.keys()).random(0)), **given}, True, is_given=True)
        draws = self._drawer(size)
        for seed in range(SEEDS):
            yield from (_Drawn({**each}, True) for each in draws.random(seed))
            yield from (_Drawn({**each}, False) for each in draws.edges(seed))

    def _run_all(self, given: Named) -> None:
        """Run both functions on given inputs, and on drawn ones of the first size with a result."""
        own = {name: value for name, value in given.items() if name in self._old.inputs}
        for size in SIZES:
            drawn = self._inputs(own, size)
            while (each := self._next(drawn)) is not None:
                self._run(each)
            if self._proof.inputs:
                self._proof.reason = ""
                return

    def _next(self, drawn: Iterator[_Drawn]) -> _Drawn | None:
        """Return the next inputs; None after the last ones, and if they cannot be drawn."""
        try:
            return next(drawn, None)
        except MiltextError as failure:
            self._proof.reason = _first(failure)
            return None

    # ---- runs

    def _run(self, drawn: _Drawn) -> None:
        """Run both functions, unless the old one has no result for drawn inputs."""
        inputs = {name: drawn.values[name] for name in self._old.inputs}
        before, after = ({name: drawn.values[name] for name in self._states} for _ in range(2))
        most = (None, None) if drawn.is_given else (INNER_STEPS, INNER_STEPS_AFTER)
        try:
            wanted = self._old.run(inputs, state=before, seed=0, allow_nan=True, inner_steps=most[0])
        except MiltextError as failure:
            if drawn.is_given:
                raise
            self._proof.reason = _first(failure)
            return
        with self._refusing(inputs):
            found = self._new.run(inputs, state=after, seed=0, allow_nan=True, inner_steps=most[1])
        self._compare({**wanted, **before}, {**found, **after}, drawn)
        self._proof.inputs += 1

    def _compare(self, wanted: Named, found: Named, drawn: _Drawn) -> None:
        """Compare the values of a run. Raise MiltextError (MIL872) if exact rules changed one, or any rule a shape."""
        types = {**self._old.outputs, **self._states}
        changed = difference(types, wanted, found, None if self._proof.declared else EXACT)
        if changed:
            raise self._unproven(f"changes the function {named(self._proof.function)}: {changed}", drawn.values)
        self._proof.outputs = self._proof.outputs or [OutputChange(name) for name in types]
        for each in self._proof.outputs:
            each.add(wanted[each.name], found[each.name], is_random=drawn.is_random)

    @contextmanager
    def _refusing(self, inputs: Named) -> Iterator[None]:
        """Refuse a rewriting that an error in a `with` block proves wrong."""
        try:
            yield
        except MiltextError as failure:
            broken = f"breaks the function {named(self._proof.function)}: {_first(failure)}"
            raise self._unproven(broken, inputs) from None

    def _unproven(self, clause: str, inputs: Named) -> MiltextError:
        """Return the error of a wrong rewriting, with the inputs that show it."""
        rules = "" if self._proof.declared else ", although all its rules are exact"
        return MiltextError([error(codes.UNPROVEN_RULE, f"the rewriting {clause}{rules}", None, *given_note(inputs))])


def _declared(rule: AnyRule) -> str:
    if rule.domain is None:
        return f"{rule.exactness}"
    return f"{rule.exactness}, for {'finite inputs' if math.isinf(rule.domain) else f'inputs up to {rule.domain:g}'}"


def _first(failure: MiltextError) -> str:
    return failure.diagnostics[0].message
