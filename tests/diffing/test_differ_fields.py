"""The law of diff: where the bytes of two models differ, a difference is told, field by field over the whole schema."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from conftest import GOLDEN
from support.commands import miltext as run
from support.containers import NEURAL_NETWORK, pipeline, write_package
from support.field_edits import Edit, edits, filled
from support.pipelines import binary, piped, unary

import miltext
from miltext.containers.opening import open_model
from miltext.containers.spec import SpecModel
from miltext.diagnostics import MiltextError
from miltext.models.model import Model
from miltext.schema.proto import Model as Spec
from miltext.schema.wire import wire_of

REFUSED = {"MIL202", "MIL253", "MIL254", "MIL257"}
"""What a program with unknown fields, a model without a Type, and one of another Type than the other are told as."""

TYPES = ("mlProgram", "pipeline", "pipelineClassifier", "pipelineRegressor")

PROGRAMS = ["operations", "functions", "our_functions", "our_program", "our_types", "types", "our_values"]
"""Goldens that have, together, every field of every message of a Program."""


def described(choice: int) -> Spec:
    made = filled(Spec(), choice, skipped=(*TYPES, "trainingInput"))
    made.mlProgram.CopyFrom(unary("x", "y").mlProgram)
    return made


def network() -> Spec:
    made = filled(Spec(), 3, skipped=TYPES)
    made.MergeFromString(NEURAL_NETWORK)
    return made


def of_text(name: str) -> Spec:
    """A model of a golden, without the facts about tools, which are not compared."""
    program = miltext.parse((GOLDEN / "print" / f"{name}.mil").read_text(encoding="utf-8"))
    program.attributes.pop("buildInfo", None)
    return Spec(specificationVersion=9, mlProgram=program)


BASES: dict[str, Callable[[], Spec]] = {
    **{f"described {choice}": partial(described, choice) for choice in (0, 3, 11, 4, 12, 20, 5, 6, 7)},
    "network": network,
    "pipeline": lambda: piped(unary("x", "a"), binary("a", "x", "y"), names=["one", "two"]),
    "without names": lambda: piped(unary("x", "a"), binary("a", "x", "y")),
    "classifier": lambda: piped(unary("x", "a"), unary("a", "y"), kind="pipelineClassifier"),
    "regressor": lambda: piped(unary("x", "a"), unary("a", "y"), kind="pipelineRegressor", names=["one", "two"]),
    "nested": lambda: piped(piped(unary("x", "a"), names=["in"]), unary("a", "y"), names=["one", "two"]),
    **{f"program {name}": partial(of_text, name) for name in PROGRAMS},
}


@cache
def base_and_edits(name: str) -> tuple[Spec, list[Edit]]:
    base = BASES[name]()
    return base, [*edits(base, once=True)]


def read(spec: Spec) -> Model:
    return SpecModel("mlmodel", "it", None, None, deepcopy(spec))


def is_told(old: Model, new: Callable[[], Model], edit: Edit) -> bool:
    """Whether a difference is told, or a model refused for what cannot be compared."""
    try:
        return miltext.diff(old, new(), build_info=True, ignore_weights=True).same is False
    except MiltextError as failure:
        code = failure.diagnostics[0].code
        return code in REFUSED and (code != "MIL202" or edit.field == "unknown")


@pytest.mark.parametrize("name", BASES)
def test_each_difference_is_reported(name: str) -> None:
    base, found = base_and_edits(name)
    assert miltext.diff(read(base), read(base), build_info=True, ignore_weights=True).same
    missed = [edit[:4] for edit in found if not is_told(read(base), partial(read, edit.made), edit)]
    assert missed == []


@pytest.mark.parametrize("name", [name for name in BASES if not name.startswith("program")])
def test_any_difference_in_a_stage_is_reported(name: str) -> None:
    base, found = base_and_edits(name)

    def inside(spec: Spec) -> Model:
        return read(pipeline(unary("q", "r"), pipeline(spec, names=("it",)), names=("first", "inner")))

    missed = [edit[:4] for edit in found if not is_told(inside(base), partial(inside, edit.made), edit)]
    assert missed == []


@pytest.mark.parametrize("name", ["described 4", "network", "classifier"])
def test_any_difference_in_files_is_reported(name: str, tmp_path: Path) -> None:
    base, found = base_and_edits(name)
    package, file = write_package(tmp_path / "Old.mlpackage", wire_of(base)), tmp_path / "Old.mlmodel"
    file.write_bytes(wire_of(base))
    for number, edit in enumerate(found):
        other = write_package(tmp_path / f"{number}.mlpackage", wire_of(edit.made))
        for old in (package, file):
            assert is_told(open_model(old), partial(open_model, other), edit), edit[:4]


def test_the_goldens_have_every_field_of_a_program() -> None:
    found = {(edit.kind, edit.field) for name in PROGRAMS for edit in base_and_edits(f"program {name}")[1]}
    wanted = set[tuple[str, str]]()
    waiting, seen = list[Any]([Spec.DESCRIPTOR.fields_by_name["mlProgram"].message_type]), set[str]()
    while waiting:
        descriptor = waiting.pop()
        if descriptor.full_name not in seen:
            seen.add(descriptor.full_name)
            inner = [field.message_type for field in descriptor.fields if field.message_type is not None]
            waiting += inner
            if not descriptor.GetOptions().map_entry:
                wanted |= {(descriptor.name, field.name) for field in descriptor.fields}
    assert wanted - found == set()


# ---- how it is told

TOLD: dict[str, tuple[Callable[[Spec], object], str]] = {
    "a missing description": (lambda spec: spec.ClearField("description"), '- description input[x].name: "x"'),
    "no version": (lambda spec: spec.ClearField("specificationVersion"), "~ specification: 7 -> 0"),
    "an entry twice": (
        lambda spec: spec.description.input.append(spec.description.input[0]),
        '+ description input[x, 2].name: "x"',
    ),
    "the order": (
        lambda spec: put(spec.description.input, [*spec.description.input][::-1]),
        "~ description input: (x, b) -> (b, x)",
    ),
    "an unknown field": (
        lambda spec: spec.description.MergeFromString(bytes([0xCA, 0xE6, 0x03, 1, 65])),
        "+ description field 7785: cae6030141",
    ),
    "an unknown field of the model": (
        lambda spec: spec.MergeFromString(bytes([0xCA, 0xE6, 0x03, 1, 65])),
        "+ field 7785: cae6030141",
    ),
    "an empty message": (lambda spec: spec.description.metadata.SetInParent(), "+ description metadata: set"),
}


def put(listed: Any, items: list[Any]) -> None:
    copies = [deepcopy(each) for each in items]
    del listed[:]
    listed.extend(copies)


@pytest.mark.parametrize("name", TOLD)
def test_a_changed_field_is_reported_in_words(name: str, tmp_path: Path) -> None:
    base = binary("x", "b", "y")
    change, line = TOLD[name]
    other = deepcopy(base)
    change(other)
    for file, spec in (("a.mlmodel", base), ("b.mlmodel", other)):
        (tmp_path / file).write_bytes(wire_of(spec))
    done = run("diff", tmp_path / "a.mlmodel", tmp_path / "b.mlmodel")
    assert done.returncode == 1
    assert line in done.stdout.decode().splitlines()


def test_two_networks_are_compared(tmp_path: Path) -> None:
    data, layer = wire_of(network()), b"\xa2\x1f\x02\x08\x01"
    (tmp_path / "a.mlmodel").write_bytes(data)
    for other, line in (
        (layer, "no difference"),
        (b"\xa2\x1f\x02\x08\x02", "~ contents: a21f020801 -> a21f020802"),
        (b"\xaa\x1f\x02\x08\x01", "~ type: neuralNetwork -> itemSimilarityRecommender"),
    ):
        (tmp_path / "b.mlmodel").write_bytes(data.replace(layer, other))
        done = run("diff", tmp_path / "a.mlmodel", tmp_path / "b.mlmodel")
        assert done.stdout.decode().splitlines()[-1] == line
        assert done.returncode == int(other != layer)
