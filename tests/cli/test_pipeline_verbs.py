"""`miltext rename`, `expose` and `build` on pipelines, as the commands do it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from conftest import corpus_files
from support.pipelines import piped, unary, write_compiled
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.drafting.building import build
from miltext.schema.proto import Model, ModelDescription


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


def done(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout + result.stderr


def names(description: ModelDescription | None) -> tuple[list[str], list[str]]:
    assert description is not None
    return [entry.name for entry in description.input], [entry.name for entry in description.output]


def shown(path: Path) -> list[tuple[list[str], list[str]]]:
    """What the pipeline, and each of its models, takes and gives."""
    model = open_model(path)
    return [names(each.description) for each in (model, *model.models)]


def written(path: Path, spec: Model) -> Path:
    path.write_bytes(spec.SerializeToString())
    return path


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return written(tmp_path / "P.mlmodel", piped(unary("x", "hidden"), unary("hidden", "y"), names=("one", "two")))


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    inside = piped(unary("a", "b"), unary("b", "c"))
    return written(tmp_path / "P.mlmodel", piped(unary("x", "a"), inside, unary("c", "y")))


def test_a_feature_is_renamed_in_all_models(two: Path, tmp_path: Path) -> None:
    new = tmp_path / "New.mlmodel"
    done("rename", two, "x", "image", "-o", new)
    assert shown(new) == [(["image"], ["y"]), (["image"], ["hidden"]), (["hidden"], ["y"])]
    done("rename", new, "hidden", "scores", "-o", new, "--force")
    assert shown(new) == [(["image"], ["y"]), (["image"], ["scores"]), (["scores"], ["y"])]
    assert "scores = tanh(" in done("print", new, "--model", 0)
    done("rename", new, "scores", "hidden", "--model", "two", "-o", new, "--force")
    done("rename", new, "image", "x", "--model", "0", "-o", new, "--force")
    assert new.read_bytes() == two.read_bytes()


def test_a_feature_of_a_nested_pipeline(nested: Path, tmp_path: Path) -> None:
    new = tmp_path / "New.mlmodel"
    result = run("rename", nested, "b", "z", "-o", new)
    assert (result.exit_code, new.exists()) == (1, False)
    assert "unknown feature `b`" in result.stderr
    assert "choose this model in the pipeline" in result.stderr
    done("rename", nested, "b", "z", "--model", "1", "-o", new)
    inner = open_model(new).models[1]
    assert [names(each.description) for each in inner.models] == [(["a"], ["z"]), (["z"], ["c"])]
    done("rename", nested, "c", "z", "--model", 1, "-o", new, "--force")
    assert shown(new) == [(["x"], ["y"]), (["x"], ["a"]), (["a"], ["z"]), (["z"], ["y"])]


def test_a_refused_command_writes_nothing(two: Path, tmp_path: Path) -> None:
    new = tmp_path / "New.mlmodel"
    for arguments, status, saying in (
        (("x", "hidden"), 1, "error[MIL431]: the pipeline already has a feature `hidden`: model 0"),
        (("x", "inner"), 1, "error[MIL431]: the function `main` of model 0"),
        (("w", "z"), 1, "error[MIL430]: unknown feature `w`"),
        (("x", "a/b"), 1, 'error[MIL426]: the name "a/b" is not an identifier'),
        (("x", "z", "--function", "main"), 2, "choose one in the pipeline with --model"),
        (("x", "z", "--model", "7"), 1, "error[MIL257]: unknown model '7'"),
    ):
        result = run("rename", two, *arguments, "-o", new)
        assert (result.exit_code, saying in result.stderr, new.exists()) == (status, True, False), result.stderr
    result = run("rename", two, "x", "z", "-o", tmp_path / "new.mil")
    assert (result.exit_code, "MIL401" in result.stderr) == (2, True), result.stderr
    assert "warning" not in done("rename", two, "x", "a/b", "--no-check", "-o", new)
    assert shown(new)[0] == (["a/b"], ["y"])


def test_an_exposed_value_is_an_output_of_the_pipeline(nested: Path, tmp_path: Path) -> None:
    new = tmp_path / "New.mlmodel"
    done("expose", nested, "inner", "--model", "1/0", "-o", new)
    assert shown(new)[0] == (["x"], ["y", "inner"])
    assert shown(new)[2] == (["a"], ["c", "inner"])


def test_an_edited_model_of_a_pipeline(two: Path, tmp_path: Path) -> None:
    text, new = tmp_path / "part.mil", tmp_path / "New.mlmodel"
    done("print", two, "--model", "0", "-o", text)
    text.write_text(text.read_text().replace("[1, 4]", "[1, 8]"))
    result = run("build", text, "--from", two, "--model", "0", "-o", new)
    assert (result.exit_code, new.exists()) == (1, False)
    assert 'error[MIL456]: model 0 "one" gives `hidden` as fp32 [1, 8] now, but model 1' in result.stderr
    result = run("build", text, "--from", two, "--model", "0", "--no-check", "-o", new)
    assert (result.exit_code, "warning[MIL456]" in result.stderr) == (0, True)


def test_features_are_renamed_in_python(nested: Path, tmp_path: Path) -> None:
    new = tmp_path / "New.mlmodel"
    assert build(open_model(nested), new, renames={"x": "image", "y": "label"}) == []
    assert shown(new)[0] == (["image"], ["label"])
    assert build(open_model(nested), new, model="1/0", renames={"inner": "z"}, force=True) == []
    assert "z = relu(" in miltext.to_text(open_model(new).select("1/0").program)
    single = written(tmp_path / "M.mlmodel", unary("x", "y"))
    assert build(open_model(single), new, renames={"x": "y", "y": "x"}, force=True) == []
    assert names(open_model(new).description) == (["y"], ["x"])


def test_a_compiled_pipeline_is_renamed(tmp_path: Path) -> None:
    spec = piped(unary("x", "hidden"), unary("hidden", "y"))
    folder = write_compiled(tmp_path / "P.mlmodelc", spec)
    done("rename", folder, "hidden", "scores", "-o", tmp_path / "New.mlmodel")
    done("rename", written(tmp_path / "P.mlmodel", spec), "hidden", "scores", "-o", tmp_path / "Same.mlmodel")
    assert (tmp_path / "New.mlmodel").read_bytes() == (tmp_path / "Same.mlmodel").read_bytes()


@pytest.mark.parametrize("path", corpus_files("pipelines/*.mlpackage"))
def test_the_pipeline_of_the_corpus(path: Path, tmp_path: Path) -> None:
    new = tmp_path / "New.mlpackage"
    for old, name in (("image", "photo"), ("var_845", "boxes"), ("confidence", "scores"), ("iouThreshold", "overlap")):
        done("rename", path if old == "image" else new, old, name, "-o", new, "--force")
    (inputs, outputs), program, suppression = shown(new)
    assert (inputs[:2], outputs) == (["photo", "overlap"], ["scores", "coordinates"])
    assert (program[0], program[1][1], suppression[0][1]) == (["photo"], "boxes", "boxes")


def test_info_reports_the_connections_of_models(nested: Path, tmp_path: Path) -> None:
    shown = done("info", nested)
    for line in (
        "  input x: fp32 [1, 4]\n  output y: fp32 [1, 4]\n  x: input -> model 0\n  a: model 0 -> model 1\n",
        "  1: pipeline in a mlmodel, specification 7 (ios16)\n    input a: fp32 [1, 4]\n    output c: fp32 [1, 4]\n",
        "    b: model 0 -> model 1\n",
    ):
        assert line in shown
    spec = piped(unary("x", "a"), unary("x", "b"), unary("q", "y"), hidden=["a"])
    del spec.description.input[1:]
    (one, two, three, four, five) = json.loads(done("info", written(tmp_path / "Q.mlmodel", spec), "--json"))[
        "connections"
    ]
    assert one == {"name": "x", "from": "input", "to": [0, 1]}
    assert two == {"name": "a", "from": 0, "to": []}
    assert three == {"name": "b", "from": 1, "to": ["output"]}
    assert four == {"name": "q", "from": None, "to": [2]}
    assert five == {"name": "y", "from": 2, "to": ["output"]}
    assert "q: nobody -> model 2\n" in done("info", tmp_path / "Q.mlmodel")


@pytest.mark.parametrize("path", corpus_files("pipelines/*"))
def test_info_of_a_stage_that_is_not_a_program(path: Path) -> None:
    shown = done("info", path)
    assert "  iouThreshold: input -> model 1\n" in shown
    assert "    input var_845: fp32 [8400, 4]\n    output confidence: fp32 in ranges\n" in shown
    assert "input var_845: fp32 [8400, 4]" in done("info", path, "--model", "1")
