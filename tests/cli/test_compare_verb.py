"""`miltext compare`: what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from conftest import EXAMPLE, GOLDEN, Check
from support.commands import RUNNER

from miltext.cli import command

UNDERFLOW = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 4]> x) {
            tensor<fp32, [2, 4]> small = mul(x = x, y = fp32(0.0001));
            tensor<fp32, [2, 4]> energy = square(x = small);
            tensor<fp32, [2, 4]> y = mul(x = energy, y = fp32(10000));
        } -> (y);
}
"""

NUMBERS = np.array([[1, 2, 3, 4], [-1, 0.5, 0, 9]], np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("fp32.mil").write_text(UNDERFLOW, encoding="utf-8")
    Path("fp16.mil").write_text(UNDERFLOW.replace("fp32", "fp16"), encoding="utf-8")
    np.save("x.npy", NUMBERS)
    np.savez("x.npz", x=NUMBERS)
    np.savez("y.npz", y=NUMBERS**2 * 1e-4, small=NUMBERS * 1e-4)
    return tmp_path


def run(*arguments: str, stdin: str | None = None) -> Result:
    return RUNNER.invoke(command, ["compare", *arguments], input=stdin)


REPORTS = {
    "same": ("fp32.mil", "fp32.mil"),
    "underflow": ("fp32.mil", "fp16.mil", "--input", "x=x.npy"),
    "all": ("fp32.mil", "fp16.mil", "--inputs", "x.npz", "--all", "--min-snr", "0"),
    "against": ("fp32.mil", "--inputs", "x.npz", "--against", "y.npz"),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", REPORTS)
def test_the_output(name: str, matches_golden: Check) -> None:
    result = run(*REPORTS[name])
    assert result.stderr == ""
    assert result.exit_code == (name == "underflow")
    matches_golden(GOLDEN / "compare" / f"{name}.txt", result.stdout)


@pytest.mark.usefixtures("folder")
def test_json() -> None:
    result = run("fp32.mil", "fp16.mil", "--inputs", "x.npz", "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (told["old"], told["new"], told["ok"], told["min_snr"]) == ("fp32.mil", "fp16.mil", False, 40)
    assert (told["first"]["name"], told["first"]["operation"], told["first"]["line"]) == ("energy", "square", 5)
    assert told["first"]["measure"]["vanished"] > 0
    assert [each["name"] for each in told["values"]] == ["x", "small", "energy"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "seed"),
    [
        ((), 0),
        (("--random", "7"), 7),
        (("--shape", "x=2,4"), 0),
        (("--shape", "x=2,4", "--random", "7"), 7),
        (("--input", "x=x.npy"), None),
        (("--input", "x=x.npy", "--random", "7"), None),
    ],
)
def test_the_seed_of_random_inputs_is_reported(options: tuple[str, ...], seed: int | None) -> None:
    lines = [line for line in run("fp32.mil", "fp32.mil", *options).stdout.splitlines() if line.startswith("#")]
    assert lines == ([] if seed is None else [f"# random inputs, with the seed {seed}"])
    assert json.loads(run("fp32.mil", "fp32.mil", *options, "--json").stdout)["seed"] == seed


TWO = "program(1.3) { func main<ios18>(tensor<fp32, [1]> x, tensor<fp32, [1]> z) { y = add(x = x, y = z); } -> (y); }"


@pytest.mark.usefixtures("folder")
def test_random_numbers_are_not_advised_where_they_failed() -> None:
    Path("words.mil").write_text(TWO.replace("tensor<fp32, [1]> z", "string z").replace("y = z", "y = x"), "utf-8")
    told = run("words.mil", "words.mil").stderr
    assert ("error[MIL831]" in told, "--random" in told) == (True, False)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fp32.mil",), "name a model B to compare with, or give --against FILE"),
        (("fp32.mil", "fp16.mil", "--against", "y.npz"), "name a model B to compare with, or give --against FILE"),
        (("-", "-"), "standard input can be only one model"),
        (("fp32.mil", "none.mil"), "file or folder not found: none.mil"),
        (("fp32.mil", "fp16.mil", "--input", "x"), "is not NAME=FILE"),
        (("fp32.mil", "fp16.mil", "--input", "z=x.npy"), "error[MIL832]"),
        (("fp32.mil", "fp16.mil", "--input", "x=none.npy"), "none.npy"),
        (("fp32.mil", "fp16.mil", "--input", "x=[1]"), "error[MIL833]"),
        (("two.mil", "two.mil", "--input", "x=[1]"), "error[MIL831]: the input `z` is missing"),
        (
            ("two.mil", "two.mil", "--input", "x=[1]"),
            "note: --input NAME=FILE gives one input, --inputs several, and --r",
        ),
        (("fp32.mil", "fp16.mil", "--function", "mian"), "did you mean `main`?"),
        (("fp32.mil", "wrong.mil"), "error[MIL604]"),
        (("fp32.mil", "other.mil"), "error[MIL842]"),
        (("fp32.mil", "--against", "x.npy"), "x.npy"),
        (("fp32.mil", "--against", "z.npz"), "error[MIL844]: no output or inner value is called `smal`; did you mean"),
        (("fp32.mil", "fp16.mil", "--min-snr", "much"), "'much' is not a number"),
        (("fp32.mil", "fp16.mil", "--min-snr", "nan"), "--min-snr takes a number of dB"),
        (("fp32.mil", "--against", "y.npz", "--runs", "2"), "--against has the numbers of one run"),
        (("fp32.mil", "fp16.mil", "--runs", "0"), "0 is not in the range"),
    ],
)
def test_incomparable_models_end_with_2(arguments: tuple[str, ...], told: str) -> None:
    Path("wrong.mil").write_text(UNDERFLOW.replace("x = small", "x = smal"), encoding="utf-8")
    Path("other.mil").write_text(UNDERFLOW.replace("[2, 4]", "[2, 5]"), encoding="utf-8")
    Path("two.mil").write_text(TWO, encoding="utf-8")
    np.savez("z.npz", smal=NUMBERS)
    result = run(*arguments)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stdout == ""


@pytest.mark.usefixtures("folder")
def test_models_from_standard_input_and_random_numbers() -> None:
    assert run("-", "fp32.mil", stdin=UNDERFLOW).exit_code == 0
    assert run("fp32.mil", "-", "--random", stdin=UNDERFLOW).exit_code == 0
    one, other = (run("fp32.mil", "fp16.mil", "--random", seed, "--json").stdout for seed in ("1", "2"))
    assert json.loads(one)["outputs"][0]["measure"] != json.loads(other)["outputs"][0]["measure"]
    assert run("fp32.mil", "fp16.mil", "--random=1", "--json").stdout == one
    assert run("--random", "fp32.mil", "fp32.mil").exit_code == 0


def test_a_package(tmp_path: Path) -> None:
    result = run(str(EXAMPLE), str(EXAMPLE), "--runs", "2", "--compute", "native")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "2 outputs, none below 50.0 dB" in result.stdout


FLEXIBLE = """program(1.3)
{
    func main<ios18>(tensor<fp32, [?, 3]> x, tensor<fp32, [3]> z) {
            tensor<fp32, [?, 3]> y = add(x = x, y = z);
        } -> (y);
}
"""


def levels(*arguments: str) -> list[tuple[str, float | str]]:
    """The types and the largest differences of outputs."""
    result = run(*arguments, "--json")
    assert result.stderr == ""
    return [(each["type"], each["measure"]["maximum"]) for each in json.loads(result.stdout)["outputs"]]


@pytest.mark.usefixtures("folder")
def test_the_shape_of_a_random_input() -> None:
    Path("a.mil").write_text(FLEXIBLE, encoding="utf-8")
    Path("b.mil").write_text(FLEXIBLE.replace("add", "sub"), encoding="utf-8")
    assert run("a.mil", "b.mil").exit_code == 2
    found = levels("a.mil", "b.mil", "--shape", "x=5,3")
    assert [each for each, _ in found] == ["tensor<fp32, [5, 3]>"]
    assert levels("a.mil", "b.mil", "--shape", "x=5,3", "--random") == found
    assert levels("a.mil", "b.mil", "--shape", "x=5,3", "--random", "4") != found
    np.save("z.npy", np.zeros(3, np.float32))
    result = run("a.mil", "b.mil", "--shape", "x=5,3", "--input", "z=z.npy")
    assert (result.exit_code, "--shape is for inputs that --random fills" in result.stderr) == (2, True)
    (same,) = levels("a.mil", "b.mil", "--shape", "x=5,3", "--input", "z=z.npy", "--random")
    assert same == ("tensor<fp32, [5, 3]>", 0)


@pytest.mark.usefixtures("folder")
def test_random_inputs_of_several_runs_are_others() -> None:
    one, same, several = (
        levels("fp32.mil", "fp16.mil", *options)
        for options in (["--random", "5"], ["--random", "5", "--runs", "1"], ["--random", "5", "--runs", "9"])
    )
    assert one == same
    assert several != one


@pytest.mark.usefixtures("folder")
def test_the_weights_of_a_text_may_be_elsewhere() -> None:
    from miltext.cli import command as whole

    printed = RUNNER.invoke(whole, ["print", str(EXAMPLE), "-o", "model.mil"])
    assert printed.exit_code == 0
    weights = str(EXAMPLE / "Data" / "com.apple.CoreML")
    for pair in (("model.mil", str(EXAMPLE)), (str(EXAMPLE), "model.mil"), ("model.mil", "model.mil")):
        assert run(*pair).exit_code == 2
        result = run(*pair, "--weights", weights)
        assert (result.exit_code, result.stderr) == (0, "")
    result = run(str(EXAMPLE), str(EXAMPLE), "--weights", "nowhere")
    assert (result.exit_code, result.stderr) == (0, "")
    assert run("model.mil", str(EXAMPLE), "--weights", "nowhere").exit_code == 2
