"""`miltext locate` in pipelines, of models that Apple's text cannot express, and with arguments missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from conftest import EXAMPLE, corpus_files
from support.pipelines import piped, unary
from support.running import RUNNER

from miltext.cli import command

RELU = "operation: relu\n"
ELSEWHERE = "note: the text of Apple's compiler cannot be reproduced for this model: take model.mil from the compiled"


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "P.mlmodel"
    path.write_bytes(piped(unary("x", "hidden"), unary("hidden", "y"), names=("one", "two")).SerializeToString())
    return path


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    inside = piped(unary("a", "b"), unary("b", "c"))
    path = tmp_path / "N.mlmodel"
    path.write_bytes(piped(unary("x", "a"), inside, unary("c", "y")).SerializeToString())
    return path


def line_of(model: Path, place: str, output: str) -> int:
    """The line of the operation with an output, in the compiler's text of a model in a pipeline."""
    lines = run("print", model, "--model", place, "--as-coremlc").stdout.splitlines()
    return next(index for index, line in enumerate(lines, 1) if f" {output} = " in line)


@pytest.mark.parametrize(
    ("path", "output"),
    [
        ("model0/model.mil", "hidden"),
        ("model1/model.mil", "y"),
        ("/private/var/x/P.mlmodelc/model1/model.mil", "y"),
        ("C:\\Users\\x\\P.mlmodelc\\model1\\model.mil", "y"),
    ],
)
def test_the_path_in_an_error_names_the_model_of_a_pipeline(two: Path, path: str, output: str) -> None:
    line = line_of(two, path[path.index("model.mil") - 2], output)
    found = run("locate", two, f"{path}:{line}:12: error: invalid axis")
    assert (found.exit_code, f"outputs:   {output}\n" in found.stdout) == (0, True), found.stderr


def test_the_path_in_an_error_names_a_model_of_a_nested_pipeline(nested: Path) -> None:
    line = line_of(nested, "1/1", "c")
    found = run("locate", nested, f"N.mlmodelc/model1/model1/model.mil:{line}:12")
    assert (found.exit_code, "outputs:   c\n" in found.stdout) == (0, True), found.stderr


def test_the_option_counts_before_the_path(two: Path) -> None:
    line = line_of(two, "1", "y")
    assert "outputs:   y\n" in run("locate", two, f"model0/model.mil:{line}", "--model", "1").stdout


@pytest.mark.parametrize(
    "place", ["4:12", "model.mil:4:12", "model9/model.mil:4:12", "/home/model0/M.mlmodelc/model.mil:4", "model1.mil:4"]
)
def test_a_place_without_its_model_gets_the_option(two: Path, place: str) -> None:
    found = run("locate", two, place)
    assert (found.exit_code, found.stdout) == (1, "")
    assert f"{two}: error[MIL257]: " in found.stderr
    assert "note: name it with `--model 0`, or give its path in Core ML's error, as in `model0/model.mil:242:12`\n" in (
        found.stderr
    )


def test_a_folder_named_like_a_model_is_not_in_a_pipeline() -> None:
    """Only a pipeline has models: the path of an error may have any folders."""
    place = "model0/model.mil:15:41"
    assert run("locate", EXAMPLE, place).stdout == run("locate", EXAMPLE, "15:41").stdout != ""


@pytest.mark.parametrize("path", corpus_files("bundles/ironmill-pal.mlpackage"))
@pytest.mark.parametrize("verb", [("locate", "10:3"), ("print", "--as-coremlc"), ("print", "--strict")], ids="_".join)
def test_a_model_without_a_text_by_apple_has_a_way_out(path: Path, verb: tuple[str, ...]) -> None:
    found = run(verb[0], path, *verb[1:])
    lines = found.stderr.splitlines()
    assert (found.exit_code, found.stdout) == (1, "")
    assert lines[0] == f"{path}: error[MIL201]: Apple's syntax cannot express values in `bytes` here"
    way = ELSEWHERE if verb[0] == "locate" else "note: print without `--as-coremlc` and `--strict`: miltext's own"
    assert lines[-1].startswith(f"{path}: {way}")
    assert all(line.startswith(f"{path}: ") for line in lines)


@pytest.mark.parametrize(
    ("words", "missing"), [(["242:12"], "MODEL"), (["model.mil:3"], "MODEL"), ([EXAMPLE], "LINE[:COL]")]
)
def test_the_missing_argument_is_named(words: list[object], missing: str) -> None:
    found = run("locate", *words)
    assert (found.exit_code, found.stderr.splitlines()[-1]) == (2, f"Error: Missing argument '{missing}'.")
    assert run("locate").stderr.splitlines()[-1] == "Error: Missing argument 'MODEL'."


def test_a_compiled_pipeline_is_read_by_the_path_too(tmp_path: Path, two: Path) -> None:
    bundle = tmp_path / "P.mlmodelc"
    assert run("build", two, "-o", bundle).exit_code == 0, run("build", two, "-o", bundle).stderr
    lines = (bundle / "model1" / "model.mil").read_text().splitlines()
    number = next(index for index, line in enumerate(lines, 1) if " y = " in line)
    assert "outputs:   y\n" in run("locate", bundle, f"model1/model.mil:{number}:12").stdout
