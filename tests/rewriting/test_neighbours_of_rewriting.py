"""`rewrite` and `optimize`, with proofs, on functions without a `main`, around states, on NaN, and in pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.containers import pipeline
from support.running import RUNNER

import miltext
from miltext import Graph
from miltext.cli import command
from miltext.schema.proto import Program

FIRST = """    func first<ios17>(tensor<fp16, [2, 4]> x) {
            a = identity(cast(cast(x, "fp32"), "fp16"));
            y = mul(relu(relu(a)), exp([1.0, 2.0, 3.0, 4.0]));
        } -> (y);
"""
SECOND = """    func second<ios18>(state<tensor<fp16, [4]>> s, tensor<fp16, [4]> x) {
            r = read_state(s);
            a = relu(relu(r));
            n = sub(a, x);
            write_state(input = s, data = n);
            b = read_state(s);
            y = identity(abs(abs(b)));
            write_state(input = s, data = identity(y));
            z = tanh(y);
        } -> (z);
"""
BOTH = f"program(1.3)\n{{\n{FIRST}{SECOND}}}\n"
"""Two functions, of which none is `main`, and one reads and writes a state around sites."""


def types(program: Program, function: str) -> list[str]:
    return [op.type for op in Graph(program).functions[function].walk() if not op.is_constant]


# ---- functions, and states


def test_functions_without_a_main_are_rewritten_and_proven() -> None:
    rules = ["relu_twice", "abs_twice", "identity", "cast_pair"]
    made = miltext.rewrite(BOTH, rules, verify=True)
    assert {(each.function, each.rule) for each in made.replaced} == {
        ("first", "relu_twice"), ("first", "identity"), ("first", "cast_pair"),
        ("second", "relu_twice"), ("second", "abs_twice"), ("second", "identity"),
    }  # fmt: skip
    assert [(each.function, each.is_equal) for each in made.functions or []] == [("first", True), ("second", True)]
    assert types(made.program, "first") == ["relu", "exp", "mul"]


def test_a_name_in_two_functions_is_chosen_in_one() -> None:
    """Both have a value `a`, and each a site there."""
    rules = ["identity", "relu_twice"]
    made = miltext.rewrite(BOTH, rules, only="second/a", verify=True)
    assert [(each.function, each.value) for each in made.replaced] == [("second", "a")]
    assert types(made.program, "first") == ["cast", "cast", "identity", "relu", "relu", "exp", "mul"]
    assert {each.function for each in miltext.rewrite(BOTH, rules, only="a").replaced} == {"first", "second"}


def test_reads_and_writes_of_a_state_keep_their_order() -> None:
    made = miltext.optimize(BOTH, verify=True)
    wanted = ["read_state", "relu", "sub", "write_state", "read_state", "abs", "write_state", "tanh"]
    assert types(made.program, "second") == wanted
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for number in (1.5, -2.25, np.nan, np.inf):
        given = {"x": np.full(4, number, np.float16)}
        old = miltext.run(BOTH, given, function="second", state=before, allow_nan=True)
        new = miltext.run(made.program, given, function="second", state=after, allow_nan=True)
        assert old["z"].tobytes() == new["z"].tobytes()
        assert before["s"].tobytes() == after["s"].tobytes()


def test_functions_of_a_package_keep_names_and_default(tmp_path: Path) -> None:
    path = tmp_path / "M.mlpackage"
    miltext.build(BOTH, path)
    default = miltext.open_model(path).spec.description.defaultFunctionName  # type: ignore[union-attr]
    ended = RUNNER.invoke(command, ["optimize", str(path), "-o", str(tmp_path / "N.mlpackage"), "--verify"])
    assert ended.exit_code == 0, ended.output
    assert "second: all outputs are equal bit for bit, on 10 inputs\n" in ended.stdout
    made = miltext.open_model(tmp_path / "N.mlpackage")
    assert {*made.program.functions} == {"first", "second"}
    assert made.spec is not None
    assert made.spec.description.defaultFunctionName == default
    assert miltext.describe(tmp_path / "N.mlpackage") == miltext.describe(path)


# ---- NaN

CONSTANT = "c = const()[val = tensor<fp32, [4]>([nan, 1.0, -0.0, inf])];"


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("y = relu(relu(mul(x, c)));", ["mul", "relu"]),
        ("y = relu(mul(x, tensor<fp32, [4]>([1.0, 1.0, nan, 1.0])));", ["mul", "relu"]),  # not all are 1
        ("y = relu(add(x, fp32(nan)));", ["add", "relu"]),
        ("y = relu(pow(x, tensor<fp32, [4]>([1.0, nan, 1.0, 1.0])));", ["pow", "relu"]),
        ("y = mul(x, add(c, tensor<fp32, [4]>([1.0, nan, 0.0, -inf])));", ["mul"]),  # a constant with three NaNs
        ("y = add(maximum(x, fp32(nan)), maximum(x, fp32(nan)));", ["maximum", "add"]),
        ("y = relu(select(tensor<bool, [4]>([true, true, true, true]), x, c));", ["relu"]),
        ("y = relu(clip(c, fp32(nan), 1.0));", None),  # no matter what that is, it stays equal
    ],
)
def test_nan_in_constants(body: str, left: list[str] | None) -> None:
    text = f"program(1.3)\n{{\n    func main<ios17>(tensor<fp32, [4]> x) {{\n {CONSTANT} {body}\n }} -> (y);\n}}\n"
    made = miltext.optimize(text, verify=True)
    assert left is None or types(made.program, "main") == left
    assert all(each.is_equal for each in made.functions or [])
    for number in (0.5, -0.0, np.nan):
        given = {"x": np.full(4, number, np.float32)}
        old, new = (miltext.run(each, given, allow_nan=True)["y"] for each in (text, made.program))
        assert old.tobytes() == new.tobytes()


def test_a_literal_of_nan_matches_nan_alone() -> None:
    pattern = 'program(1.3)[rules = "1"] { func find_n(x) { y = add(x, fp32(nan)); } -> (y); }'
    text = "program(1.3) { func main<ios17>(tensor<fp32, [4]> x) { a = add(x, fp32(nan)); y = add(a, 1.0); } -> (y); }"
    assert [each.value for each in miltext.find(text, pattern)] == ["a"]


# ---- pipelines


def piped(folder: Path, *texts: str) -> Path:
    """Write a package with a pipeline of models that are built from texts."""
    specs = []
    for number, text in enumerate(texts):
        miltext.build(text, folder / f"{number}.mlpackage")
        spec = miltext.open_model(folder / f"{number}.mlpackage").spec
        assert spec is not None
        specs.append(spec)
    outer = pipeline(*specs)
    outer.description.CopyFrom(specs[0].description)
    [inner] = (folder / "0.mlpackage").rglob("*.mlmodel")
    inner.write_bytes(outer.SerializeToString())
    return folder / "0.mlpackage"


ONE = "program(1.3)\n{\n    func main<ios17>(tensor<fp16, [2, 4]> x) {\n y = relu(relu(x));\n } -> (y);\n}\n"


@pytest.mark.parametrize("verb", ["rewrite relu_twice", "optimize"])
def test_the_only_program_of_a_pipeline_needs_no_name(tmp_path: Path, verb: str) -> None:
    path = piped(tmp_path, ONE)
    for output in ("N.mlpackage", "N.mil"):
        ended = RUNNER.invoke(command, [*verb.split(), str(path), "-o", str(tmp_path / output)])
        assert ended.exit_code == 0, ended.output
        made = miltext.load(tmp_path / output, 0 if output == "N.mlpackage" else None)
        assert types(made.program, "main") == ["relu"]
    assert RUNNER.invoke(command, [*verb.split(), str(path), "--dry-run"]).exit_code == 0


@pytest.mark.parametrize("verb", ["rewrite relu_twice", "optimize"])
def test_one_of_several_programs_in_a_pipeline_is_chosen(tmp_path: Path, verb: str) -> None:
    path = piped(tmp_path, ONE, ONE)
    ended = RUNNER.invoke(command, [*verb.split(), str(path), "--dry-run"])
    assert (ended.exit_code, "choose a model by its index or name" in ended.stderr) == (1, True)
    for stage in ("0", "1"):
        output = tmp_path / f"N{stage}.mlpackage"
        ended = RUNNER.invoke(command, [*verb.split(), str(path), "--model", stage, "-o", str(output)])
        assert ended.exit_code == 0, ended.output
        path = output
    assert [types(miltext.load(path, stage).program, "main") for stage in (0, 1)] == [["relu"], ["relu"]]
