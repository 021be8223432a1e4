"""Parts of models held against the whole: what they say, whether they open, and what they compute."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from support.model_checks import Reported, assert_coremltools_opens
from support.new_findings import new_findings

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.random_inputs import random_inputs
from miltext.extraction.cutting import cut
from miltext.extraction.wanted import top_values
from miltext.ir.graph import Graph
from miltext.ir.needs import Needs
from miltext.schema.types import TensorType, read_type
from miltext.schema.walk import is_constant, operations, own_block

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.proto import Block, Program


class Whole(NamedTuple):
    """A function of a model, and what it computes: the values of its own block, or why it computes none.

    `known` are the findings of `check` in the model that it is a stage of, if it is of one. `weights` is the folder of
    its weights, where that is not the model's own.
    """

    name: str
    model: Model
    function: str
    inputs: Mapping[str, Any]
    values: Mapping[str, Any] | str
    known: Counter[Reported]
    weights: Path | None = None

    @property
    def block(self) -> Block:
        found = own_block(self.model.program.functions[self.function])
        assert found is not None
        return found

    @property
    def names(self) -> list[str]:
        """The names of what the own block makes."""
        return [output.name for operation in self.block.operations for output in operation.outputs]

    @property
    def varying(self) -> list[str]:
        """Those that are not constants."""
        made = [each for each in self.block.operations if not is_constant(each.type)]
        return [output.name for operation in made for output in operation.outputs]


def computed(
    name: str,
    model: Model,
    function: str,
    known: Counter[Reported],
    inputs: Mapping[str, Any] | None = None,
    weights: Path | None = None,
) -> Whole:
    """A function with what it computes, of random inputs where none are given."""
    try:
        evaluator = Evaluator(model, function, weights=weights, check=False)
        given = random_inputs(evaluator.inputs, features=evaluator.features) if inputs is None else inputs
        names = [each for step in evaluator.plan.steps for each in step.names]
        values: Any = evaluator.run(given, values=names, seed=0, allow_nan=True)
    except MiltextError as failure:
        given, values = inputs or {}, failure.diagnostics[0].message
    return Whole(name, model, function, given, values, known, weights)


def random_cut(whole: Whole, name: str, rng: random.Random) -> list[str]:
    """Some values that a value is made of, at which it may be cut: none of them constant."""
    function = Graph(whole.model.program).functions[whole.function]
    assert function.block is not None
    before = Needs(function.block).of([top_values(function)[name]]).ops
    made = [output.name for op in before if not op.is_constant for output in op.outputs]
    made = [each for each in made if each != name]
    return rng.sample(made, min(len(made), rng.choice([1, 1, 2, 3])))


def outcome(whole: Whole, name: str, given: list[str], folder: Path) -> str:
    """In a few words what came of a part."""
    out = folder / "Part.mlpackage"
    how = "cut" if given else "whole way"
    try:
        part = cut(whole.model.program, [name], given, function=whole.function)
        how_to: dict[str, Any] = {"ranges": _ranges(whole, part, given), "weights": whole.weights, "force": True}
        miltext.extract(whole.model, [name], out, inputs=given, function=whole.function, **how_to)
    except MiltextError as failure:
        found = failure.diagnostics[0]
        return f"refused, {how}: {found.code} {_reason(found.message)}"
    if new := new_findings(whole.known, out):
        return f"WRONG: check\n{[*new.elements()]}"
    if (wrong := _opened(out)) and wrong != _opened_whole(whole, folder):
        return f"WRONG: {wrong}"
    return _compared(whole, name, given, out, how)


def _ranges(whole: Whole, part: Program, given: list[str]) -> dict[str, str]:
    """Sizes for those inputs of a part that have open ones, and no description."""
    is_described = whole.model.description is not None
    types = {each.name: read_type(each.type) for each in part.functions[whole.function].inputs}
    shapes = {each: known.shape for each, known in types.items() if isinstance(known, TensorType)}
    return {
        each: ",".join("1..4096" if size is None else str(size) for size in shape)
        for each, shape in shapes.items()
        if None in shape and (each in given or not is_described)
    }


def _reason(message: str) -> str:
    """A message without its names and sizes."""
    unnamed = " ".join("..." if "`" in word else word for word in message.split())
    return re.sub(r"ax[ei]s [\d and]+ may.*", "...", re.sub(r"\[[^]]*\]", "[...]", unnamed))


def _opened(out: Path) -> str:
    """What coremltools says of a part that it does not open."""
    try:
        assert_coremltools_opens(out)
    except Exception as failure:  # noqa: BLE001 - whatever it raises
        return f"coremltools: {type(failure).__name__} {_reason(str(failure))}"
    return ""


def _opened_whole(whole: Whole, folder: Path) -> str:
    """What coremltools says of the whole, if it does not open that either."""
    out, ranges = folder / "Whole.mlpackage", _ranges(whole, whole.model.program, [])
    miltext.build(whole.model, out, ranges=ranges, weights=whole.weights, force=True)
    return _opened(out)


def _compared(whole: Whole, name: str, given: list[str], out: Path, how: str) -> str:
    """Compare what the part computes with what the whole does."""
    if isinstance(whole.values, str):
        return f"extracted, {how}; the whole cannot be run"
    if any(each not in whole.values for each in (name, *given)):
        return f"extracted, {how}; no value to compare"
    part = Evaluator(open_model(out))
    known = {**whole.values, **whole.inputs}
    inputs = {each: known[each] for each in part.inputs if each in known}
    try:
        made = part.run(inputs, seed=0, allow_nan=True)[name]
    except MiltextError as failure:
        return f"WRONG: the part cannot be run: {_reason(failure.diagnostics[0].message)}"
    if _same(made, whole.values[name]):
        return f"extracted, {how}; equal"
    if any("random" in each.type for _, each in operations(whole.model.program)):
        return f"extracted, {how}; random"
    return "WRONG: another number"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return bool(one == other)
    a, b = np.asarray(one), np.asarray(other)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
