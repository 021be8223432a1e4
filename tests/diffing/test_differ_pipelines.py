"""What `miltext diff` tells of two pipelines: packages, compiled ones, and one of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from models.test_build_safety import blob, weight_file
from support.commands import RUNNER
from support.containers import pipeline, suppression, write_package
from support.pipelines import binary, of_text, piped, unary

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.containers.spec import SpecModel
from miltext.diffing.pipelines import paired
from miltext.models.model import Stage
from miltext.schema.proto import Model


def invoked(*arguments: object) -> Result:
    return RUNNER.invoke(command, ["diff", *map(str, arguments)])


def three(*names: str) -> Model:
    return piped(unary("x", "a"), unary("a", "b"), binary("b", "x", "y"), names=names)


def package(spec: Model, folder: Path, name: str) -> Path:
    return write_package(folder / f"{name}.mlpackage", spec.SerializeToString())


def both(spec: Model, folder: Path, name: str) -> tuple[Path, Path]:
    """A package and the compiled model of it."""
    made, bundle = package(spec, folder, name), folder / f"{name}.mlmodelc"
    miltext.build(made, bundle, check=False)
    return made, bundle


# ---- which are pairs


def stages(words: str) -> list[Stage]:
    """Models as `name` or `name:type`; `-` has no name."""
    found = []
    for index, word in enumerate(words.split()):
        name, _, kind = word.partition(":")
        model = SpecModel("mlmodel", "it", None, None, unary("x", "y"), name.strip("-"))
        model.type = kind or "mlProgram"
        found.append(Stage(str(index), model))
    return found


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ("a b", "a b", "0=0 1=1"),
        ("a b", "b a", "1=0 0=1"),
        ("a b", "new a b", "+0 0=1 1=2"),
        ("a b c", "a c", "0=0 -1 2=1"),
        ("- -", "- - -", "0=0 1=1 +2"),
        ("- - -", "-", "0=0 -1 -2"),
        ("a b", "a c", "0=0 1=1"),  # another name at the same place
        ("a a", "a a", "0=0 1=1"),  # names that do not tell which one is meant
        ("a -", "- a", "0=1 -1 +0"),
        ("a:mlProgram", "a:pipeline", "-0 +0"),
        ("", "a", "+0"),
        ("", "", ""),
    ],
)
def test_models_are_paired_by_name_and_else_by_place(old: str, new: str, pairs: str) -> None:
    found = [
        f"{a.place}={b.place}" if a and b else f"-{a.place}" if a else f"+{b.place if b else ''}"
        for a, b in paired(stages(old), stages(new))
    ]
    assert sorted(found) == sorted(pairs.split())


# ---- what is told


def test_equal_pipelines_are_equal_in_each_form(tmp_path: Path) -> None:
    made, bundle = both(three("one", "two", "three"), tmp_path, "A")
    again, other = both(three("one", "two", "three"), tmp_path, "B")
    for pair in ((made, again), (bundle, other), (made, bundle), (bundle, made), (made, made)):
        result = invoked(*pair)
        assert (result.exit_code, result.output) == (0, "no difference\n")
    found = json.loads(invoked(made, bundle, "--format", "json").output)
    assert (found["same"], found["models"]) == (True, [])
    assert invoked(made, bundle, "--format", "unified").output == ""


@pytest.mark.parametrize("compiled", [False, True], ids=["packages", "compiled"])
def test_a_difference_is_below_its_model(compiled: bool, tmp_path: Path) -> None:
    old = both(three("one", "two", "three"), tmp_path, "A")[compiled]
    spec = piped(unary("x", "a", "other"), binary("a", "x", "y"), names=["one", "three"])
    spec.description.metadata.author = "Somebody"
    new = both(spec, tmp_path, "B")[compiled]
    result = invoked(old, new)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert '+ description metadata.author: "Somebody"' in lines
    start = lines.index('model 0 "one"')
    assert lines[start : start + 6] == [
        'model 0 "one"',
        "    outputs: a has the same numbers",
        "    func main",
        "        = inner -> other",
        '- model 1 "two": mlProgram',
        'model 1 "three"',
    ]
    assert "    ~ place: 2 -> 1" in lines
    assert any(line.startswith("~ analytics") for line in lines) == compiled
    assert any(line.startswith("~ metadata.json") for line in lines) == compiled
    counted = invoked(old, new, "--stat").output.splitlines()
    assert [" ".join(line.split()) for line in counted[:4]] == [
        "| renamed",
        'model 0 "one": main | 1',
        'model 1 "three": main | 1',
        "total | 2",
    ]
    assert 'model 1 "two": removed' in counted
    unified = invoked(old, new, "--format", "unified").output.splitlines()
    assert '# removed: model 1 "two"' in unified
    assert '# model 0 "one"' in unified
    assert "# renamed: inner -> other" in unified


def test_json_has_each_model_that_differs(tmp_path: Path) -> None:
    old = package(three("one", "two"), tmp_path, "A")
    new = package(piped(unary("x", "a"), unary("a", "b", "other"), names=["one", "second"]), tmp_path, "B")
    found = json.loads(invoked(old, new, "--format", "json").output)
    assert [(each["place"], each["name"], each["type"], each["status"]) for each in found["models"]] == [
        ("1", "second", "mlProgram", "changed"),
        ("2", "", "mlProgram", "removed"),
    ]
    inner = found["models"][0]["difference"]
    assert inner["changes"] == [
        {"kind": "name", "name": "", "old": '"two"', "new": '"second"', "measure": None, "also": [], "follows": None}
    ]
    assert inner["functions"][0]["blocks"][0]["renamed"][0]["new"] == "other"
    assert found["models"][1]["difference"] is None
    difference = miltext.diff(old, new)
    assert [model.status for model in difference.models] == ["changed", "removed"]


def test_a_change_in_a_pipeline_inside_has_its_path(tmp_path: Path) -> None:
    old = package(piped(piped(unary("x", "a")), unary("a", "y")), tmp_path, "A")
    new = package(piped(piped(unary("x", "a", "other")), unary("a", "y")), tmp_path, "B")
    lines = invoked(old, new).output.splitlines()
    assert lines[2:4] == ["model 0", "    model 0/0"]
    assert lines[4:] == [
        "        outputs: a has the same numbers",
        "        func main",
        "            = inner -> other",
    ]
    assert invoked(old, new, "--model", "0").exit_code == 1
    assert invoked(old, new, "--model", "1").exit_code == 0


def test_names_that_belong_to_no_model_are_compared(tmp_path: Path) -> None:
    old, new = package(three("a", "b", "c", "d"), tmp_path, "A"), package(three("a", "b", "c"), tmp_path, "B")
    assert '- name of no model: "d"' in invoked(old, new).output


def test_outer_files_of_a_compiled_pipeline_are_compared(tmp_path: Path) -> None:
    _, old = both(three("one"), tmp_path, "A")
    _, new = both(three("one"), tmp_path, "B")
    (new / "notes.txt").write_text("mine")
    (new / "model1" / "inner.txt").write_text("mine")
    (new / "modelNames" / "coremldata.bin").write_bytes(b"\xff")
    lines = [line.partition(", SHA")[0] for line in invoked(old, new).output.splitlines()[2:]]
    assert [line for line in lines if "file" in line or line.startswith("model")] == [
        "~ file modelNames/coremldata.bin: 19 bytes",
        "+ file notes.txt: 4 bytes",
        "model 0",
        "model 1",
        "    + file inner.txt: 4 bytes",
    ]


# ---- models that are not programs, and weights


def test_models_of_another_kind_are_compared_by_their_messages(tmp_path: Path) -> None:
    spec = pipeline(unary("x", "y"), suppression())
    old = package(spec, tmp_path, "A")
    assert invoked(old, package(spec, tmp_path, "B")).exit_code == 0
    changed = suppression()
    changed.MergeFromString(b"\x92\x26\x00")  # field 610 once more
    spec.pipeline.models[1].CopyFrom(changed)
    result = invoked(old, package(spec, tmp_path, "C"))
    assert result.exit_code == 1
    assert "    ~ contents: " in result.output


def test_an_updatable_model_is_another_model(tmp_path: Path) -> None:
    spec = unary("x", "y")
    old = package(spec, tmp_path, "A")
    spec.isUpdatable = True
    assert "~ isUpdatable: False -> True" in invoked(old, package(spec, tmp_path, "B")).output


def test_a_pipeline_and_a_program_are_of_two_types(tmp_path: Path) -> None:
    one, whole = package(unary("x", "y"), tmp_path, "A"), package(three(), tmp_path, "B")
    for pair, types in (((one, whole), "mlProgram -> pipeline"), ((whole, one), "pipeline -> mlProgram")):
        result = invoked(*pair)
        assert (result.exit_code, f"~ type: {types}\n" in result.output) == (1, True)


def test_missing_weights_leave_the_result_undecided(tmp_path: Path) -> None:
    weight_file(tmp_path)
    (tmp_path / "P.mlmodel").write_bytes(piped(of_text(blob())).SerializeToString())
    (tmp_path / "Q.mlmodel").write_bytes(piped(of_text(blob())).SerializeToString())
    assert invoked(tmp_path / "P.mlmodel", tmp_path / "Q.mlmodel").exit_code == 0
    weight_file(tmp_path).unlink()
    result = invoked(tmp_path / "P.mlmodel", tmp_path / "Q.mlmodel")
    assert (result.exit_code, "undecided" in result.output) == (2, True)
    assert "model 0" in result.output
    assert miltext.diff(open_model(tmp_path / "P.mlmodel"), open_model(tmp_path / "Q.mlmodel")).same is None
