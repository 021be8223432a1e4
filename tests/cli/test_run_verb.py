"""`miltext run`, as a user meets it: what it takes, what it shows and writes, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from conftest import EXAMPLE, slow_imports
from support.running import DRAFT, GIVEN, RUNNER, TABLE, done, refused, run, text

import miltext
from miltext.cli import command


def saved(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a draft, and inputs for it in each form."""
    monkeypatch.chdir(tmp_path)
    text("draft.mil", DRAFT)
    np.save("x.npy", np.array([[1, -2, 3], [4, 5, -6]], np.float32))
    np.save("n.npy", np.array([7]))
    saved(tmp_path / "all.npz", x=np.load("x.npy"), n=np.load("n.npy"))
    return tmp_path


# ---- what is taken


@pytest.mark.parametrize(
    "given",
    [
        GIVEN,
        ("--input", "x=x.npy", "--input", "n=n.npy"),
        ("--input", "n=./n.npy", "--input", "x=[[1, -2, 3], [4.0, 5, -6e0]]"),
        ("--inputs", "all.npz"),
        ("--inputs", "only_x.npz", "--input", "n=7.0"),
        ("--inputs", "only_x.npz", "--input", "n=n.npy", "--random", "5"),
    ],
)
def test_inputs_in_each_form(given: tuple[str, ...], folder: Path) -> None:
    saved(folder / "only_x.npz", x=np.load("x.npy"))
    assert done("draft.mil", *given) == TABLE
    assert done(*given, "draft.mil") == TABLE


@pytest.mark.parametrize("form", ["mil", "draft", "pb", "mlpackage", "mlmodel", "stdin"])
def test_a_model_in_each_form(form: str, folder: Path) -> None:
    program = miltext.parse(miltext.infer_draft(DRAFT))
    path = folder / f"model.{form}"
    if form == "stdin":
        assert done("-", *GIVEN, input=DRAFT) == done(*GIVEN, input=DRAFT) == TABLE
        return
    if form in ("mil", "draft"):
        path = folder / "model.mil"
        text("model.mil", DRAFT if form == "draft" else miltext.to_text(program))
    elif form == "pb":
        path.write_bytes(program.SerializeToString())
    else:
        miltext.build(miltext.load("draft.mil"), path)
    assert done(path, *GIVEN) == TABLE


def test_random_inputs_are_the_same_for_one_seed(folder: Path) -> None:
    zero = done("draft.mil", "--random", "0")
    assert zero == done("draft.mil", "--random") == done("--random", "draft.mil") == done("draft.mil", "--random=0")
    assert zero != done("draft.mil", "--random", "1")
    beside = done("draft.mil", "--random", "0", "--input", "n=7").splitlines()
    assert beside[1] == zero.splitlines()[1]
    assert beside[2].split()[-1] == "[8]"


def test_a_seed_is_of_random_operations_too(folder: Path) -> None:
    text("random.mil", "program(1.3) { func main<ios18>() { y = random_normal(shape = [9]); } -> (y); }")
    assert done("random.mil", "--random", "3") == done("random.mil", "--random", "3")
    assert done("random.mil", "--random", "3") != done("random.mil", "--random", "4")


def test_a_function(folder: Path) -> None:
    assert "[1, 1, 1]" in done("draft.mil", "--function", "other", "--input", "x=[0,0,0]")
    said = refused("draft.mil", "--function", "othr", "--random", status=1)
    assert "error[MIL837]: there is no function `othr`; did you mean `other`?" in said


SIZES = """program(1.3)
{
    func main<ios18>(tensor<fp32, [?, 3]> x) {
            y = relu(x = x);
        } -> (y);
}
"""


def test_shapes_of_random_inputs(folder: Path) -> None:
    text("sizes.mil", SIZES)
    assert "tensor<fp32, [4, 3]>" in done("sizes.mil", "--random", "--shape", "x=4,3")
    assert "tensor<fp32, [0, 3]>  no elements" in done("sizes.mil", "--random", "--shape", "x=0,3")
    assert "random numbers of such sizes by `--shape x=SIZES`" in refused("sizes.mil", "--random")
    assert "error[MIL833]" in refused("sizes.mil", "--random", "--shape", "x=4,4")
    assert "error[MIL833]" in refused("sizes.mil", "--random", "--shape", "x=3")
    assert "does not fit into memory" in refused("sizes.mil", "--random", "--shape", "x=99999999999999,3")
    miltext.build(miltext.load("sizes.mil"), "Sizes.mlpackage", ranges={"x": "1..9,3"})
    assert "tensor<fp32, [1, 3]>" in done("Sizes.mlpackage", "--random")
    for words in (["x=4;3"], ["x="], ["x=a"], ["x=-1,3"], ["x"], ["x=4,3", "x=5,3"]):
        assert "'--shape'" in refused("sizes.mil", "--random", *(part for word in words for part in ("--shape", word)))
    assert "did you mean `x`?" in refused("sizes.mil", "--random", "--shape", "X=4,3")
    assert "is none of them" in refused("sizes.mil", "--input", "x=[[1,2,3]]", "--shape", "x=4,3")


def test_an_optional_input_keeps_its_default(folder: Path) -> None:
    text("one.mil", "program(1.3) { func main<ios18>(tensor<fp32, [2]> x) { y = relu(x = x); } -> (y); }")
    miltext.build(miltext.load("one.mil"), "One.mlpackage")
    model = miltext.load("One.mlpackage")
    assert model.description is not None
    kind = model.description.input[0].type
    kind.isOptional, kind.multiArrayType.floatDefaultValue = True, 2.5
    model.save("One.mlpackage", force=True)
    assert "[2.5, 2.5]" in done("One.mlpackage")
    assert "[2.5, 2.5]" in done("One.mlpackage", "--random")
    assert "[2.5, 2.5]" not in done("One.mlpackage", "--random", "--shape", "x=2")


def test_the_arithmetic_of_fp16(folder: Path) -> None:
    body = "y = linear_activation(x = x, alpha = 100.0, beta = -65000.0);"
    text("native.mil", f"program(1.3) {{ func main<ios18>(tensor<fp16, [1]> x) {{ {body} }} -> (y); }}")
    given = ("native.mil", "--input", "x=660")
    assert "[1008]" in done(*given)
    assert done(*given, "--compute", "float32") == done(*given)
    assert "[inf]" in done(*given, "--compute", "native")


def test_weights_in_another_folder(folder: Path) -> None:
    shutil.copytree(EXAMPLE / "Data" / "com.apple.CoreML" / "weights", "elsewhere/weights")
    text("model.mil", miltext.to_text(miltext.load(EXAMPLE).program))
    assert "error[MIL302]" in refused("model.mil", "--random", status=1)
    assert done("model.mil", "--random", "--weights", "elsewhere") == done(EXAMPLE, "--random")


def test_its_help_needs_no_numpy() -> None:
    assert slow_imports("run", "--help") == []


# ---- what is wrong with inputs


WRONG: dict[str, tuple[list[str], str]] = {
    "none": ([], "error[MIL831]: the input `x` is missing"),
    "none, and the way out": ([], "note: --input NAME=FILE gives one input"),
    "one is missing": (["--input", "x=x.npy"], "error[MIL831]: the input `n` is missing"),
    "unknown, with a suggestion": ([*GIVEN, "--input", "N2=1"], "there is no input `N2`"),
    "shape": (["--input", "x=[1,2]", "--input", "n=1"], "error[MIL833]: the input `x` has the shape [2]"),
    "fraction for an integer": (["--input", "x=x.npy", "--input", "n=0.5"], "error[MIL834]"),
    "a huge integer": (["--input", "x=[[1,2,3],[4,5,99999999999999999999999]]", "--input", "n=1"], "error[MIL834]"),
    "nested too deeply": (["--input", f"x={'[' * 5000}"], "error[MIL836]"),
    "ragged": (["--input", "x=[[1],[2,3]]", "--input", "n=1"], "error[MIL834]"),
    "NaN": (["--input", "x=nan.npy", "--input", "n=1"], "error[MIL835]"),
    "NaN as JSON": (["--input", "x=[[1,2,3],[1,2,NaN]]", "--input", "n=1"], "error[MIL835]"),
    "an absent file": (["--input", "x=none.npy"], "none.npy: error[MIL836]: no arrays can be read here: the file does"),
    "a folder": (["--inputs", "folder"], "folder: error[MIL836]: no arrays can be read here: it is a folder"),
    "objects": (["--input", "x=objects.npy"], "pickled Python objects, which are never loaded"),
    "objects in an archive": (["--inputs", "objects.npz"], "its array `x`: its elements are pickled Python objects"),
    "an archive for one": (["--input", "x=all.npz"], "it is an archive, as numpy.savez makes"),
    "one for an archive": (["--inputs", "x.npy"], "it does not begin like a .npz"),
    "a text": (["--input", "x=draft.mil"], "it does not begin like a .npy"),
    "without a name": (["--input", "x.npy"], "'x.npy' is not NAME=FILE"),
    "without a file": (["--input", "x="], "'x=' is not NAME=FILE"),
    "an empty name": (["--input", "=x.npy"], "'=x.npy' is not NAME=FILE"),
    "twice": (["--input", "x=x.npy", "--input", "x=x.npy"], "'x' is given twice"),
    "twice, in two ways": (["--inputs", "all.npz", "--input", "x=x.npy"], "given twice, with --input and in all.npz"),
    "no seed": (["--random=-1"], "-1"),
    "a mapping as JSON": (["--input", 'x={"a":1}'], "note: numbers as JSON look like x=0.5 or x=[1,2]"),
    "nothing as JSON": (["--input", "x=null"], "note: numbers as JSON look like x=0.5"),
    "a string as JSON": (["--input", 'x="abc"'], "note: numbers as JSON look like x=0.5"),
    "JSON without its end": (["--input", "x=[1,2"], "note: numbers as JSON look like x=0.5"),
    "JSON without brackets": (["--input", "n=1,2"], "note: numbers as JSON look like n=0.5"),
    "an unknown value": ([*GIVEN, "--value", "b"], "error[MIL837]: there is no value `b`"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_inputs_are_one_error_before_the_run(case: str, folder: Path) -> None:
    (folder / "folder").mkdir()
    np.save("objects.npy", np.array([{}], object), allow_pickle=True)
    np.savez("objects.npz", x=np.array([{}], object))
    np.save("nan.npy", np.full((2, 3), np.nan))
    arguments, said = WRONG[case]
    status = 1 if "there is no" in said else 2
    assert said in refused("draft.mil", *arguments, "-o", "out.npz", status=status)
    assert not (folder / "out.npz").exists()


def test_a_word_that_looks_like_no_numbers_is_a_file(folder: Path) -> None:
    text("null", "")
    for word in ("none.npy", "null"):
        assert "JSON" not in refused("draft.mil", "--input", f"x={word}")


def test_a_shape_is_checked_before_numbers_are_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np.random, "default_rng", lambda *_: pytest.fail("numbers are made"))
    said = refused("draft.mil", "--random", "--shape", "x=300000000")
    assert "error[MIL833]: the input `x` has the shape [300000000] of rank 1, but it takes [2, 3] of rank 2" in said
    assert "error[MIL833]" in refused("draft.mil", "--random", "--shape", f"x={','.join(['1'] * 99)}")


@pytest.mark.parametrize("option", ["-o", "--state-out"])
def test_a_file_without_a_name(option: str, folder: Path) -> None:
    assert f"Error: {option}: the name of the file is empty" in refused("draft.mil", *GIVEN, option, "")
    assert "the name of a file is empty" in refused("", *GIVEN)
    with pytest.raises(miltext.ModelError, match=r"MIL250.*: the name of the file or folder is empty"):
        miltext.run("", {})


@pytest.mark.parametrize("option", ["-o", "--state-out"])
@pytest.mark.parametrize("name", ["o.txt", "o.zip", "o.v2", "o.mil", "y.npy"])
def test_the_ending_of_an_archive(option: str, name: str, folder: Path) -> None:
    assert f"{name}: error[MIL401]: this name does not fit an archive of arrays" in refused(
        "draft.mil", *GIVEN, option, name
    )
    assert not Path(name).exists()
    for taken in ("o", "o.NPZ"):
        assert run("draft.mil", *GIVEN, option, taken).exit_code == 0


def test_all_wrong_inputs_are_reported_at_once(folder: Path) -> None:
    said = refused("draft.mil", "--input", "m=1", "--input", "x=3", status=1)
    assert [code for code in ("MIL831", "MIL832", "MIL833") if f"draft.mil: error[{code}]" not in said] == []


def test_nan_is_taken_if_requested(folder: Path) -> None:
    given = ("--input", "x=[[NaN,1,2],[3,4,Infinity]]", "--input", "n=1", "--allow-nan")
    assert "[[nan, 1.5, 2.5], [3.5, 4.5, inf]]" in done("draft.mil", *given)


# ---- what is shown


def test_inner_values(folder: Path) -> None:
    lines = done("draft.mil", *GIVEN, "--value", "a", "--value", "x").splitlines()
    assert [line.split(" ")[0] for line in lines] == ["name", "x", "", "a", "", "y", "z"]
    everything = done("draft.mil", *GIVEN, "--all").splitlines()
    assert [line.split(" ")[0] for line in everything] == ["name", "a", "", "y", "z"]
    assert done("draft.mil", *GIVEN, "--value", "y") == TABLE


BLOCKS = """program(1.3)
{
    func main<ios18>(bool p, tensor<fp32, [1]> x) {
            tensor<fp32, [1]> y = cond(pred = p)
                () {
                    tensor<fp32, [1]> taken = exp(x = x);
                } -> (taken)
                () {
                    tensor<fp32, [1]> other = sin(x = x);
                } -> (other);
            fp32 limit = const()[val = fp32(100)];
            tensor<fp32, [1]> w = while_loop(loop_vars = (x))
                (tensor<fp32, [1]> a) {
                    fp32 most = reduce_max(x = a);
                    bool more = less(x = most, y = limit);
                } -> (more)
                (tensor<fp32, [1]> b) {
                    tensor<fp32, [1]> twice = add(x = b, y = b);
                } -> (twice);
        } -> (y, w);
}
"""


def test_values_of_inner_blocks(folder: Path) -> None:
    text("blocks.mil", BLOCKS)
    given = ("blocks.mil", "--input", "p=true", "--input", "x=3")
    shown = {line.split()[0]: line.split()[-1] for line in done(*given, "--all").splitlines() if line}
    assert shown == {"name": "zeros", "most": "192", "more": "false", "twice": "[192]", "taken": "[20.0855]",
                     "y": "[20.0855]", "w": "[192]"}  # fmt: skip
    result = run(*given, "--value", "other", "-o", "out.npz")
    assert (result.exit_code, "the value 'other' was not computed" in result.stderr) == (0, True)
    assert sorted(np.load("out.npz")) == ["w", "y"]
    assert "other.npy is not written" in refused(*given, "-o", "other=other.npy")
    assert not Path("other.npy").exists()
    assert "limit" in done(*given, "--value", "limit")


SHADOWS = BLOCKS.replace("taken", "twice").replace("other", "w").replace("most", "x")


def test_a_name_means_the_value_of_the_functions_own_block_first(folder: Path) -> None:
    text("shadows.mil", SHADOWS)
    given = ("shadows.mil", "--input", "p=true", "--input", "x=3")
    shown = {line.split()[0]: line.split()[-1] for line in done(*given, "--all").splitlines() if line}
    assert shown == {"name": "zeros", "more": "false", "twice": "[192]", "y": "[20.0855]", "w": "[192]"}
    assert done(*given, "--all", "-o", "all.npz", "-o", "w=w.npy", "-o", "x=x.npy") == ""
    arrays = dict(np.load("all.npz"))
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "x": [3], "more": False, "twice": [192], "y": arrays["y"].tolist(), "w": [192]}  # fmt: skip
    assert (np.load("w.npy"), np.load("x.npy")) == ([192], [3])
    found = json.loads(done(*given, "--all", "--json"))
    assert [each["name"] for each in found["values"]] == ["twice", "more"]
    inner = miltext.run(SHADOWS, {"p": True, "x": 3}, values="all")
    assert inner.keys() - {"limit"} == arrays.keys() - {"x"}


def test_an_infinite_value_is_red_in_colour(folder: Path) -> None:
    body = "a = sub(x = x, y = x); y = relu(x = x); z = exp(x = x); s = reduce_sum(x = x, keep_dims = false);"
    text("red.mil", f"program(1.3) {{ func main<ios18>(tensor<fp32, [8]> x) {{ {body} }} -> (a, y, z, s); }}")
    given = ("red.mil", "--input", "x=[1,2,3,4,5,6,7,99]")
    coloured = RUNNER.invoke(command, ["--color", "always", "run", *given]).stdout.splitlines()
    red = [line.startswith("\x1b[31m") for line in coloured]
    assert red == [False, False, False, True, False]
    assert [click.unstyle(line) for line in coloured] == done(*given).splitlines()
    nan = ("red.mil", "--input", "x=[1,2,3,4,5,6,7,NaN]", "--allow-nan")
    assert RUNNER.invoke(command, ["--color", "always", "run", *nan]).stdout.count("\x1b[31m") == 4


def test_a_classifier_shows_its_label_and_the_most_probable(folder: Path) -> None:
    lines = done(EXAMPLE, "--random").splitlines()
    assert lines[1].split() == ["classLabel", "string", '"circle"']
    assert lines[2].startswith('classLabel_probs  dict<string, fp64>  "circle" 0.')


NUMBERED = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 7]> x) {
            p = softmax(x = x, axis = -1);
            list<int64, 7> classes = const()[val = list<int64, 7>([10, 20, 30, 40, 50, 60, 9223372036854775807])];
            label, probs = classify(probabilities = p, classes = classes);
        } -> (label, probs);
}
"""


def test_labels_that_are_numbers(folder: Path) -> None:
    text("numbered.mil", NUMBERED)
    given = ("numbered.mil", "--input", "x=[[1,2,3,4,5,6,7]]")
    label, probabilities = done(*given).splitlines()[1:]
    assert label.split() == ["label", "int64", str(2**63 - 1)]
    assert "  9223372036854775807 0.632698, 60 0.232756, " in probabilities
    assert probabilities.endswith(", ... of 7")
    found = json.loads(done(*given, "--json", "-o", "out.npz"))["outputs"]
    assert [*found[1]["value"]] == ["10", "20", "30", "40", "50", "60", str(2**63 - 1)]
    with np.load("out.npz") as archive:
        assert {str(key): number for key, number in archive["probs"].tolist()} == found[1]["value"]


def test_json(folder: Path) -> None:
    found = json.loads(done("draft.mil", *GIVEN, "--value", "a", "--json"))
    assert [*found][:7] == ["form", "function", "inputs", "constants", "values", "outputs", "states"]
    assert [each["name"] for each in found["outputs"]] == ["y", "z"]
    assert found["outputs"][1]["value"] == [8]
    assert found["values"][0]["max"] == 5
    probabilities = json.loads(done(EXAMPLE, "--random", "--json"))["outputs"][1]["value"]
    assert sum(probabilities.values()) == pytest.approx(1, abs=1e-3)
    beside = done("draft.mil", *GIVEN, "--json", "-o", "out.npz")
    assert json.loads(beside)["outputs"] == found["outputs"]
    assert "--json and -o -" in refused("draft.mil", *GIVEN, "--json", "-o", "-")


NOTHING = "program(1.3) { func main<ios18>() { y = fill(shape = [0, 2], value = 1.5); } -> (y); }"


def test_no_inputs_and_no_elements(folder: Path) -> None:
    text("nothing.mil", NOTHING)
    assert done("nothing.mil").splitlines()[1] == "y     tensor<fp32, [0, 2]>  no elements"
    assert done("nothing.mil", "-o", "out.npz") == ""
    assert np.load("out.npz")["y"].shape == (0, 2)


def test_a_function_without_outputs_is_refused(folder: Path) -> None:
    text("none.mil", "program(1.3) { func main<ios18>(tensor<fp32, [1]> x) { y = relu(x = x); } -> (); }")
    assert "MIL624" in refused("none.mil", "--random", status=1)


def test_names_beyond_ascii(folder: Path) -> None:
    model = miltext.load("draft.mil")
    miltext.build(model, "M.mlpackage")
    result = run("M.mlpackage", *GIVEN, "--value", "é")
    assert (result.exit_code, "é" in result.stderr) == (1, True)
    assert "not NAME" not in refused("draft.mil", "--input", "é=1", status=1)
