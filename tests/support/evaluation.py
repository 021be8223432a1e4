"""Programs run, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import miltext
from miltext.checking.inference.program import infer_types
from miltext.checking.verifier import check_text, errors_in
from miltext.diagnostics import ParseError
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.values import CARRIERS
from miltext.schema.paths import Key
from miltext.schema.types import TensorType, compatible

if TYPE_CHECKING:
    from miltext.evaluation.machine import Made
    from miltext.schema.proto import Program


def drafted(text: str) -> Program:
    """Return the Program of a draft, as `infer_draft` completes it, without the text in between. Raise ParseError."""
    checked = check_text(text)
    if errors := errors_in(checked.diagnostics):
        raise ParseError(errors, text=text)
    if checked.read is None:  # a whole text
        return miltext.parse(text)
    assert checked.read.program is not None
    return checked.read.program


def computed(
    subject: str | Program,
    inputs: Mapping[str, Any],
    *,
    function: str = "main",
    state: dict[str, Any] | None = None,
    seed: int | None = None,
    weights: Path | None = None,
    compute: str = "float32",
) -> dict[str, Any]:
    """Return the outputs of a program, or of a draft; each value on the way is of the type that inference says."""
    program = drafted(subject) if isinstance(subject, str) else subject
    inferred = {_message_path(each.path): each.inferred for each in infer_types(program)}
    steps = Evaluator(program, function, weights=weights, compute=compute, check=False).steps(
        inputs, state, seed, allow_nan=True
    )
    while True:
        try:
            made = next(steps)
        except StopIteration as end:
            outputs: dict[str, Any] = end.value
            return outputs
        _assert_inferred(made, inferred.get(made.step.path))


def _assert_inferred(made: Made, types: Any) -> None:
    for value, expected in zip(made.values, types or (), strict=False):
        if isinstance(expected, TensorType):
            assert isinstance(value, np.ndarray), made.step.operation.type
            assert value.dtype == CARRIERS[expected.dtype], made.step.operation.type
            assert compatible(expected.shape, value.shape), (made.step.operation.type, expected.shape, value.shape)


def _message_path(path: tuple[str | int, ...]) -> tuple[Any, ...]:
    """Return the path in messages of a path that inference gives."""
    function, opset, *places = path
    fields = ("operations", "blocks")
    steps = [step for turn, place in enumerate(places) for step in (fields[turn % 2], place)]
    return ("functions", Key(str(function)), "block_specializations", Key(str(opset)), *steps)
