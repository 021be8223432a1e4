"""The reference evaluator: a function of a Program, run on arrays."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.checking.findings import named
from miltext.diagnostics import Diagnostic, MiltextError, Note, codes, error
from miltext.diagnostics.arguments import checked
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.evaluation import operations  # noqa: F401  # importing it enters the rules
from miltext.evaluation.arithmetic import CHIPS, COMPUTING, DEVICES, Arithmetic
from miltext.evaluation.failures import OperationFailure, refuse_unreadable, without_rule
from miltext.evaluation.features import features_of
from miltext.evaluation.inputs import Intake
from miltext.evaluation.machine import Machine, Made
from miltext.evaluation.ownership import Owner
from miltext.evaluation.planning import Planner, steps_of
from miltext.evaluation.subjects import Subject, opened
from miltext.evaluation.values import Constants, State
from miltext.ir.functions import Block
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema import proto
from miltext.schema.paths import block_path
from miltext.schema.types import StateType, TensorType, Type
from miltext.syntax.gc_pause import gc_paused

if TYPE_CHECKING:
    import os

    from miltext.containers.sources import Source
    from miltext.evaluation.features import Feature
    from miltext.evaluation.planning import Step
    from miltext.evaluation.rules import Array
    from miltext.evaluation.standing import OpStanding
    from miltext.evaluation.values import RunValue
    from miltext.ir.functions import Function

HIDDEN = "name an output of an operation, or an input; `miltext print` shows them all"


@checked("weights", "allow_nan", "compute")
def run(
    model: Source,
    inputs: Mapping[str, Any],
    *,
    function: str = "main",
    state: MutableMapping[str, Any] | None = None,
    values: Collection[str] | str | None = None,
    seed: int | None = None,
    compute: str = "float32",
    weights: str | os.PathLike[str] | None = None,
    allow_nan: bool = False,
) -> dict[str, Any]:
    """Return the outputs of a model's function for these inputs: numpy arrays by name. See also `miltext.Evaluator`.

    Args:
        model: MIL text (a draft, too), a path, a Program or a Model.
        inputs: Arrays by name, or values that numpy converts to arrays; for an image, a picture of pillow's, too. The
            description allows their shapes; numbers are within the declared data type, and floats are rounded.
        function: The function to run; without a `main`, it is the description's default function, or the only one.
        state: The array of each state, updated by a run that does not fail; empty at first, for zeros.
        values: Names of further inner values to return, or "all" for each output of an operation.
        seed: A number that makes random operations repeatable.
        compute: The arithmetic of fp16: "float32", "native", "ane" or "cpu".
        weights: The folder of the weight files if it is not the model's own.
        allow_nan: Whether inputs may contain NaN or infinity.

    Returns:
        The outputs by name, and the requested values.

    Raises:
        ParseError: The text is not MIL text.
        ModelError, WeightsError: A model, or its weights (MIL30x), that cannot be read.
        MiltextError: All errors that `check` finds; MIL830 for an operation without a rule; MIL831 to MIL835 for inputs
            and states; MIL837 for an unknown function or value; MIL838 for an operation without a result.

    Example:
        outputs = miltext.run("Model.mlpackage", {"image": np.zeros((1, 1, 16, 16))})
    """
    evaluator = Evaluator(model, function, weights=weights, compute=compute)
    return evaluator.run(inputs, state=state, values=values, seed=seed, allow_nan=allow_nan)


class Evaluator:
    """A function of a program, checked and planned once, for any number of runs.

    Arguments and errors are described at `miltext.run`. With `check=False`, the program is not checked. `inputs`,
    `states` and `outputs` are the types of the function's inputs, states and outputs, by name; `features` has further
    facts of the description about inputs and outputs. `chip`, "M4" or "M6", is the chip whose measurements count for
    the `standings`: all known results are the same.

    With `compute="float32"`, fp16 is computed in float32 and then rounded after each operation; with "native", in the
    declared types; with "ane" or "cpu", as the Neural Engine, or Core ML's CPU, does where that was measured.

    Constants among the outputs are read-only views of the weights; all other arrays are the caller's own, of the
    declared shape and data type. A string is an array of numpy's strings, a list a Python list, and the probabilities
    of `classify` a dict. All requested `values` stay in memory. Of a value in a loop, the last one is kept; a block
    that did not run has none. A name means the value in the function's own block first.
    """

    @checked("weights", "compute", "chip", "check")
    def __init__(
        self,
        subject: Source | Subject,
        function: str = "main",
        *,
        weights: str | os.PathLike[str] | None = None,
        compute: str = "float32",
        chip: str = CHIPS[0],
        check: bool = True,
    ) -> None:
        for word, value, known in (("compute", compute, COMPUTING), ("chip", chip, CHIPS)):
            if value not in known:
                raise ValueError(f"{word} must be one of {', '.join(known)}, not {value!r}")
        if not isinstance(function, str):
            raise TypeError(f"function must be the name of one, a string, not {function!r}")
        self.compute, self.chip = compute, chip
        self.subject = opened(subject, weights)
        self.constants = self.subject.constants or Constants(self.subject.folder)
        with gc_paused:  # a program is many objects, and all of them stay
            self.function = self._chosen(function)
            self._prepare(Arithmetic(compute), check=check)

    def __repr__(self) -> str:
        return f"<Evaluator: {self.function}({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})>"

    def _prepare(self, arithmetic: Arithmetic, *, check: bool) -> None:
        """Check the program, plan the function, and find its constants."""
        graph = self.subject.graph
        function = graph.functions[self.function]
        opset = function.own_opset or next(iter(function.blocks), "")
        block = function.blocks.get(opset) or Block(proto.Block(), function)  # `check` refuses a function without any
        path = block_path(self.function, opset)
        self.subject.refuse([*(self.subject.errors() if check else ()), *without_rule(block, path)])
        self.plan = Planner(graph, opset, self.constants, arithmetic).plan(block, function.inputs, path)
        refuse_unreadable(self.subject, self.plan, self.constants)
        self._names: dict[str, Step | None] = {value.name: None for value in function.inputs}
        self._names |= {name: step for step in self.plan.steps for name in step.names}  # of its own block
        self._read_types(function, block)

    def _chosen(self, function: str) -> str:
        """Return the function to run. Raise MiltextError (MIL837)."""
        there = self.subject.graph.functions
        if function in there:
            return function
        description = self.subject.description
        default = description.defaultFunctionName if description is not None else ""
        if function == "main" and (default in there or len(there) == 1):
            return default if default in there else next(iter(there))
        message = f"there is no function {named(function)}{did_you_mean(nearest(function, there))}"
        way = Note(f"the program has {listed(sorted(there), 'and') if there else 'none'}")
        raise MiltextError([error(codes.UNKNOWN_RUN_NAME, message, None, way)], path=self.subject.name)

    def _read_types(self, function: Function, block: Block) -> None:
        graph = self.subject.graph
        types: dict[str, Type] = {value.name: graph.type(value) for value in function.inputs}
        self.states = {name: stated for name, stated in types.items() if isinstance(stated, StateType)}
        self.inputs = {name: stated for name, stated in types.items() if name not in self.states}
        self.outputs = {value.name: graph.type(value) for value in block.outputs}
        tensors = {name: kind for name, kind in {**self.outputs, **self.inputs}.items() if isinstance(kind, TensorType)}
        shapes = {name: tensor.shape for name, tensor in tensors.items()}
        attribute = graph.attributes[function].get(ATTRIBUTE)
        information = attribute.message if attribute else None
        self.features: dict[str, Feature] = features_of(self.subject.description, self.function, information, shapes)
        wrapped = {name: state.wrapped for name, state in self.states.items()}
        self._intakes = (
            Intake("input", self.inputs, wrapped, self.features),
            Intake("state", wrapped, self.inputs, {}),
        )

    def standings(self) -> list[OpStanding]:
        """Return how certain the arithmetic of each operation is on the device; none unless `compute` is a device."""
        if self.compute not in DEVICES:
            return []
        from miltext.evaluation.standing import standings

        return standings(self.plan, self.subject.graph, self.compute, self.chip)

    # ---- running

    def run(
        self,
        inputs: Mapping[str, Any],
        *,
        state: MutableMapping[str, Any] | None = None,
        values: Collection[str] | str | None = None,
        seed: int | None = None,
        allow_nan: bool = False,
        inner_steps: int | None = None,
    ) -> dict[str, Any]:
        """Return the outputs of the function for these inputs, as `miltext.run` does.

        There is no result (MIL838) after more than `inner_steps` operations in inner blocks, for inputs that may make
        a loop endless.
        """
        require_seed(seed)
        _require_count("inner_steps", inner_steps)
        _require_writable(state)
        wanted = self.wanted(values) - self.outputs.keys()
        given, held = self.taken(inputs, state, allow_nan)
        owner = Owner([*given.values(), *held.values()])
        kept = {name: owner.own(given[name]) for name in self.inputs if name in wanted}
        running = Execution(self._steps(given, held, state, seed, watched=bool(wanted), inner_steps=inner_steps))
        for made in running:
            if wanted:
                self._keep(made, wanted, kept, owner)
        return running.outputs | kept

    def steps(
        self,
        inputs: Mapping[str, Any],
        state: MutableMapping[str, Any] | None = None,
        seed: int | None = None,
        *,
        allow_nan: bool = False,
    ) -> Generator[Made, None, dict[str, Any]]:
        """Return a generator that runs the function as `run` does: it yields the values of each operation, in the order
        of execution, and returns the outputs by name.

        The yielded arrays are the program's own: read them, and do not write into them. Inputs are checked before the
        first step is taken.
        """
        require_seed(seed)
        _require_writable(state)
        return self._steps(*self.taken(inputs, state, allow_nan), state, seed)

    def taken(
        self, inputs: Mapping[str, Any], state: Mapping[str, Any] | None, allow_nan: bool
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return the arrays of the inputs and of the states. Raise MiltextError with all their errors."""
        for given in (inputs, {} if state is None else state):
            if not isinstance(given, Mapping):
                raise TypeError(
                    f"inputs are given by name, and states, too: in a mapping, not a {type(given).__name__}"
                )
        problems: list[Diagnostic] = []
        own, kept = self._intakes
        arrays = own.taken(inputs, problems, allow_nan=allow_nan)
        states = kept.taken({} if state is None else state, problems, allow_nan=True)
        if problems:
            raise MiltextError(problems, path=self.subject.name)
        return arrays, states

    def _steps(
        self,
        inputs: dict[str, Array],
        held: dict[str, Array],
        state: MutableMapping[str, Any] | None,
        seed: int | None,
        *,
        watched: bool = True,
        inner_steps: int | None = None,
    ) -> Generator[Made, None, dict[str, Any]]:
        """Run the function, and yield the values of each operation if `watched`."""
        machine = Machine(self.constants, seed, inner_steps)
        states = {name: State(held[name]) for name in self.states}
        names = [each.name for each in self.plan.inputs]
        given: list[RunValue] = [states[name] if name in states else inputs[name] for name in names]
        try:
            outputs = (
                (yield from machine.block(self.plan, {}, given)) if watched else machine.quietly(self.plan, {}, given)
            )
        except OperationFailure as failure:
            failure.locate(self.subject)
            raise
        owner = Owner([*inputs.values(), *held.values()])
        made = {output.name: owner.own(value) for output, value in zip(self.plan.outputs, outputs, strict=True)}
        if state is not None:
            left = {name: each.held for name, each in states.items()}
            state.update({name: array if array is held[name] else owner.own(array) for name, array in left.items()})
        return made

    def wanted(self, values: Collection[str] | str | None) -> set[str]:
        """Return the names of the inner values to return. Raise MiltextError (MIL837)."""
        if values is None:
            return set()
        _require_names(values)
        own = {name for step in self.plan.steps for name in step.names}
        inside = {name for step in steps_of(self.plan) for name in step.names} - self._names.keys()
        if values == "all":
            return own | inside
        known = own | inside | self.inputs.keys()
        requested = {values} if isinstance(values, str) else {*values}
        unknown = [
            error(
                codes.UNKNOWN_RUN_NAME,
                f"there is no value {named(name)}{did_you_mean(nearest(name, known))}",
                None,
                Note(HIDDEN),
            )
            for name in sorted(requested - known)
        ]
        if unknown:
            raise MiltextError(unknown, path=self.subject.name)
        return requested

    def of_step(self, made: Made) -> Iterator[tuple[str, Any, Type]]:
        """Yield the values made by a step: names, values and declared types.

        A name in the function's own block means the value there, never a value of an inner block.
        """
        step = made.step
        for name, value, declared in zip(step.names, made.values, step.types, strict=True):
            if self._names.get(name, step) is step:
                yield name, value, declared

    def _keep(self, made: Made, wanted: Collection[str], kept: dict[str, Any], owner: Owner) -> None:
        """Keep the wanted values of a step."""
        is_constant = made.step.operation.type == "const"
        for name, value, _ in self.of_step(made):
            if name in wanted:
                kept[name] = value if is_constant else owner.own(value)


def require_seed(seed: object) -> None:
    """Raise TypeError or ValueError unless `seed` is a seed of random numbers."""
    _require_count("seed", seed)


def _require_count(name: str, given: object) -> None:
    if given is not None and not isinstance(given, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number or None, not {given!r}")
    if given is not None and given < 0:
        raise ValueError(f"{name} must be 0 or more, not {given}")


def _require_names(values: object) -> None:
    if not isinstance(values, Collection) or not all(isinstance(name, str) for name in values):
        raise TypeError(f"values are the names of some, strings, or 'all', not {values!r}")


def _require_writable(state: object) -> None:
    if state is not None and not isinstance(state, MutableMapping):
        raise TypeError(f"state must be a dict that the run writes to, not a {type(state).__name__}")


class Execution:
    """The steps of a run, for one iteration; afterwards it has the `outputs`."""

    def __init__(self, steps: Generator[Made, None, dict[str, Any]]) -> None:
        self._steps = steps
        self.outputs: dict[str, Any] = {}

    def __iter__(self) -> Iterator[Made]:
        self.outputs = yield from self._steps
