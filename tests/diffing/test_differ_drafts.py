"""Unified diffs of drafts: their lines, what of weights is seen in them, and what there is no draft of."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.commands import RUNNER
from support.diff_cases import CASES, FOLDER, WEIGHTS, numbered, write_weights

import miltext
from miltext.cli import command
from miltext.drafting.writing import draft_text
from miltext.printing.tensors import Style
from miltext.weight_files.printing import Digests

WEIGHT = (
    'tensor<fp16, [3, 4]> w = const()[name = string("w"), '
    'val = tensor<fp16, [3, 4]>(BLOBFILE(path = string("@model_path/weights/a.bin"), offset = uint64(64)))];'
)
PROGRAM = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4]> x) {
            {weight}
            tensor<fp16, [1, 3]> h = linear(weight = w, x = x)[name = string("h")];
            tensor<fp16, [1, 3]> y = relu(x = h)[name = string("y")];
        } -> (y);
}
""".replace("{weight}", WEIGHT)
WITH_BUILD_INFO = "program(1.3)\n[buildInfo = dict<string, string>({})]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two folders with one model in each, the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        model(name, PROGRAM)
    return tmp_path


def model(name: str, text: str, weights: list[float] | None = None) -> None:
    Path(name).mkdir(exist_ok=True)
    Path(name, "m.mil").write_text(text)
    if not Path(name, "weights").exists():
        write_weights(Path(name, "weights"), {"a.bin": [("fp16", np.arange(12) if weights is None else weights)]})


def diffed(*options: str, status: int = 1) -> list[str]:
    """The lines of the diff that are in one draft only."""
    result = RUNNER.invoke(command, ["diff", "a/m.mil", "b/m.mil", "--format", "unified", "--draft", *options])
    assert (result.exit_code, result.stderr) == (status, ""), result.output
    lines = result.stdout.splitlines()
    return [f"{line[0]}{line[1:].strip()}" for line in lines if re.match(r"[-+](?![-+]{2} )", line)]


@pytest.mark.parametrize("case", CASES)
def test_the_lines_match_the_drafts(case: str, folder: Path) -> None:
    if case in WEIGHTS:
        write_weights(folder / "weights", WEIGHTS[case])
    texts = []
    for name in ("a.mil", "b.mil"):
        (folder / name).write_bytes((FOLDER / case / name).read_bytes())
        digests, program = Digests(folder, on_unread=id), miltext.load(name).program
        texts.append(draft_text(program, Style(floats="decimal", elide=16), spell=digests).splitlines())
    difference = miltext.diff("a.mil", "b.mil", build_info=True)
    lines = [*numbered(difference.to_unified(draft=True))]
    for sign, number, line in lines:
        assert texts[sign != "-"][number - 1] == line
    signs = [sign for sign, _, _ in lines]
    assert len(texts[1]) - len(texts[0]) == signs.count("+") - signs.count("-")
    assert bool(lines) is (not difference.same and texts[0] != texts[1])


@pytest.mark.parametrize("case", ["rename_all_values", "swap_names", "inner_block", "rename_interface"])
def test_the_forms_do_not_disturb_each_other(case: str) -> None:
    by_structure = miltext.diff(FOLDER / case / "a.mil", FOLDER / case / "b.mil").to_unified()
    by_line = miltext.diff(FOLDER / case / "a.mil", FOLDER / case / "b.mil").to_unified(draft=True)
    difference = miltext.diff(FOLDER / case / "a.mil", FOLDER / case / "b.mil")
    for _ in range(2):
        assert difference.to_unified() == by_structure
        assert difference.to_unified(draft=True) == by_line


def test_a_line_shows_only_the_change() -> None:
    model("b", PROGRAM.replace("relu(", "tanh("))
    assert diffed() == ["-y = relu(h);", "+y = tanh(h);"]


def test_types_that_follow_are_not_lines() -> None:
    Path("b/weights/a.bin").unlink()
    Path("b/weights").rmdir()
    model("b", PROGRAM.replace("[3, 4]", "[5, 4]").replace("[1, 3]", "[1, 5]"), [*range(20)])
    lines = diffed()
    assert [line[0] for line in lines] == ["-", "+"]
    assert ["[3, 4]" in lines[0], "[5, 4]" in lines[1]] == [True, True]


def test_a_changed_weight_of_the_same_size_is_a_changed_digest() -> None:
    data = bytearray(Path("b/weights/a.bin").read_bytes())
    data[-1] ^= 1
    Path("b/weights/a.bin").write_bytes(data)
    old, new = diffed()
    digests = re.findall(r'\$elided\(12, "(sha256:[0-9a-f]{16})"\)', old + new)
    assert len(set(digests)) == 2
    assert old[1:].replace(digests[0], digests[1]) == new[1:]


def test_a_weight_at_another_place_is_not_a_line() -> None:
    other = PROGRAM.replace("64)", "192)").replace("relu(", "tanh(")
    write_weights(Path("b/others"), {"a.bin": [("fp16", np.zeros(12)), ("fp16", np.arange(12))]})
    Path("b/weights/a.bin").write_bytes(Path("b/others/a.bin").read_bytes())
    model("b", other)
    assert diffed() == ["-y = relu(h);", "+y = tanh(h);"]


def test_weights_that_cannot_be_read_are_their_places() -> None:
    for name in ("a", "b"):
        Path(name, "weights/a.bin").unlink()
    assert diffed(status=2) == []
    model("b", PROGRAM.replace("64)", "128)"))
    old, new = diffed()
    assert ['$blob("weights/a.bin", 64)' in old, '$blob("weights/a.bin", 128)' in new] == [True, True]


def test_build_info_has_lines_only_if_requested() -> None:
    info = WITH_BUILD_INFO.format('{{"coremlc-version", "1"}}')
    model("b", PROGRAM.replace("program(1.3)\n", info))
    assert diffed(status=0) == []
    model("b", PROGRAM.replace("program(1.3)\n", info).replace("relu(", "tanh("))
    assert diffed() == ["-y = relu(h);", "+y = tanh(h);"]
    assert '+[buildInfo = dict<string, string>({{"coremlc-version", "1"}})]' in diffed("--build-info")


def test_a_program_with_errors_is_compared_in_full() -> None:
    wrong = PROGRAM.replace("relu(x = h)", "relu(x = nothing)")
    model("b", wrong)
    lines = diffed()
    assert "-y = relu(h);" in lines
    assert '+tensor<fp16, [1, 3]> y = relu(x = nothing)[name = string("y")];' in lines
    assert [line for line in lines if "BLOBFILE" in line or "$blob" in line] == []
    model("a", wrong.replace('string("h")', 'string("g")'))
    assert [line.partition("[name")[2] for line in diffed()] == [' = string("g")];', ' = string("h")];']


def test_models_that_are_the_same_have_no_lines() -> None:
    assert diffed(status=0) == []
    assert miltext.diff("a/m.mil", "b/m.mil").to_unified(draft=True) == ""


@pytest.mark.parametrize("form", [[], ["--stat"], ["--format", "json"], ["--format", "text"]])
def test_only_a_unified_diff_is_of_drafts(form: list[str]) -> None:
    result = RUNNER.invoke(command, ["diff", "a/m.mil", "b/m.mil", "--draft", *form])
    assert (result.exit_code, "add --format unified" in result.stderr, result.stdout) == (2, True, "")
