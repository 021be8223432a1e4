"""The evaluator agrees with the checker: what that accepts has results of the types that it infers, or says why not."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.evaluation import computed
from support.variations import made_up, varied

import miltext
from miltext.diagnostics import MiltextError
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.failures import OperationFailure
from miltext.reference.entries import Example, entries, families
from miltext.schema.types import TensorType

WITHOUT_RULE = {"custom_layer"}
EXAMPLES = [
    (name, example) for name, entry in entries().items() if name not in WITHOUT_RULE for example in entry.examples
]
VARIATIONS = 6
"""How many variations of each example are tried."""

ENDLESS = {"while_loop"}
"""Operations of which a variation may run for ever."""


@pytest.mark.parametrize("compute", ["float32", "native"])
@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name}-{example.opset}" for name, example in EXAMPLES])
def test_an_example_has_results_of_the_inferred_types(name: str, example: Example, compute: str) -> None:
    program = miltext.parse(miltext.infer_draft(example.text))
    types = Evaluator(program).inputs
    inputs = {key: np.abs(array) + array.dtype.type(1) for key, array in made_up(types, Random(name)).items()}
    inputs = {key: array if array.dtype.kind == "f" else array % 2 for key, array in inputs.items()}
    outputs = computed(program, inputs, state={}, seed=0, compute=compute)
    assert [*outputs] == [*Evaluator(program).outputs]


@pytest.mark.parametrize("family", families())
def test_a_checked_program_has_a_result_or_a_reason(family: str) -> None:
    accepted = 0
    for name, example in EXAMPLES:
        if entries()[name].family != family or name in ENDLESS:
            continue
        random = Random(f"{name} {example.opset}")
        for _ in range(VARIATIONS):
            text = varied(name, example, random)
            try:
                evaluator = Evaluator(text)
            except MiltextError:
                continue
            accepted += 1
            _run(text, evaluator, random)
    assert accepted


def _run(text: str, evaluator: Evaluator, random: Random) -> None:
    """Run a text: where all sizes are known, a value that has no result is told by the parameter that is at fault."""
    is_known = all(isinstance(each, TensorType) and None not in each.shape for each in evaluator.inputs.values())
    inputs = made_up(evaluator.inputs, random)
    try:
        computed(text, inputs, state={}, seed=0, compute=random.choice(["float32", "native"]))
    except OperationFailure as failure:
        if is_known and not failure.clause.startswith("`"):
            raise AssertionError(f"{failure.clause}\n{text}") from failure
    except AssertionError as failure:
        raise AssertionError(f"{failure}\n{text}") from failure
