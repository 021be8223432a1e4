"""`miltext split` as a user meets it."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest
from click.testing import Result
from conftest import EXAMPLE
from support.running import RUNNER
from support.strikes import struck

from miltext.cli import command

PLAN = """\
01_Model.mlpackage: 4 operations, 108 bytes of weights
  input image: tensor<fp32, [1, 1, 16, 16]>, 1,024 bytes
  output pooled_cast_fp16: tensor<fp16, [1, 6, 4, 4]>, 192 bytes, to part 2
02_Model.mlpackage: 5 operations, 576 bytes of weights
  input pooled_cast_fp16: tensor<fp16, [1, 6, 4, 4]>, 192 bytes, from part 1
  output classLabel: string
  output classLabel_probs: dict<string, fp64>
2 parts; 1 value of 192 bytes from part to part
"""


def run(*arguments: object, input: str | None = None) -> Result:
    return RUNNER.invoke(command, ["split", *map(str, arguments)], input=input)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "Model.mlpackage"))


def test_a_dry_run_shows_the_parts_to_write(model: Path, tmp_path: Path) -> None:
    shown = run(model, "--at", "pooled_cast_fp16", "--dry-run")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, PLAN, "")
    assert [*tmp_path.iterdir()] == [model]
    written = run(model, "--at", "pooled_cast_fp16", "-o", tmp_path / "parts")
    assert (written.exit_code, written.stdout, written.stderr) == (0, PLAN, "")
    assert sorted(each.name for each in (tmp_path / "parts").iterdir()) == ["01_Model.mlpackage", "02_Model.mlpackage"]
    again = run(model, "--at", "pooled_cast_fp16", "-o", tmp_path / "parts")
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    assert run(model, "--parts", 3, "-o", tmp_path / "parts", "--force").exit_code == 0
    assert len([*(tmp_path / "parts").iterdir()]) == 3


def test_the_plan_as_json(model: Path) -> None:
    made = json.loads(run(model, "--max-weights", "600", "--dry-run", "--format", "json").stdout)
    assert made["output"] is None
    assert [each["weights"] for each in made["parts"]] == [108, 576]
    assert made["weights"] == {"whole": 684, "copied": 0}
    (value,) = made["parts"][1]["inputs"]
    expected = {"name": "flat_cast_fp16", "type": "tensor<fp16, [1, 96]>", "bytes": 192, "parts": [1]}
    assert {**value, "name": "flat_cast_fp16", "type": "tensor<fp16, [1, 96]>"} == expected


def test_a_text_on_standard_input() -> None:
    text = "program(1.3) { func main<ios18>(tensor<fp32, [2]> x) { h = relu(x); y = exp(h); } -> (y); }"
    shown = run("-", "--parts", "2", "--dry-run", input=text)
    assert shown.stdout.splitlines()[0] == "01_Model.mlpackage: 1 operation, 0 bytes of weights"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "choose the parts by one of --parts, --max-weights, --at and --functions"),
        (("--parts", "2", "--functions"), "choose the parts by one of"),
        (("--functions", "--pipeline"), "--functions makes a model of each function"),
        (("--parts", "2"), "name the folder to write with -o, or see the parts with --dry-run"),
        (("--parts", "2", "--pipeline"), "name the model to write with -o, or see the parts with --dry-run"),
        (("--parts", "2", "-o", "p", "--dry-run"), "--dry-run writes nothing"),
        (("--parts", "0", "--dry-run"), "0 is not in the range x>=1"),
        (("--max-weights", "5 potatoes", "--dry-run"), "'5 potatoes' is not a number of bytes, such as 500MB"),
        (("--max-weights", "0", "--dry-run"), "'0' is not a number of bytes"),
    ],
)
def test_wrong_options_are_usage_errors(model: Path, words: tuple[str, ...], said: str) -> None:
    result = run(model, *words)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("words", "parts"), [("700", 1), ("0.6kB", 2), ("576B", 2), ("1KiB", 1), ("1 MB", 1), ("2gib", 1)]
)
def test_sizes_have_units(model: Path, words: str, parts: int) -> None:
    made = json.loads(run(model, "--max-weights", words, "--dry-run", "--format", "json").stdout)
    assert len(made["parts"]) == parts


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "strike", "how"),
    [
        ("SIGTERM", 1, ["-o", "parts"]),
        ("SIGINT", 4, ["-o", "parts"]),
        ("SIGHUP", 6, ["-o", "out/parts"]),
        ("SIGTERM", 1, ["-o", "Pipe.mlpackage", "--pipeline"]),
    ],
)
def test_an_interrupted_split_leaves_nothing(
    model: Path, tmp_path: Path, number: str, strike: int, how: list[str]
) -> None:
    """Struck after the model of the first part, of the second one, and after the last file."""
    result = struck(tmp_path, number, strike, "split", "Model.mlpackage", "--parts", "3", *how)
    assert (result.returncode, result.stderr) == (128 + getattr(signal, number), b"")
    assert [each.name for each in tmp_path.iterdir()] == ["Model.mlpackage"]
