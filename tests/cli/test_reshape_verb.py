"""`miltext reshape` and `miltext infer --all`, as a user meets them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.containers import NEURAL_NETWORK, pipeline, write_bundle, write_package
from support.draft_builds import run
from support.pipelines import binary, piped

import miltext
from miltext.containers.opening import open_model
from miltext.pipelines.takers import only_taker

TEXT = """program(1.3)
{
    func main<ios17>(tensor<fp32, [1, 3, 8, 8]> x) {
            tensor<fp32, [1, 3, 8, 8]> h = relu(x = x); // a comment
            tensor<int32, [2]> s = const()[val = tensor<int32, [2]>([1, -1])];
            tensor<fp32, [1, 192]> flat = reshape(shape = s, x = h);
            tensor<fp32, [1, 192]> y = tanh(x = flat);
        } -> (y);
}
"""
BAKED = TEXT.replace("-1", "192")
SLICED = """program(1.3)
{
    func main<ios17>(tensor<fp32, [1, 3, 8, 8]> x) {
            tensor<int32, [4]> b = const()[val = tensor<int32, [4]>([0, 0, 0, 0])];
            tensor<int32, [4]> e = const()[val = tensor<int32, [4]>([1, 3, 6, 8])];
            tensor<fp32, [1, 3, 6, 8]> y = slice_by_index(begin = b, end = e, x = x);
        } -> (y);
}
"""
MASKED = """program(1.3)
{
    func main<ios17>(tensor<fp32, [1, 3, 8, 8]> x) {
            tensor<fp32, [8]> m = const()[val = tensor<fp32, [8]>([3, 1, 4, 1, 5, 9, 2, 6])];
            tensor<fp32, [1, 3, 8, 8]> y = mul(x = x, y = m);
        } -> (y);
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    Path("model.mil").write_text(TEXT)
    Path("baked.mil").write_text(BAKED)
    return tmp_path


def done(*arguments: object) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def refused(*arguments: object, status: int = 1) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (status, ""), result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


def test_infer_all_replaces_the_file_itself() -> None:
    assert done("infer", "model.mil", "--all") == TEXT
    Path("model.mil").write_text(TEXT.replace("8, 8]> x", "4, 4]> x"))
    smaller = TEXT.replace("8, 8", "4, 4").replace("192", "48")
    assert done("infer", "model.mil", "--all", "-o", "model.mil") == ""
    assert Path("model.mil").read_text() == smaller
    assert done("infer", "--all", "--names", "model.mil").count("name = string") == 4
    Path("draft.mil").write_text(smaller.replace("tensor<fp32, [1, 3, 4, 4]> h", "h"))
    assert done("infer", "draft.mil", "--all", "-o", "whole.mil") == ""
    assert Path("whole.mil").read_text() == smaller
    assert "MIL402" in refused("infer", "draft.mil", "--all", "-o", "draft.mil", status=2)
    assert "MIL402" in refused("infer", "model.mil", "-o", "model.mil", status=2)


def test_infer_all_that_fails_writes_nothing() -> None:
    Path("baked.mil").write_text(BAKED.replace("8, 8]> x", "4, 4]> x"))
    told = refused("infer", "baked.mil", "--all", "-o", "new.mil")
    assert "baked.mil:6:59: error[MIL521]: `shape` of `reshape` requests [1, 192], 192 elements" in told
    assert "baked.mil:5:50: note: change this literal, which was made for other sizes; [1, 48] fits" in told
    assert not Path("new.mil").exists()


def test_a_text() -> None:
    done("reshape", "model.mil", "x=1,3,4,4", "-o", "new.mil")
    assert Path("new.mil").read_text() == TEXT.replace("8, 8", "4, 4").replace("192", "48")
    assert "--force" in refused("reshape", "model.mil", "x=1,3,4,4", "-o", "new.mil", status=2)
    done("reshape", "new.mil", "x=1,3,8,8", "-o", "new.mil", "--force")
    assert Path("new.mil").read_text() == TEXT
    done("reshape", "model.mil", "x=1,3,4..9,8", "-o", "new.mil", "--force")
    assert "tensor<fp32, [1, 3, ?, 8]> h = relu(x = x); // a comment" in Path("new.mil").read_text()


def test_a_package_and_its_description() -> None:
    done("build", "model.mil", "-o", "M.mlpackage")
    done("reshape", "M.mlpackage", "x=2,3,8,8", "-o", "Never.mil")
    result = run("reshape", "M.mlpackage", "x=1,3,4,6", "-o", "N.mlpackage")
    assert result.exit_code == 0, result.stderr
    model = miltext.load("N.mlpackage")
    assert model.description is not None
    described = [*model.description.input, *model.description.output]
    assert [[*each.type.multiArrayType.shape] for each in described] == [[1, 3, 4, 6], [1, 72]]
    x = np.linspace(-1, 1, 72, dtype=np.float32).reshape(1, 3, 4, 6)
    assert np.allclose(miltext.run(model, {"x": x})["y"], np.tanh(np.maximum(x, 0)).reshape(1, 72))
    assert run("reshape", "N.mlpackage", "x=1,3,8,8", "-o", "M.mlpackage", "--force").exit_code == 0
    assert miltext.load("M.mlpackage").program == miltext.parse(TEXT)


def test_a_shape_follows_the_size() -> None:
    done("build", "baked.mil", "-o", "M.mlpackage")
    assert run("reshape", "M.mlpackage", "x=1,3,4,4", "-o", "N.mlpackage").exit_code == 0
    smaller = BAKED.replace("8, 8", "4, 4").replace("192", "48")
    assert miltext.load("N.mlpackage").program == miltext.parse(smaller)


def test_rewritten_constants_are_reported_in_the_printed_text() -> None:
    Path("sliced.mil").write_text(SLICED)
    done("build", "sliced.mil", "-o", "M.mlpackage")
    result = run("reshape", "M.mlpackage", "x=1,3,12,8", "-o", "N.mlpackage")
    assert result.exit_code == 0
    assert (
        "M.mlpackage:6:76: warning[MIL490]: `end` of `slice_by_index` is 6 at axis 2, 2 before the end" in result.stderr
    )
    assert "[1, 3, 10, 8]> y" in done("print", "N.mlpackage")


def test_results_are_compared_with_a_conversion_at_new_sizes() -> None:
    Path("sliced.mil").write_text(SLICED)
    larger = SLICED.replace("[1, 3, 8, 8]", "[1, 3, 12, 8]")
    Path("to_the_end.mil").write_text(larger.replace("[1, 3, 6, 8]", "[1, 3, 10, 8]"))
    Path("other_numbers.mil").write_text(
        larger.replace("[1, 3, 6, 8]", "[1, 3, 10, 8]")
        .replace("([1, 3, 10, 8])", "([1, 3, 12, 8])")
        .replace("[0, 0, 0, 0]", "[0, 0, 2, 0]")
    )
    Path("other_shape.mil").write_text(larger)
    for name in ("sliced", "to_the_end", "other_numbers", "other_shape"):
        done("build", f"{name}.mil", "-o", f"{name}.mlpackage")
    words = ("reshape", "sliced.mlpackage", "x=1,3,12,8", "-o", "New.mlpackage", "--verify")
    for name in ("other_numbers", "other_shape", "sliced"):
        assert run(*words, f"{name}.mlpackage").exit_code in (1, 2), name
        assert not Path("New.mlpackage").exists()
    assert run(*words, "to_the_end.mlpackage").exit_code == 0
    assert Path("New.mlpackage").exists()
    ranged = ("reshape", "sliced.mlpackage", "x=1,3,8..12,8", "-o", "Range.mlpackage", "--verify", "sliced.mlpackage")
    assert "one size for each dimension" in run(*ranged).stderr


def test_a_misfit_constant_is_reported_in_the_printed_text() -> None:
    Path("masked.mil").write_text(MASKED)
    done("build", "masked.mil", "-o", "M.mlpackage")
    told = refused("reshape", "M.mlpackage", "x=1,3,4,16", "-o", "N.mlpackage")
    assert "M.mlpackage:4:49: note: change this constant, which was made for other sizes" in told
    assert not Path("N.mlpackage").exists()
    told = refused("reshape", "M.mlpackage", "x=1,3,4,16", "-o", "M.mlpackage", "--force")
    assert miltext.load("M.mlpackage").program == miltext.parse(MASKED)


def test_a_compiled_model(folder: Path) -> None:
    write_bundle(folder / "C.mlmodelc", TEXT)
    assert run("reshape", "C.mlmodelc", "x=1,3,2,2", "-o", "N.mlpackage").exit_code == 0
    assert "[1, 12]> y" in done("print", "N.mlpackage")


def test_a_model_in_a_pipeline(folder: Path) -> None:
    done("build", "model.mil", "-o", "M.mlmodel")
    stage = miltext.load("M.mlmodel").spec
    assert stage is not None
    for count in (1, 2):
        whole = pipeline(*[stage] * count)
        whole.description.CopyFrom(stage.description)
        write_package(folder / f"P{count}.mlpackage", whole.SerializeToString())
    for choice in ([], ["--model", "0"]):
        words = ["P1.mlpackage", *choice, "x=1,3,4,4", "-o", "N.mlpackage", "--force"]
        assert run("reshape", *words).exit_code == 0
        described = open_model("N.mlpackage").description
        assert described is not None
        assert [*described.input[0].type.multiArrayType.shape] == [1, 3, 4, 4]
    assert "MIL257" in refused("reshape", "P1.mlpackage", "y=1,3,4,4", "-o", "Never.mlpackage")
    assert "MIL257" in refused("reshape", "P2.mlpackage", "x=1,3,4,4", "-o", "Never.mlpackage")
    assert "MIL456" in refused("reshape", "P2.mlpackage", "--model", "1", "x=1,3,4,4", "-o", "N2.mlpackage")


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["p=1,8", "q=1,8"], "0"),
        (["t=1,8", "u=1,8"], "1/0"),
        (["p=1,8", "t=1,8"], None),
        (["s=1,8"], None),
        (["v=1,8"], None),
        (["h=1,8"], None),
        (["none=1,8"], None),
    ],
)
def test_the_model_of_a_pipeline_whose_inputs_are_named(folder: Path, words: list[str], path: str | None) -> None:
    inner = piped(binary("t", "u", "k"))
    network = binary("v", "k", "n")
    network.ClearField("mlProgram")
    network.MergeFromString(NEURAL_NETWORK)
    whole = piped(binary("p", "q", "h"), inner, network, binary("s", "h", "l"), binary("s", "l", "y"))
    (folder / "P.mlmodel").write_bytes(whole.SerializeToString())
    assert only_taker(open_model("P.mlmodel"), [word.partition("=")[0] for word in words]) == path
    if path is None:
        assert "MIL257" in refused("reshape", "P.mlmodel", *words, "-o", "Never.mlmodel")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["x"], 2, "error[MIL434]: `x` is not NAME=SIZES"),
        (["x=1x3x4x4"], 2, "did you mean `x=1,3,4,4`?"),
        (["x=1", "x=2"], 2, "error[MIL434]: the sizes of `x` are given twice"),
        (["z=1,3,4,4"], 1, "model.mil: error[MIL430]: unknown input `z`"),
        (["x=3,4,4"], 1, "model.mil: error[MIL435]: `x` of `main` has 4 dimensions, [1, 3, 8, 8], not 3"),
        (["x=1,3,4,4", "--function", "min"], 1, "unknown function `min`; did you mean `main`?"),
    ],
)
def test_refuses(words: list[str], status: int, message: str) -> None:
    assert message in refused("reshape", "model.mil", *words, "-o", "new.mil", status=status)
    assert not Path("new.mil").exists()


def test_help_has_examples() -> None:
    assert "miltext reshape Model.mlpackage image=1,3,256,256 -o New.mlpackage" in done("reshape", "--help")
    assert "miltext infer model.mil --all -o model.mil" in done("infer", "--help")
