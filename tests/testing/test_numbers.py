"""Numbers pinned in files, and models held against each other, in tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLE

import miltext
from miltext.testing import assert_matches_numbers, assert_same_numbers

pytest_plugins = ["pytester"]

TEXT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 3]> x) {
            tensor<fp16, [2, 3]> h = tanh(x = x);
            tensor<fp16, [2, 3]> y = exp(x = h);
        } -> (y);
}
"""
WRONG = TEXT.replace("tanh", "sigmoid")
HEAD = f"import miltext, pytest\nTEXT = {TEXT!r}\n"


def test_models_that_compute_the_same() -> None:
    assert_same_numbers(EXAMPLE, EXAMPLE)
    assert_same_numbers(TEXT, TEXT.replace("fp16", "fp32"), min_snr=50)
    with pytest.raises(AssertionError, match=r"(?s)the numbers differ:.*error\[MIL841\]: `h` \(sigmoid\) falls to"):
        assert_same_numbers(TEXT, WRONG)
    with pytest.raises(AssertionError):
        assert_same_numbers(TEXT, TEXT.replace("fp16", "fp32"), min_snr=100)


@pytest.mark.parametrize("source", [miltext.parse(TEXT), miltext.load(EXAMPLE)], ids=["program", "package"])
def test_numbers_in_a_file(source: Any, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.npz"
    with pytest.raises(AssertionError, match=r"missing golden .*\nto write it: set MIL_UPDATE=1"):
        assert_matches_numbers(source, path, update=False)
    assert_matches_numbers(source, path, update=True)
    written = path.read_bytes()
    assert_matches_numbers(source, path, update=False)
    assert_matches_numbers(source, path, update=True)
    assert path.read_bytes() == written
    with pytest.raises(AssertionError, match="the numbers differ"):
        assert_matches_numbers(source, path, update=False, seed=1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (WRONG, r"(?s)the numbers differ from .*`y` \(exp\) falls to"),
        (TEXT.replace("y =", "z =").replace("(y)", "(z)"), "no output or inner value is called `y`"),
        (TEXT.replace("(y)", "(y, h)"), "the output `h` is only in"),
        (TEXT.replace("[2, 3]", "[3, 2]"), r"`y` has the shape \[2, 3\], and `y` is tensor<fp16, \[3, 2\]>"),
    ],
)
def test_a_difference_is_reported(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    assert_matches_numbers(miltext.parse(TEXT), path, update=True)
    with pytest.raises(AssertionError, match=told) as caught:
        assert_matches_numbers(miltext.parse(text), path, update=False)
    assert "to accept" in str(caught.value)
    assert_matches_numbers(miltext.parse(text), path, update=True)
    assert_matches_numbers(miltext.parse(text), path, update=False)


@pytest.mark.parametrize(("inner", "threshold"), [("fp16", "50.0"), ("fp32", "80.0")])
def test_the_threshold_matches_the_models_own_precision(inner: str, threshold: str, tmp_path: Path) -> None:
    text = f"""program(1.3) {{ func main<ios18>(tensor<fp32, [2, 3]> x) {{
        a = cast(x = x, dtype = "{inner}"); h = tanh(x = a); y = cast(x = h, dtype = "fp32"); }} -> (y); }}"""
    path = tmp_path / "a.npz"
    program, wrong = (miltext.parse(miltext.infer_draft(each)) for each in (text, text.replace("tanh", "sigmoid")))
    assert_matches_numbers(program, path, update=True)
    assert_matches_numbers(program, path, update=False)
    with pytest.raises(AssertionError, match=f"1 below {threshold} dB"):
        assert_matches_numbers(wrong, path, update=False)
    with pytest.raises(AssertionError, match=r"1 below 60\.0 dB"):
        assert_matches_numbers(wrong, path, update=False, min_snr=60)


@pytest.mark.parametrize("x", [-1.0, 0.0])
def test_odd_numbers_are_pinned(x: float, tmp_path: Path) -> None:
    text = "program(1.3) { func main<ios18>(tensor<fp32, [2]> x) { y = log(x = x); } -> (y); }"
    source, path = miltext.parse(miltext.infer_draft(text)), tmp_path / "a.npz"
    given = {"x": np.array([x, 1], np.float32)}
    assert_matches_numbers(source, path, given, update=True)
    assert_matches_numbers(source, path, given, update=False)
    with pytest.raises(AssertionError, match="the numbers differ"):
        assert_matches_numbers(source, path, {"x": np.array([1, 1], np.float32)}, update=False)


def test_given_inputs(tmp_path: Path) -> None:
    program, path = miltext.parse(TEXT), tmp_path / "a.npz"
    one, other = np.ones((2, 3), np.float16), np.zeros((2, 3), np.float16)
    assert_matches_numbers(program, path, {"x": one}, update=True)
    assert_matches_numbers(program, path, {"x": one}, update=False)
    with pytest.raises(AssertionError):
        assert_matches_numbers(program, path, {"x": other}, update=False)
    with pytest.raises(miltext.MiltextError):
        assert_matches_numbers(program, path, {"q": one}, update=False)
    assert_matches_numbers(TEXT, path, {"x": one}, update=False)
    with pytest.raises(TypeError):
        assert_matches_numbers(7, path, {"x": one}, update=False)


def test_the_fixture(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_ops=HEAD + "def test_one(mil_golden):\n    mil_golden.numbers(miltext.parse(TEXT), 'one', min_snr=60)\n"
    )
    arguments = ("-p", "no:cacheprovider")
    result = pytester.runpytest(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*missing golden test_ops/one.numbers.npz", "*pytest --mil-update test_ops.py::test_one"]
    )
    pytester.runpytest(*arguments, "--mil-update").assert_outcomes(passed=1)
    pytester.runpytest(*arguments).assert_outcomes(passed=1)
    pytester.makepyfile(
        test_ops=HEAD
        + "def test_one(mil_golden):\n    mil_golden.numbers(miltext.parse(TEXT.replace('tanh', 'sin')), 'one')\n"
    )
    result = pytester.runpytest(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*MIL841*`y` (exp) falls to*", "*to accept them: pytest --mil-update*"])


def test_numbers_that_nothing_checks_are_reported(pytester: pytest.Pytester) -> None:
    folder = pytester.path / "test_ops"
    folder.mkdir()
    for name in ("old.numbers.npz", "inputs.npz"):
        np.savez(folder / name, y=np.zeros(1))
    pytester.makepyfile(test_ops=HEAD + "def test_one(mil_golden):\n    mil_golden.check(miltext.parse(TEXT), 'one')\n")
    result = pytester.runpytest("-p", "no:cacheprovider", "--mil-update")
    result.stdout.fnmatch_lines(["*unused goldens*", "test_ops/old.numbers.npz"])
    result.stdout.no_fnmatch_line("*inputs.npz*")
