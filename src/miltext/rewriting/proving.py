"""Proofs of replacements: a program before and after, computed by the evaluator on inputs with edge values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from miltext.diagnostics import MiltextError
from miltext.evaluation.comparing.measures import measure
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.planning import steps_of
from miltext.rewriting.inputs import INNER_STEPS, INNER_STEPS_AFTER, InputDrawer, takes_integers
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miltext.evaluation.features import Feature
    from miltext.evaluation.rules import Array
    from miltext.rewriting.exactness import Exactness
    from miltext.schema.proto import Program
    from miltext.schema.types import Type


@dataclass
class Proof:
    """The result of a comparison on several inputs: the number of inputs, and the first failure, empty for none.

    It is void if the program before has no result for any input, and without `has_result` if the program after has none
    for an input of the program before.
    """

    inputs: int = 0
    failure: str = ""
    is_void: bool = False
    has_result: bool = True
    given: dict[str, Array] = field(default_factory=dict, repr=False)

    @property
    def is_proven(self) -> bool:
        """Whether there were inputs, and nothing failed."""
        return not self.failure and self.inputs > 0


def prove(
    before: Program,
    after: Program,
    function: str,
    exactness: Exactness,
    domain: float | None,
) -> Proof:
    """Compare the outputs of a function before and after a rewriting; stop at the first input that fails.

    Inputs for which the program before has no result are left out.
    """
    proof = Proof()
    try:
        old = Evaluator(before, function)
    except MiltextError as failure:
        return Proof(failure=failure.diagnostics[0].message, is_void=True)
    try:
        new = Evaluator(after, function)
        for given in drawer(old, old.inputs, domain).inputs():
            proof.given = given
            try:
                wanted = old.run(given, seed=0, allow_nan=True, inner_steps=INNER_STEPS)
            except MiltextError:
                continue
            proof.inputs += 1
            found = new.run(given, seed=0, allow_nan=True, inner_steps=INNER_STEPS_AFTER)
            proof.failure = difference(old.outputs, wanted, found, exactness)
            if proof.failure:
                return proof
    except MiltextError as failure:
        proof.failure, proof.has_result = failure.diagnostics[0].message, False
        return proof
    if not proof.inputs:
        proof.is_void, proof.failure = True, "the program has no result for any input"
    return proof


def drawer(
    evaluator: Evaluator, types: Mapping[str, Type], domain: float | None, features: Mapping[str, Feature] | None = None
) -> InputDrawer:
    """Return a function that draws inputs of these types for a function."""
    op_types = {each.operation.type for each in steps_of(evaluator.plan)}
    return InputDrawer(types, domain, features, takes_integers(op_types))


def difference(
    types: Mapping[str, Type], wanted: Mapping[str, object], found: Mapping[str, object], exactness: Exactness | None
) -> str:
    """Return the first element outside of an exactness in values of these types, in words; empty if there is none.

    Without an exactness, only shapes count.
    """
    for name, stated in types.items():
        before, after = np.asarray(wanted[name]), np.asarray(found[name])
        if not isinstance(stated, TensorType):
            apart = measure(wanted[name], found[name])
            if apart.misfit or (exactness is not None and apart.level < math.inf):
                return f"`{name}` has other elements"
            continue
        if before.shape != after.shape:
            return f"`{name}` has the shape {list(after.shape)}, not {list(before.shape)}"
        outside = None if exactness is None else exactness.excess(before, after, stated.dtype)
        if outside is not None and outside.any():
            place = tuple(int(each) for each in np.argwhere(outside)[0])
            was, now = before[place], after[place]
            return f"`{name}`{[*place] if place else ''} was {was!s}, and is {now!s}: {exactness} does not allow that"
    return ""
