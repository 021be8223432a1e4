"""Real models, run on random inputs: nothing fails, and each value is of the type that inference says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from conftest import CORPUS, corpus_files
from support.evaluation import computed
from support.made_up_weights import stored_values, write_weights

import miltext
from miltext.diagnostics import MiltextError
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.random_inputs import random_inputs

if TYPE_CHECKING:
    from miltext.schema.proto import Program

REFUSED = {
    "bundles/ironmill-pal.mlpackage": "`Parameter193`.* has another number of elements than its type",
    "mlprograms/ironmill_pal.mlmodel": "`Parameter193`.* has another number of elements than its type",
    "handwritten/Espresso__fused_qkv.mil": "a record cannot begin at offset 160",
    "apple/mobius__unified_pruned_int8.mlmodelc.mil": r"`mask` has \d+ ones, for 10246 elements",  # both made up
}
"""What is wrong with the models that cannot be run."""

SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "apple/FluidAudio__parakeet_eou_preprocessor.mil": {"audio_signal": (1, 4000)},
}
"""Shapes of inputs whose default is too small for what the program does with them."""

LARGEST = 1 << 25
"""The bytes of weights that are made up at most."""


@pytest.mark.parametrize("path", corpus_files("bundles/*"))
def test_a_model_with_its_weights_computes_numbers(path: Path) -> None:
    model = miltext.load(path)
    told = _told(path)
    if told in REFUSED:
        with pytest.raises(MiltextError, match=REFUSED[told]):
            _run(told, model.program, model.model_path, Evaluator(model))
        return
    for name, made in _run(told, model.program, model.model_path, Evaluator(model)).items():
        assert np.isfinite(made).all(), name


@pytest.mark.parametrize(
    "path",
    corpus_files("apple/*.mil", "handwritten/*.mil", "mlprograms/*.mlmodel", "pairs/*/model.mil", "pairs/*/*.mlmodel"),
)
def test_a_model_with_weights_that_are_made_up_comes_to_its_end(path: Path, tmp_path: Path) -> None:
    told = _told(path)
    program = miltext.load(path).program
    if max((value.blobFileValue.offset for value in stored_values(program)), default=0) > LARGEST:
        pytest.skip("its weights take more room than a test should")
    weights = write_weights(program, tmp_path)
    for function in program.functions:
        if told in REFUSED:
            with pytest.raises(MiltextError, match=REFUSED[told]):
                _run(told, program, weights, Evaluator(program, function, weights=weights))
        else:
            _run(told, program, weights, Evaluator(program, function, weights=weights))


def test_each_reported_model_exists() -> None:
    if not CORPUS.exists():
        pytest.skip(f"no corpus {CORPUS}")
    assert [path for path in (*REFUSED, *SHAPES) if not (CORPUS / path).exists()] == []


def _told(path: Path) -> str:
    return path.relative_to(CORPUS).as_posix()


def _run(told: str, program: Program, weights: Path | None, evaluator: Evaluator) -> Mapping[str, Any]:
    """Run one function of a program on random inputs of the shapes that it has by default."""
    defaults = {name: each.default for name, each in evaluator.features.items() if each.default is not None}
    shapes = {name: shape for name, shape in {**defaults, **SHAPES.get(told, {})}.items() if name in evaluator.inputs}
    inputs = random_inputs(evaluator.inputs, shapes=shapes)
    made = computed(program, inputs, function=evaluator.function, weights=weights)
    assert made.keys() == {value.name for value in evaluator.plan.outputs}
    return made
