"""`miltext generate`: what it writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.generation.options import Options
from miltext.generation.programs import generate


def called(*arguments: object) -> Result:
    return RUNNER.invoke(command, ["generate", *map(str, arguments)])


def done(*arguments: object) -> str:
    result = called(*arguments)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return result.stdout


def test_the_text_of_a_seed() -> None:
    text = done("--seed", 5, "--opset", "ios17")
    assert text == done("--seed", 5, "--opset", "ios17")
    assert miltext.parse(text) == generate(5, Options(opsets=["ios17"], ops=(10, 10)))
    assert "func main<ios17>" in text


def test_a_text_and_a_package(tmp_path: Path) -> None:
    asked = ("--seed", 4, "--ops", 3, "--only", "conv", "--only", "relu", "--dtype", "fp32", "--weights", 64)
    done(*asked, "-o", tmp_path / "made.mil")
    done(*asked, "-o", tmp_path / "M.mlpackage")
    model = miltext.load(tmp_path / "M.mlpackage")
    text = (tmp_path / "made.mil").read_text(encoding="utf-8")
    assert text.count(" = conv(") + text.count(" = relu(") == 3
    assert miltext.check(model) == []
    result = called(*asked, "-o", tmp_path / "M.mlpackage")
    assert result.exit_code == 2
    assert "MIL401" in result.stderr or "exists" in result.stderr
    done(*asked, "-o", tmp_path / "M.mlpackage", "--force")


@pytest.mark.parametrize("asked", [("--weights", 4096), ("--weights", 5, "--only", "conv", "--opset", "ios17")])
def test_weights_of_a_package_are_in_its_weight_file(tmp_path: Path, asked: tuple[object, ...]) -> None:
    done("--seed", 7, *asked, "-o", tmp_path / "W.mlpackage")
    [path] = tmp_path.glob("W.mlpackage/Data/*/weights/*")
    assert path.stat().st_size > 64 + 2 * int(str(asked[1]))
    assert "BLOBFILE" in miltext.to_text(miltext.load(tmp_path / "W.mlpackage").program)


def test_a_package_of_flexible_sizes(tmp_path: Path) -> None:
    done("--seed", 3, "--flexible", "-o", tmp_path / "F.mlpackage")
    model = miltext.load(tmp_path / "F.mlpackage")
    assert model.description
    described = [each.type.multiArrayType.shapeRange.sizeRanges for each in model.description.input]
    assert {(sizes[0].lowerBound, sizes[0].upperBound) for sizes in described if sizes} == {(1, 64)}
    assert "[?, " in miltext.to_text(model.program)


@pytest.mark.parametrize("opset", ["ios15", "ios16", "ios17", "ios18", "ios26"])
def test_a_compiled_model_of_each_opset_needs_no_leave(opset: str, tmp_path: Path) -> None:
    asked = ("--seed", 1, "--opset", opset, "--ops", 2, "-o", tmp_path / "M.mlmodelc")
    made = called(*asked)
    assert made.exit_code == 0, made.stderr
    assert "MIL441" not in made.stderr
    text = (tmp_path / "M.mlmodelc" / "model.mil").read_bytes()
    assert called(*asked, "--allow-unproven", "--force").exit_code == 0
    assert (tmp_path / "M.mlmodelc" / "model.mil").read_bytes() == text


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    refused = called("-o", tmp_path / "a.txt")
    assert "a generated program is an .mlpackage" in refused.stderr


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--only", "relux"), "error[MIL482]: there is no operation `relux`; did you mean `relu`?"),
        (("--opset", "ios16.5"), "error[MIL482]: there is no opset `ios16.5`"),
        (("--ops", 0), "error[MIL482]: a program has from 1 operation on"),
        (("--only", "sin", "--dtype", "bool"), "error[MIL482]: none of these operations computes with `bool`"),
        (("--ops", "ten"), "Invalid value for '--ops'"),
    ],
)
def test_an_impossible_choice_is_refused(asked: tuple[object, ...], message: str) -> None:
    result = called(*asked)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr
