"""The programs that a comparison runs, and the same inputs for both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.checking.findings import named
from miltext.diagnostics import Diagnostic, MiltextError, codes, error
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.evaluation.arithmetic import DEVICES
from miltext.evaluation.comparing.partners import OUTPUT, VALUE, Partners, Walked, by_name, by_structure
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.planning import steps_of
from miltext.evaluation.random_inputs import random_inputs
from miltext.evaluation.subjects import Subject, opened
from miltext.ir.parts import Value
from miltext.pairing.contents import Keys, ProgramContents
from miltext.pairing.keyed import KeyedGraph
from miltext.pairing.pairing import pair_functions
from miltext.schema.types import StateType, TensorType, Type, compatible, known_sizes, show, spelled

if TYPE_CHECKING:
    import os

    from miltext.containers.sources import Source
    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.comparing.lockstep import Lockstep
    from miltext.schema.paths import Path


class ComparedProgram(NamedTuple):
    """A program to be compared: its name, its source, and its graph."""

    name: str
    subject: Subject
    graph: KeyedGraph


def compared_subject(source: Source | Subject, weights: str | os.PathLike[str] | None) -> Subject:
    """Return the subject to compare; `weights` is the folder of weight files for a subject without its own."""
    subject = opened(source, weights)
    if subject.model is not None and subject.model.kind in ("mlpackage", "mlmodelc"):
        subject.folder = subject.model.model_path
    return subject


def side(source: Source | Subject, name: str, keys: Keys, weights: str | os.PathLike[str] | None) -> ComparedProgram:
    """Return a program to be compared; a program without a name of its own gets `name`. Raise MiltextError."""
    subject = compared_subject(source, weights)
    graph = KeyedGraph(subject.program, keys, ProgramContents(keys, subject.folder))
    return ComparedProgram(name if subject.name in (None, "<text>") else str(subject.name), subject, graph)


@dataclass
class Runner:
    """A function of one side: its evaluator, its operations, and its states between runs."""

    name: str
    evaluator: Evaluator
    walked: Walked
    state: dict[str, Carried] = field(default_factory=dict)

    @property
    def types(self) -> dict[str, Type]:
        """The types of all inputs of the function, by name."""
        return {**self.evaluator.inputs, **self.evaluator.states}

    @cached_property
    def _made(self) -> dict[Path, Sequence[Type]]:
        return {step.path: step.types for step in steps_of(self.evaluator.plan)}

    def type(self, value: Value) -> Type:
        """Return the declared type of a value, None where it is unknown."""
        maker = value.maker
        if maker is None:
            return self.types[value.name]
        types = self._made.get(self.walked.paths[maker], ())
        place = maker.outputs.index(value)
        return types[place] if place < len(types) else None

    def input(self, name: str) -> Value:
        """Return the function's input of a name."""
        return next(each for each in self.walked.function.inputs if each.name == name)


def runner(side: ComparedProgram, function: str, compute: str) -> Runner:
    """Return the runner of one side's function. Raise MiltextError where it cannot be run."""
    evaluator = Evaluator(side.subject, function, compute=compute)
    paired = side.graph.functions[evaluator.function]
    opset = paired.own_opset or next(iter(paired.blocks))
    return Runner(side.name, evaluator, Walked(side.graph, evaluator.function, opset))


@dataclass
class Arrangement:
    """The program or programs to run, the pairs to compare, and the new names of inputs and states by old name."""

    runners: list[Runner]
    partners: Partners
    names: dict[str, str]

    def notes(self) -> Iterator[str]:
        """Yield a note for each input, output and state without a partner."""
        old, new = self.runners[0], self.runners[-1]
        paired = {*self.names.values()}
        yield from (f"the input {named(name)} is only in {old.name}" for name in old.types if name not in self.names)
        yield from (f"the input {named(name)} is only in {new.name}" for name in new.types if name not in paired)
        yield from (f"the output {named(name)} is only in {old.name}" for name in self.partners.lost)
        yield from (f"the output {named(name)} is only in {new.name}" for name in self.partners.gained)


def arranged(old: ComparedProgram, new: ComparedProgram, function: str, compute: str) -> Arrangement:
    """Return two programs with corresponding functions. Raise MiltextError (MIL842, MIL843) if they do not correspond.
    The old program is computed in float32 where the new one follows a device.
    """
    first = runner(old, function, "float32" if compute in DEVICES else compute)
    chosen = first.evaluator.function
    paired = next(pair for pair in pair_functions(old.graph, new.graph) if pair.old_name == chosen)
    if paired.new is None:
        raise refused(
            codes.NOTHING_TO_COMPARE, f"{new.name} has no function that corresponds to {named(chosen)} of {old.name}"
        )
    second = runner(new, paired.name, compute)
    ours, theirs = first.walked.function.inputs, second.walked.function.inputs
    inputs = [(ours[i], theirs[j]) for i, j in paired.inputs]
    names = {value.name: other.name for value, other in inputs}
    _refuse_other_inputs(first, second, names)
    block = next(
        (each for each in paired.blocks if each.old is first.walked.block and each.new is second.walked.block), None
    )
    states = {value: other for value, other in inputs if value.name in first.evaluator.states}
    tensors = {value: other for value, other in inputs if value not in states}
    partners = by_structure(first.walked, second.walked, tensors, states, block)
    if all(pair.kind == VALUE for pair in partners.pairs):
        raise refused(
            codes.NOTHING_TO_COMPARE,
            f"no output of {new.name} corresponds to one of {old.name}; give the outputs equal names",
        )
    _refuse_other_outputs(first, second, partners)
    return Arrangement([first, second], partners, names)


def arranged_against(side: ComparedProgram, arrays: Named, function: str, compute: str) -> Arrangement:
    """Return a program to be compared with arrays. Raise MiltextError (MIL844) for a name that it does not have."""
    only = runner(side, function, compute)
    outputs = only.walked.block.outputs
    known = dict.fromkeys(value.name for value in (*outputs, *only.walked.values))
    unknown = [name for name in arrays if name not in known]
    if unknown or not arrays:
        raise MiltextError(
            [_unknown(name, known) for name in unknown] or [error(codes.UNKNOWN_COMPARED_VALUE, "there are no arrays")]
        )
    partners = by_name(only.walked, arrays)
    _refuse_other_arrays(only, arrays, partners)
    partners.gained = [value.name for value in outputs if value.name not in arrays]
    return Arrangement([only], partners, {name: name for name in only.types})


def numbers_given(against: Named) -> dict[str, Carried]:
    """Return the caller's values as arrays; dictionaries and lists of arrays stay. Raise MiltextError (MIL844)."""
    found = {}
    for name, value in against.items():
        held = isinstance(value, Mapping) or (isinstance(value, list) and any(hasattr(each, "dtype") for each in value))
        try:
            found[name] = value if held else np.asarray(value)
        except ValueError as failure:
            raise refused(
                codes.UNKNOWN_COMPARED_VALUE, f"numpy cannot convert the value of {named(name)} to an array: {failure}"
            ) from failure
    return found


def _unknown(name: str, known: Mapping[str, None]) -> Diagnostic:
    near = did_you_mean(nearest(name, known))
    return error(
        codes.UNKNOWN_COMPARED_VALUE,
        f"no output or inner value is called {named(name)}{near or '; leave its array out'}",
    )


def _refuse_other_inputs(first: Runner, second: Runner, names: Mapping[str, str]) -> None:
    reported = [
        error(
            codes.PORTS_DIFFER,
            f"the input {named(name)} is {spelled(first.types[name])} in {first.name}, and "
            f"{named(other)} is {spelled(second.types[other])} in {second.name}; "
            "programs are compared on inputs that both accept",
        )
        for name, other in names.items()
        if not _fits(first.types[name], second.types[other])
    ]
    if reported:
        raise MiltextError(reported)


def _refuse_other_outputs(first: Runner, second: Runner, partners: Partners) -> None:
    reported = []
    for pair in (each for each in partners.pairs if each.kind == OUTPUT):
        assert isinstance(pair.old, Value), "both are programs"
        old, new = first.type(pair.old), second.type(pair.new)
        if not compatible(_shape(old), _shape(new)):
            name, other = pair.old.name, pair.new.name
            message = f"the output {named(name)} is {spelled(old)} in {first.name}, and {named(other)} is"
            rest = f"{spelled(new)} in {second.name}; programs are compared by outputs of one shape"
            reported.append(error(codes.PORTS_DIFFER, f"{message} {rest}"))
    if reported:
        raise MiltextError(reported)


def _refuse_other_arrays(only: Runner, arrays: Named, partners: Partners) -> None:
    reported = []
    for (name, array), pair in zip(arrays.items(), partners.pairs, strict=True):
        declared = only.type(pair.new)
        if isinstance(array, np.ndarray) and not compatible(_shape(declared), array.shape):
            message = f"the array of {named(name)} has the shape {show(array.shape)}, and {named(name)} is"
            reported.append(
                error(codes.PORTS_DIFFER, f"{message} {spelled(declared)} in {only.name}; give one of its shape")
            )
    if reported:
        raise MiltextError(reported)


def _shape(type: Type) -> object:
    return type.shape if isinstance(type, TensorType) else None


def _fits(old: Type, new: Type) -> bool:
    """Return whether an array is a valid input of both types, apart from rounding."""
    if isinstance(old, StateType) and isinstance(new, StateType):
        return _fits(old.wrapped, new.wrapped)
    if isinstance(old, TensorType) and isinstance(new, TensorType):
        return (old.dtype == "string") == (new.dtype == "string") and compatible(old.shape, new.shape)
    return type(old) is type(new)


def refused(code: str, message: str) -> MiltextError:
    """Return the error about programs or arrays that cannot be compared."""
    return MiltextError([error(code, message)])


# ---- inputs


def filled(
    evaluator: Evaluator, inputs: Named, seed: int, shapes: Mapping[str, Sequence[int]] | None = None
) -> dict[str, Carried]:
    """Return inputs with random numbers for missing ones, except inputs with a default."""
    features = evaluator.features
    left = {name: declared for name, declared in evaluator.inputs.items() if name not in inputs}
    missing = {name: left[name] for name in left if features[name].filling is None}
    return {**inputs, **random_inputs(missing, seed, features=features, shapes=shapes)}


class Feeder:
    """Runs the programs of an arrangement with the same inputs; `state` contains the initial states.

    After a run, `has_random` is true if any input was random.
    """

    def __init__(self, arrangement: Arrangement, state: Named, allow_nan: bool) -> None:
        self._runners = arrangement.runners
        self._names = arrangement.names
        self._allow_nan = allow_nan
        self.has_random = False
        for each, held in zip(self._runners, self._both(state), strict=True):
            each.state.update({name: np.array(value) for name, value in held.items()})

    def _both(self, given: Named) -> list[dict[str, Carried]]:
        """Return the inputs of each program by its own names; `given` has the names of the old program, or else the
        new.
        """
        if len(self._runners) == 1:
            return [dict(given)]
        old, new = self._runners
        back = {other: name for name, other in self._names.items()}
        named = {name if name in old.types else back.get(name, name): value for name, value in given.items()}
        first = {name: value for name, value in named.items() if name in old.types or name not in new.types}
        second = {self._names[name]: value for name, value in named.items() if name in self._names}
        return [
            first,
            second | {name: value for name, value in named.items() if name in new.types and name not in back},
        ]

    def given(self, inputs: Named, seed: int | None, run: int) -> list[dict[str, Carried]]:
        """Return the inputs of each program: given ones, and random numbers for missing ones if no input or a seed is
        given.
        """
        both = self._both(inputs)
        if inputs and seed is None:
            return both
        for each, own in zip(self._runners, both, strict=True):
            self._share(own, both[0], each)
            whole = filled(each.evaluator, own, (seed or 0) + run, self._sizes())
            self.has_random |= len(whole) > len(own)
            own.update(whole)
        return both

    def _sizes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of inputs with open sizes in the old program, and known ones in the new program."""
        old, new = self._runners[0], self._runners[-1]
        found = {}
        for name, other in self._names.items():
            left, said = old.types[name], new.types[other]
            if isinstance(left, TensorType) and isinstance(said, TensorType) and known_sizes(left.shape) is None:
                found[name] = known_sizes(said.shape)
        return {name: sizes for name, sizes in found.items() if sizes is not None}

    def _share(self, own: dict[str, Carried], first: Named, runner: Runner) -> None:
        """Use the inputs of the old program for the new one."""
        if runner is not self._runners[0]:
            own.update({new: first[old] for old, new in self._names.items() if old in first})

    def run(
        self,
        lockstep: Lockstep,
        inputs: Sequence[Named],
        arrays: Named,
        seed: int,
        progress: Callable[[int], object],
    ) -> None:
        """Run the programs once, and measure the values; `arrays` replace a missing old program."""
        for place, array in enumerate(arrays.values()):
            lockstep.put(0, place, array, None)
        steps = {}
        for side, (each, values) in enumerate(zip(self._runners, inputs, strict=True), 2 - len(self._runners)):
            taken, _ = each.evaluator.taken(values, each.state, self._allow_nan)
            steps[side] = each.evaluator.steps(taken, each.state, seed, allow_nan=True)
            for name, declared in each.evaluator.inputs.items():
                lockstep.put(side, each.input(name), taken[name], declared)
        lockstep.run(steps, progress)
        for side, each in enumerate(self._runners, 2 - len(self._runners)):
            for name, state in each.evaluator.states.items():
                lockstep.put(side, each.input(name), each.state[name], state.wrapped)
