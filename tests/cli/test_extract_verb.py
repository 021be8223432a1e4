"""`miltext extract` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from conftest import EXAMPLE
from support.running import RUNNER

import miltext
from miltext.cli import command

TEXT = """\
// A net.
program(1.3)
{
    func main<ios18>(tensor<fp32, [4]> x) {
            // First.
            tensor<fp32, [4]> a = relu(x = x);
            tensor<fp32, [4]> b = exp(x = a); // beside
            tensor<bool, [4]> m = greater(x = b, y = fp32(0x1p+0));
        } -> (b);
}
"""

PART = """\
// A net.
program(1.3)
{
    func main<ios18>(tensor<fp32, [4]> a) {
            tensor<fp32, [4]> b = exp(x = a); // beside
        } -> (b);
}
"""


def run(*arguments: object, input: str | None = None) -> Result:
    return RUNNER.invoke(command, ["extract", *map(str, arguments)], input=input)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "whole.mil"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_the_text_of_a_part(whole: Path, tmp_path: Path) -> None:
    shown = run(whole, "b", "--input", "a")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, PART, "")
    assert run("-", "b", "--input", "a", input=TEXT).stdout == PART
    out = tmp_path / "part.mil"
    written = run(whole, "b", "--input", "a", "-o", out)
    assert (written.exit_code, written.output, out.read_text(encoding="utf-8")) == (0, "", PART)
    again = run(whole, "b", "-o", out)
    assert (again.exit_code, "--force" in again.stderr, out.read_text(encoding="utf-8")) == (2, True, PART)
    assert run(whole, "b", "--input", "a", "-o", whole, "--force").exit_code == 0
    assert whole.read_text(encoding="utf-8") == PART


def test_an_output_that_no_model_can_have_is_reported(whole: Path) -> None:
    shown = run(whole, "m")
    assert (shown.exit_code, shown.stdout.count("-> (m)")) == (0, 1)
    assert shown.stderr.startswith(
        f"{whole}: warning[MIL448]: `m` is tensor<bool, [4]>, which cannot be an output of a model\n"
    )


def test_a_model_of_a_part(tmp_path: Path) -> None:
    out = tmp_path / "Part.mlpackage"
    made = run(EXAMPLE, "pooled_cast_fp16", "--input", "edges_cast_fp16", "-o", out)
    assert (made.exit_code, made.stdout) == (0, "")
    assert made.stderr.splitlines()[:2] == [
        "- input image: fp32 [1, 1, 16, 16]",
        "+ input edges_cast_fp16: fp16 [1, 6, 8, 8]",
    ]
    assert list(miltext.load(out).program.functions["main"].block_specializations["CoreML6"].outputs) == [
        "pooled_cast_fp16"
    ]
    text = tmp_path / "part.mil"
    assert run(EXAMPLE, "lit_cast_fp16", "-o", text).output == ""
    assert "-> (lit_cast_fp16)" in text.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["y"], 1, "error[MIL430]: unknown value `y`"),
        (["b", "--input", "m"], 1, "error[MIL447]: no output of the part needs `m`"),
        (["x"], 1, "error[MIL448]: `x` is an input of the function: no operation makes it"),
        (["b", "--function", "other"], 1, "error[MIL430]: unknown function `other`"),
        (["b", "--model", "1"], 1, "error[MIL257]"),
        (["b", "--range", "x=4"], 2, "a text has no description"),
        (["b", "--no-loss"], 2, "a text has no description"),
        (["b", "--weights", "."], 2, "a text has no description"),
        (
            ["m", "-o", "P.mlpackage"],
            1,
            "error[MIL448]: `m` is tensor<bool, [4]>, which cannot be an output of a model",
        ),
        (["b", "-o", "part.pb"], 2, "error[MIL401]"),
        (["b", "-o", ""], 2, "error[MIL401]"),
        ([], 2, "Missing argument 'VALUE...'"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_a_refused_input(
    arguments: list[str], status: int, message: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(whole.name, *arguments)
    assert (result.exit_code, result.stdout, message in result.stderr) == (status, "", True), result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [whole.name]


def test_arrays_beside_a_draft_keep_it_where_it_is(tmp_path: Path) -> None:
    import numpy as np

    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    draft = tmp_path / "here" / "draft.mil"
    draft.write_text('program(1.3) { func main<ios18>(tensor<fp32, [2]> x) { a = add(x, $npy("w.npy")); } -> (a); }')
    np.save(tmp_path / "here" / "w.npy", np.ones(2, np.float32))
    assert run(draft, "a", "-o", tmp_path / "here" / "part.mil").exit_code == 0
    elsewhere = run(draft, "a", "-o", tmp_path / "there" / "part.mil")
    assert (elsewhere.exit_code, "error[MIL406]" in elsewhere.stderr) == (2, True)
    assert [*(tmp_path / "there").iterdir()] == []
    assert run(draft, "a", "-o", tmp_path / "there" / "Part.mlpackage").exit_code == 0
