"""Merges of models of all kinds: pipelines model by model, what the schema does not know as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import miltext as run
from support.containers import NEURAL_NETWORK, suppression, write_package
from support.pipelines import binary, piped, unary

import miltext
from miltext.containers.spec import SpecModel
from miltext.merging.conflicts import Markers
from miltext.merging.models import MergedModel, merge_models, resolve_models
from miltext.schema.proto import Model
from miltext.schema.wire import sized, tag, wire_of

Edit = Callable[[Model], object]


def copy(spec: Model) -> Model:
    return Model.FromString(wire_of(spec))


def edited(spec: Model, *changes: Edit) -> Model:
    made = copy(spec)
    for change in changes:
        change(made)
    return made


def merged(base: Model, ours: Model, theirs: Model, folder: Path, check: bool = True) -> MergedModel:
    models = [
        SpecModel("mlmodel", name, None, folder, copy(each))
        for name, each in zip("bot", (base, ours, theirs), strict=True)
    ]
    return merge_models(models[0], models[1], models[2], folder, Markers(), check=check)


def network() -> Model:
    made = Model.FromString(NEURAL_NETWORK)
    made.description.metadata.author = "a"
    return made


def nested() -> Model:
    inner = piped(unary("a", "b"), unary("b", "c"), names=["first", "second"])
    return piped(unary("x", "a"), inner, binary("c", "x", "y"), names=["head", "body", "tail"])


BASES: dict[str, Callable[[], Model]] = {
    "neural network": network,
    "pipeline": lambda: piped(unary("x", "a"), binary("a", "x", "y"), names=["one", "two"]),
    "without names": lambda: piped(unary("x", "a"), binary("a", "x", "y")),
    "classifier": lambda: piped(unary("x", "a"), unary("a", "y"), kind="pipelineClassifier"),
    "regressor": lambda: piped(unary("x", "a"), unary("a", "y"), kind="pipelineRegressor", names=["one", "two"]),
    "nested": nested,
    "with a network": lambda: piped(network(), unary("x", "a"), names=["net", "two"]),
    "suppression": suppression,
    "program": lambda: unary("x", "y"),
}


def author(spec: Model) -> None:
    spec.description.metadata.author = "me"


def license_of(spec: Model) -> None:
    spec.description.metadata.license = "MIT"


def unknown(spec: Model) -> None:
    spec.MergeFromString(sized(tag(7777), b"new"))


def updatable(spec: Model) -> None:
    spec.isUpdatable = True


FIELDS: dict[str, Edit] = {
    "author": author,
    "license": license_of,
    "unknown": unknown,
    "updatable": updatable,
    "version": lambda spec: setattr(spec, "specificationVersion", 99),
    "description": lambda spec: setattr(spec.description, "predictedFeatureName", "y"),
}


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize(("one", "other"), [(a, b) for a in FIELDS for b in FIELDS if a < b])
def test_two_fields_of_any_model_are_merged(name: str, one: str, other: str, tmp_path: Path) -> None:
    base = BASES[name]()
    result = merged(base, edited(base, FIELDS[one]), edited(base, FIELDS[other]), tmp_path)
    assert result.conflicts == ()
    assert result.model is not None
    assert wire_of(result.model) == wire_of(edited(base, FIELDS[one], FIELDS[other]))


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("field", FIELDS)
def test_one_side_alone_is_the_merge(name: str, field: str, tmp_path: Path) -> None:
    base = BASES[name]()
    side = edited(base, FIELDS[field])
    for ours, theirs in ((base, side), (side, base), (side, side)):
        result = merged(base, ours, theirs, tmp_path)
        assert result.is_whole, result.conflicts
        assert result.model is not None
        assert wire_of(result.model) == wire_of(side)


# ---- pipelines


def stage(index: int, *changes: Edit) -> Edit:
    def change(spec: Model) -> None:
        for each in changes:
            each(spec.pipeline.models[index])

    return change


def operation(old: str, new: str) -> Edit:
    def change(spec: Model) -> None:
        text = miltext.to_text(spec.mlProgram)
        assert f"= {old}(" in text
        spec.mlProgram.CopyFrom(miltext.parse(text.replace(f"= {old}(", f"= {new}(")))

    return change


def named(index: int, name: str) -> Edit:
    def change(spec: Model) -> None:
        spec.pipeline.names[index] = name

    return change


def put(index: int, model: Model, name: str) -> Edit:
    def change(spec: Model) -> None:
        models, names = list(spec.pipeline.models), list(spec.pipeline.names)
        models.insert(index, model)
        names.insert(index, name)
        put_all(spec, models, names)

    return change


def without(index: int) -> Edit:
    def change(spec: Model) -> None:
        del spec.pipeline.models[index]
        del spec.pipeline.names[index]

    return change


def reversed_models(spec: Model) -> None:
    put_all(spec, [*spec.pipeline.models][::-1], [*spec.pipeline.names][::-1])


def put_all(spec: Model, models: list[Model], names: list[str]) -> None:
    models = [copy(each) for each in models]
    del spec.pipeline.models[:], spec.pipeline.names[:]
    spec.pipeline.models.extend(models)
    spec.pipeline.names.extend(names)


def three() -> Model:
    """A pipeline whose last model takes nothing of the one before, which may go."""
    return piped(unary("x", "a"), unary("a", "b"), binary("a", "x", "y"), names=["one", "two", "three"])


RELU, TANH = operation("relu", "sigmoid"), operation("tanh", "sin")

MERGED: dict[str, tuple[Edit, Edit]] = {
    "two models": (stage(0, RELU), stage(1, RELU)),
    "two operations of a model": (stage(0, RELU), stage(0, TANH)),
    "an operation and a name": (stage(1, RELU), named(1, "middle")),
    "an operation and a model more": (stage(1, RELU), put(3, unary("y", "z"), "four")),
    "an operation and a model less": (stage(0, RELU), without(1)),
    "a field and a model less": (author, without(1)),
    "the same model more": (put(3, unary("y", "z"), "four"), put(3, unary("y", "z"), "four")),
    "the same model less": (without(1), without(1)),
    "an unknown field of each": (stage(0, unknown), stage(2, unknown)),
}


@pytest.mark.parametrize("name", MERGED)
def test_pipelines_are_merged_model_by_model(name: str, tmp_path: Path) -> None:
    base, (one, other) = three(), MERGED[name]
    wanted = edited(edited(base, one), *[other] * (not name.startswith("the same")))
    for first, second in ((one, other), (other, one)):
        result = merged(base, edited(base, first), edited(base, second), tmp_path)
        assert result.is_whole, (result.conflicts, result.errors)
        assert wire_of(result.model or Model()) == wire_of(wanted)


MOVED: dict[str, tuple[Edit, list[str]]] = {
    "an operation": (stage(0, RELU), ["three", "two", "one"]),
    "a model more": (put(0, unary("w", "v"), "zero"), ["zero", "three", "two", "one"]),
    "a model less": (without(1), ["three", "one"]),
    "a name": (named(0, "first"), ["three", "two", "first"]),
}


@pytest.mark.parametrize("name", MOVED)
def test_models_that_one_side_moves_have_the_edit_of_the_other(name: str, tmp_path: Path) -> None:
    base, (edit, names) = three(), MOVED[name]
    changed = edited(base, edit)
    models = dict(zip(changed.pipeline.names, map(wire_of, changed.pipeline.models), strict=True))
    for sides in ((edit, reversed_models), (reversed_models, edit)):
        ours, theirs = (edited(base, side) for side in sides)
        result = merged(base, ours, theirs, tmp_path, check=False)
        assert result.model is not None
        assert [*result.model.pipeline.names] == names
        assert [wire_of(each) for each in result.model.pipeline.models] == [models[each] for each in names]


CONFLICTS: dict[str, tuple[Edit, Edit, str]] = {
    "one operation": (stage(0, RELU), stage(0, operation("relu", "cos")), "an operation"),
    "one field of a model": (
        stage(1, author),
        stage(1, lambda spec: setattr(spec.description.metadata, "author", "b")),
        '`model "two": description.metadata.author`',
    ),
    "a name": (named(0, "p"), named(0, "q"), '`model "p": name`'),
    "a model less and changed": (without(1), stage(1, RELU), '`model "two"`'),
    "two models more of one name": (
        put(3, unary("y", "z"), "four"),
        put(3, unary("y", "w"), "four"),
        "an operation",
    ),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_conflict_in_a_pipeline_is_reported_with_its_model(name: str, tmp_path: Path) -> None:
    one, other, told = CONFLICTS[name]
    base = three()
    result = merged(base, edited(base, one), edited(base, other), tmp_path)
    assert any(told in each for each in result.conflicts), result.conflicts
    assert result.model is not None
    assert wire_of(result.model) == wire_of(edited(base, one)), "ours stays"
    assert "<<<<<<<" in result.text


def test_a_text_in_conflict_names_model_it_is_of(tmp_path: Path) -> None:
    base = nested()

    def inner(new: str) -> Edit:
        return stage(1, stage(1, operation("relu", new)))

    result = merged(base, edited(base, inner("cos")), edited(base, inner("sin")), tmp_path)
    assert result.text.startswith('// model "body": model "second"\nprogram(1.')
    assert result.text.count("<<<<<<<") == result.text.count("// model") == 1


def test_connections_that_break_only_together_are_errors(tmp_path: Path) -> None:
    """Ours calls a feature otherwise in both models; theirs adds one that takes it by the old name."""
    base = piped(unary("x", "a"), unary("a", "y"), names=["one", "two"])
    ours = piped(unary("x", "c"), unary("c", "y"), names=["one", "two"])
    theirs = edited(base, put(2, unary("a", "z"), "three"))
    result = merged(base, ours, theirs, tmp_path)
    assert [each.code for each in result.errors] == ["MIL457"]
    assert not result.is_whole


def test_the_contents_of_a_network_are_merged_as_a_whole(tmp_path: Path) -> None:
    base = network()
    one, other = (Model.FromString(wire_of(base) + bytes([0xA2, 0x1F, 0x02, 0x08, each])) for each in (2, 3))
    assert wire_of(merged(base, one, edited(base, author), tmp_path).model or Model()) == wire_of(edited(one, author))
    result = merged(base, one, other, tmp_path)
    assert result.conflicts == ["both sides changed `neuralNetwork`"]


# ---- by hand


@pytest.mark.parametrize("name", BASES)
def test_models_of_all_kinds_are_merged_by_hand(name: str, tmp_path: Path) -> None:
    base = BASES[name]()
    sides = [base, edited(base, author), edited(base, license_of)]
    packages = [write_package(tmp_path / f"{index}.mlpackage", wire_of(each)) for index, each in enumerate(sides)]
    files = [tmp_path / f"{index}.mlmodel" for index in range(3)]
    for file, each in zip(files, sides, strict=True):
        file.write_bytes(wire_of(each))
    for paths, target in ((packages, tmp_path / "M.mlpackage"), (files, tmp_path / "M.mlmodel")):
        done = run("merge", *paths, "-o", target)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        model = miltext.containers.opening.open_model(target)
        assert model.spec is not None
        assert wire_of(model.spec) == wire_of(edited(base, author, license_of))


def test_other_files_of_packages_are_reported(tmp_path: Path) -> None:
    """Only git merges them, each by itself."""
    packages = [write_package(tmp_path / f"{index}.mlpackage", wire_of(unary("x", "y"))) for index in range(3)]
    (packages[2] / "Data" / "notes.txt").write_text("theirs")
    done = run("merge", *packages, "-o", tmp_path / "M.mlpackage")
    assert done.returncode == 0
    assert "MIL442" in done.stderr.decode()
    assert "notes.txt" in done.stderr.decode()


def test_a_program_with_unknown_fields_is_refused_by_its_name(tmp_path: Path) -> None:
    base = unary("x", "y")
    other = edited(base, lambda spec: spec.mlProgram.MergeFromString(sized(tag(7777), b"new")))
    files = [tmp_path / f"{index}.mlmodel" for index in range(3)]
    for file, each in zip(files, (base, edited(base, author), other), strict=True):
        file.write_bytes(wire_of(each))
    done = run("merge", *files, "-o", tmp_path / "M.mlmodel")
    assert done.returncode == 2
    assert f"{files[2]}: error[MIL202]" in done.stderr.decode()
    assert not (tmp_path / "M.mlmodel").exists()


# ---- without a base


@pytest.mark.parametrize("name", BASES)
def test_common_additions_of_both_sides_are_merged(name: str, tmp_path: Path) -> None:
    base = BASES[name]()
    for one, other in (((), ()), ((license_of,), (unknown,)), ((updatable,), (license_of,)), ((unknown,), ())):
        ours, theirs = edited(base, *one), edited(base, *other)
        sides = [SpecModel("mlmodel", side, None, tmp_path, copy(each)) for side, each in (("o", ours), ("t", theirs))]
        result = merge_models(None, sides[0], sides[1], tmp_path, Markers())
        assert result.is_whole, (result.conflicts, result.errors)
        assert wire_of(result.model or Model()) == wire_of(edited(base, *one, *other))


@pytest.mark.parametrize("side", [1, 2])
@pytest.mark.parametrize("name", CONFLICTS)
def test_a_text_of_one_side_resolves_all_that_is_in_conflict(name: str, side: int, tmp_path: Path) -> None:
    """What only one side changed is merged besides."""
    base = three()
    one, other, _ = CONFLICTS[name]
    specs = base, edited(base, one, license_of), edited(base, other, updatable)
    text = merged(*specs, tmp_path).text
    chosen = re.sub(r"<{7}[^\n]*\n(.*?)={7}\n(.*?)>{7}[^\n]*\n", lambda found: found[side], text, flags=re.DOTALL)
    models = [SpecModel("mlmodel", each, None, tmp_path, copy(spec)) for each, spec in zip("bot", specs, strict=True)]
    result = resolve_models(models[0], models[1], models[2], tmp_path, chosen)
    if name == "two models more of one name":  # the merged description has the outputs of both
        assert [each.code for each in result.errors] == ["MIL265"]
        return
    assert result.is_whole, (result.conflicts, result.errors)
    wanted = edited(base, (one, other)[side - 1], license_of, updatable)
    assert wire_of(result.model or Model()) == wire_of(wanted)
