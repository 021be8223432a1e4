"""The reference evaluator: a function of a Program, run on arrays."""

from __future__ import annotations

from collections.abc import Generator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.checking.inference.reading import read_program
from miltext.evaluation import operations  # noqa: F401  # importing it enters the rules
from miltext.evaluation.machine import Machine, Made
from miltext.evaluation.planning import Planner
from miltext.evaluation.values import CARRIERS, Constants, State, rounded
from miltext.models.model import Model
from miltext.schema.paths import Key
from miltext.schema.types import StateType, TensorType, Type

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.schema.proto import Program


class Evaluator:
    """One function of a program, planned once and run as often as is asked for.

    `weights` is the folder of its weight files, where `subject` is not a Model that knows it. `inputs` are the types of
    what it takes, by name, `states` those of its states. `compute` is "float32", or "native" to compute in the declared
    types, without float32 between.
    """

    def __init__(
        self, subject: Model | Program, function: str = "main", *, weights: Path | None = None, compute: str = "float32"
    ) -> None:
        program, folder = (subject.program, subject.model_path) if isinstance(subject, Model) else (subject, weights)
        self.constants = Constants(folder)
        read = read_program(program).functions[function]
        opset = read.opset if read.opset in read.blocks else next(iter(read.blocks))
        types = {value.name: value.stated.type for value in read.inputs}
        self.states = {name: stated for name, stated in types.items() if isinstance(stated, StateType)}
        self.inputs = {name: stated for name, stated in types.items() if name not in self.states}
        path = ("functions", Key(function), "block_specializations", Key(opset))
        self.plan = Planner(opset, native=compute == "native").plan(read.blocks[opset], read.inputs, path)

    def steps(
        self, inputs: Mapping[str, Any], state: MutableMapping[str, Any] | None = None, seed: int | None = None
    ) -> Generator[Made, None, dict[str, Any]]:
        """Run the function: yield what each operation makes, and return the outputs by name.

        `state` holds the array of each state, from one run to the next: what it lacks is zeros, and in the end it has
        what the states hold then.
        """
        machine = Machine(self.constants, np.random.default_rng(seed))
        states = {name: _state(stated, (state or {}).get(name)) for name, stated in self.states.items()}
        given = [
            states[name] if name in states else _carried(inputs[name], self.inputs[name]) for name in self.plan.inputs
        ]
        with np.errstate(all="ignore"):
            outputs = yield from machine.block(self.plan, {}, given)
        if state is not None:
            state.update({name: each.held for name, each in states.items()})
        return dict(zip(self.plan.outputs, outputs, strict=True))


def _carried(value: Any, stated: Type) -> Any:
    return rounded(np.asarray(value), stated.dtype) if isinstance(stated, TensorType) else value


def _state(stated: StateType, held: Any) -> State:
    wrapped = stated.wrapped
    if not isinstance(wrapped, TensorType):
        raise TypeError("a state of an unknown type")
    if held is None:
        return State(np.zeros([size or 0 for size in wrapped.shape], CARRIERS[wrapped.dtype]))
    return State(rounded(np.asarray(held), wrapped.dtype))
