"""Models divided and linked again, held against themselves: the program, the description, and the numbers."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from support.model_checks import assert_coremltools_opens

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.random_inputs import random_inputs
from miltext.ir.graph import Graph
from miltext.ir.needs import Needs

if TYPE_CHECKING:
    from miltext.ir.parts import Op
    from miltext.models.model import Model

STEPS = 2
"""The predictions in a row, which pass states on."""


class WholeModel(NamedTuple):
    """A model of one function, with its inputs, and its outputs and states after each prediction, or why there are
    none.
    """

    name: str
    model: Model
    inputs: Mapping[str, Any]
    results: list[dict[str, Any]] | str

    @property
    def function(self) -> str:
        (name,) = self.model.program.functions
        return name

    @property
    def outputs(self) -> list[str]:
        block = Graph(self.model.program).functions[self.function].block
        assert block is not None
        return [value.name for value in block.outputs]

    def values(self) -> list[str]:
        """The names of the values at which the model may be cut, if a description can carry what crosses."""
        block = Graph(self.model.program).functions[self.function].block
        assert block is not None
        needed = [op for op in Needs(block).of(block.outputs).ops if not op.is_constant]
        return [value.name for op in needed for value in op.outputs]


def computed(name: str, model: Model) -> WholeModel:
    """A model with what it computes of random inputs."""
    (function,) = model.program.functions
    try:
        evaluator = Evaluator(model, function, check=False)
        inputs = random_inputs(evaluator.inputs, features=evaluator.features)
        results: Any = predictions([evaluator], inputs)
    except MiltextError as failure:
        inputs, results = {}, failure.diagnostics[0].message
    return WholeModel(name, model, inputs, results)


def predictions(evaluators: list[Evaluator], inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What models compute one after the other, in predictions that pass states on; each takes what is before it."""
    states: list[dict[str, Any]] = [{} for _ in evaluators]
    found = []
    for _ in range(STEPS):
        there = dict(inputs)
        for evaluator, state in zip(evaluators, states, strict=True):
            given = {name: there[name] for name in evaluator.inputs if name in there}
            there |= evaluator.run(given, state=state, seed=0, allow_nan=True)
        found.append(there | {f"state {name}": array for state in states for name, array in state.items()})
    return found


def functions(path: Path, folder: Path) -> Iterator[tuple[str, Model]]:
    """Each function of a model's ML Programs as a model by itself; those of several are made by a split."""
    for stage in open_model(path).programs():
        place = stage.place or None
        if len(stage.model.program.functions) == 1:
            yield stage.place, stage.model
            continue
        made = folder / f"functions {stage.place}".strip()
        miltext.split(path, made, functions=True, model=place)
        for each in sorted(made.iterdir()):
            yield f"{stage.place} {each.stem}", open_model(each)


def outcome(whole: WholeModel, folder: Path, *, opens: bool = False, **how: Any) -> str:
    """In a few words what came of a split and of the link of its parts."""
    parts, pipe, out = folder / "parts", folder / "Pipe.mlpackage", folder / "Linked.mlpackage"
    for each in (parts, pipe, out):
        shutil.rmtree(each, ignore_errors=True)
    try:
        made = miltext.split(whole.model, parts, **how)
    except MiltextError as failure:
        return f"refused: {failure.diagnostics[0].code}"
    paths = sorted(parts.iterdir())
    assert [each.name for each in paths] == [each.name for each in made.parts]
    miltext.link(paths, out, keep=whole.outputs)
    if wrong := _described(whole, out):
        return f"WRONG: {wrong}"
    order = ""
    if miltext.diff(whole.model, out):
        if difference := miltext.diff(whole.model, _as_the_whole(whole, open_model(out))):
            return f"WRONG: {difference}"
        order = " in another order"
    if opens:
        for path in (*paths, out):
            assert_coremltools_opens(path)
    wrong = _numbers(whole, paths, out)
    if wrong:
        return f"WRONG: {wrong}"
    how_piped = _piped(whole, pipe, how)
    return how_piped if how_piped.startswith("WRONG") else f"the same{order}, {len(paths)} parts; {how_piped}"


def _as_the_whole(whole: WholeModel, linked: Model) -> Model:
    """A linked model with what a link does not keep: the order of independent operations, and of inputs, the name of
    the function, the version that its parts need, and an empty or a listing description, which was compared.
    """
    graph, original = Graph(linked.program), Graph(whole.model.program).functions[whole.function]
    (function,) = graph.functions.values()
    assert original.block is not None
    assert function.block is not None
    places = {_known_by(op): place for place, op in enumerate(original.block)}
    function.block.append(*sorted(function.block, key=lambda op: places[_known_by(op)]))
    names = [value.name for value in original.inputs]
    function.set_inputs(sorted(function.inputs, key=lambda value: names.index(value.name)))
    made = graph.program()
    if function.name != whole.function:
        made.functions[whole.function].CopyFrom(made.functions.pop(function.name))
    linked.program.CopyFrom(made)
    assert linked.spec is not None
    linked.spec.ClearField("description")
    if whole.model.description is not None:
        linked.spec.description.CopyFrom(whole.model.description)
    if whole.model.specification_version is not None:  # fp16 at a boundary needs iOS 16
        linked.spec.specificationVersion = whole.model.specification_version
    return linked


def _known_by(op: Op) -> tuple[object, ...]:
    """What an operation is known by in both programs: its outputs, or without any, its arguments."""
    return tuple(value.name for value in op.outputs or op.operands)


def _described(whole: WholeModel, out: Path) -> str:
    """What the description of the linked model has other than the whole's."""
    linked = open_model(out)
    before, after = whole.model.description, linked.description
    assert after is not None
    if before is None or not (before.output or before.functions):
        return ""
    if _entries(before) != _entries(after):
        return "another description"
    return "" if before.metadata == after.metadata else "other metadata"


def _entries(description: Any) -> Any:
    """The entries of a description by name: the order of inputs is that of the parts that take them."""
    own = description.functions[0] if description.functions else description
    sides = {side: {each.name: each for each in getattr(own, side)} for side in ("input", "state")}
    return sides, [*own.output], own.predictedFeatureName, own.predictedProbabilitiesName


def _numbers(whole: WholeModel, paths: list[Path], out: Path) -> str:
    if isinstance(whole.results, str):
        return ""
    runs = {"linked": [_evaluator(out)], "parts": [_evaluator(path) for path in paths]}
    return next((f"{name}: {wrong}" for name, each in runs.items() if (wrong := _compared(whole, each))), "")


def _evaluator(path: Path) -> Evaluator:
    model = open_model(path)
    (function,) = model.program.functions
    return Evaluator(model, function, check=False)


def _compared(whole: WholeModel, evaluators: list[Evaluator]) -> str:
    """The output or state that differs from the whole's, bit for bit."""
    assert not isinstance(whole.results, str)
    for expected, made in zip(whole.results, predictions(evaluators, whole.inputs), strict=True):
        for name, array in expected.items():
            if not _is_same(array, made.get(name)):
                return f"{name} differs"
    return ""


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and (one.dtype, one.shape, one.tobytes()) == (
            other.dtype,
            other.shape,
            other.tobytes(),
        )
    return bool(one == other)


def _piped(whole: WholeModel, pipe: Path, how: Mapping[str, Any]) -> str:
    """What came of the pipeline of the same parts."""
    try:
        miltext.split(whole.model, pipe, pipeline=True, **how)
    except MiltextError as failure:
        return f"no pipeline: {failure.diagnostics[0].code}"
    found = [each for each in miltext.check(pipe) if each.severity == "error"]
    if found:
        return f"WRONG: the pipeline has {found[0].message}"
    if isinstance(whole.results, str):
        return "a pipeline, not run"
    stages = [each.model for each in open_model(pipe).programs()]
    wrong = _compared(whole, [Evaluator(each, *each.program.functions, check=False) for each in stages])
    return f"WRONG: the pipeline: {wrong}" if wrong else "a pipeline"


def ways(whole: WholeModel, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Ways to divide a model, of which some are refused: at values, by number, and by the size of weights."""
    names = whole.values()
    total = miltext.size(whole.model).bytes
    for number in (2, 3, 5):
        yield {"parts": number}
    if total:
        yield {"max_weights": total * 2 // 3 or 1}
        yield {"max_weights": total // 4 or 1}
    while names:
        yield {"at": rng.sample(names, min(len(names), rng.choice((1, 1, 2, 3))))}
