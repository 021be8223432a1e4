"""`miltext print --draft`, as a user meets it."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import EXAMPLE, wire
from support.containers import pipeline, spec, write_package
from support.model_checks import assert_coremltools_opens

import miltext
from miltext.cli import command

STREAMS: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
RUNNER = CliRunner(**STREAMS)

WRONG = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [3]> y = relu(x = x);
        } -> (y);
}
"""


def run(*arguments: object, given: bytes | None = None) -> Result:
    return RUNNER.invoke(command, [str(each) for each in arguments], input=given)


def done(*arguments: object, given: bytes | None = None) -> str:
    result = run(*arguments, given=given)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_a_draft_of_a_model() -> None:
    text = done("print", EXAMPLE, "--draft")
    program = miltext.load(EXAMPLE).program
    assert wire(miltext.parse(miltext.infer_draft(text))) == wire(program)
    assert text == miltext.to_draft(program)
    assert len(text) < len(miltext.to_text(program)) * 0.7


def test_a_draft_without_names() -> None:
    text = done("print", EXAMPLE, "--draft", "--drop-names")
    assert text == miltext.to_draft(miltext.load(EXAMPLE).program, drop_names=True)
    assert 'linear(flat, tensor<fp16, [3, 96]>($blob("weights/weight.bin", 256)), bias = [' in text
    miltext.infer_draft(text)


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        (["--dialect", "1.0"], {"dialect": "1.0"}),
        (["--floats", "hex"], {"floats": "hex"}),
        (["--floats", "decimal"], {}),
        (["--elide", "2"], {"elide": 2}),
    ],
)
@pytest.mark.parametrize("drop_names", [False, True])
def test_options_of_printing(options: list[str], choices: dict[str, Any], drop_names: bool) -> None:
    text = done("print", EXAMPLE, "--draft", *["--drop-names"] * drop_names, *options)
    assert text == miltext.to_draft(miltext.load(EXAMPLE).program, drop_names=drop_names, **choices)
    if "elide" not in choices:
        miltext.infer_draft(text)


def test_weights_in_the_text() -> None:
    text = done("print", EXAMPLE, "--draft", "--inline-weights")
    assert "$blob" not in text
    assert "BLOBFILE" not in text
    miltext.infer_draft(text)


@pytest.mark.parametrize(
    "options", [["--compact"], ["--html"], ["--as-coremlc"], ["--strict"], ["--verify-roundtrip"], ["--annotate"]]
)
def test_options_that_it_cannot_be_combined_with(options: list[str]) -> None:
    result = run("print", EXAMPLE, "--draft", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--draft can be combined only with --drop-names, --dialect" in " ".join(result.stderr.split())


def test_dropping_names_is_for_drafts() -> None:
    result = run("print", EXAMPLE, "--drop-names")
    assert (result.exit_code, "add --draft" in result.stderr) == (2, True)


def test_a_draft_from_standard_input_to_a_file(tmp_path: Path) -> None:
    text = miltext.to_text(miltext.load(EXAMPLE).program)
    done("print", "--draft", "-o", tmp_path / "draft.mil", given=text.encode())
    assert (tmp_path / "draft.mil").read_text(encoding="utf-8") == done("print", EXAMPLE, "--draft")
    result = run("print", EXAMPLE, "--draft", "-o", tmp_path / "New.mlpackage")
    assert result.exit_code == 2
    assert not (tmp_path / "New.mlpackage").exists()


def test_a_model_in_a_pipeline(tmp_path: Path) -> None:
    other = spec()
    other.mlProgram.CopyFrom(miltext.parse(WRONG.replace("[3]", "[2]")))
    package = write_package(tmp_path / "P.mlpackage", pipeline(spec(), other).SerializeToString())
    assert "            y = relu(x);\n" in done("print", package, "--draft", "--model", "1")


def test_a_program_with_errors_is_written_in_full(tmp_path: Path) -> None:
    path = tmp_path / "wrong.mil"
    path.write_text(WRONG, encoding="utf-8")
    result = run("print", path, "--draft", "--drop-names")
    assert (result.exit_code, result.stdout) == (0, WRONG)
    assert "warning[MIL701]: this is written in full, since `miltext infer` refuses a draft with" in result.stderr


def test_the_draft_of_a_draft_is_this_draft(tmp_path: Path) -> None:
    path = tmp_path / "draft.mil"
    path.write_text(done("print", EXAMPLE, "--draft"), encoding="utf-8")
    assert done("print", path, "--draft") == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [[], ["--drop-names"]])
def test_coremltools_opens_a_model_built_from_a_draft(options: list[str], tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    done("print", EXAMPLE, "--draft", *options, "-o", tmp_path / "draft.mil")
    done("infer", tmp_path / "draft.mil", "-o", tmp_path / "model.mil")
    done("build", tmp_path / "model.mil", "--from", EXAMPLE, "-o", tmp_path / "New.mlpackage")
    assert_coremltools_opens(tmp_path / "New.mlpackage")
