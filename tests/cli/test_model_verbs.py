"""The verbs that build and tell of models, as a user meets them."""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from support.containers import pipeline, spec, write_bundle, write_package
from support.real_packages import package
from support.weighted import WEIGHT, function_of, numbers, program_of, write_weights

import miltext
from miltext.cli import command
from miltext.cli.weights_verb import file_stem
from miltext.containers.opening import open_model
from miltext.containers.summary import summarize
from miltext.schema.proto import Model as Spec

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"


STREAMS: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
RUNNER = CliRunner(**STREAMS)
"""click before 8.2 mixes the two streams unless it is told not to."""


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [str(each) for each in arguments])


def done(*arguments: object) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def told(*arguments: object) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (0, "")
    return result.stderr


def test_print_edit_build(tmp_path: Path) -> None:
    text, out = tmp_path / "model.mil", tmp_path / "New.mlpackage"
    done("print", EXAMPLE, "--elide", 2, "-o", text)
    done("build", text, "--from", EXAMPLE, "-o", out)
    assert miltext.load(out).program == miltext.load(EXAMPLE).program
    again = run("build", text, "--from", EXAMPLE, "-o", out)
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    done("build", text, "--from", out, "-o", out, "--force")
    text.write_text(text.read_text().replace("sha256:", "sha256:0", 1))
    wrong = run("build", text, "--from", EXAMPLE, "-o", out, "--force")
    assert (wrong.exit_code, "error[MIL410]" in wrong.stderr) == (1, True)


@pytest.mark.parametrize("option", [["--externalize"], ["--externalize", "10"], ["--externalize=10"]])
def test_a_number_may_be_left_out(option: list[str], tmp_path: Path) -> None:
    text, out = tmp_path / "model.mil", tmp_path / "New.mlpackage"
    text.write_text(done("print", "--inline-weights", EXAMPLE))
    assert "BLOBFILE" not in text.read_text()
    done("build", *option, text, "-o", out)
    assert done("print", out).count("BLOBFILE") == 2
    assert done("print", "--inline-weights=100", out).count("BLOBFILE") == 1
    assert done("print", "--inline-weights", "100", "--annotate", out).count("// offset ") == 1


def test_usage(tmp_path: Path) -> None:
    for arguments, saying in (
        (("build", EXAMPLE), "--output"),
        (("build", EXAMPLE, "-o", "x", "--model", "1"), "--from"),
        (("locate", EXAMPLE, "seven"), "LINE:COL"),
        (("print", EXAMPLE, "--as-coremlc", "--annotate"), "--annotate"),
        (("build", tmp_path / "none.mil", "-o", "x.mlpackage"), "file or folder not found: "),
    ):
        result = run(*arguments)
        assert (result.exit_code, saying in result.stderr) == (2, True), result.stderr
    assert run("build", EXAMPLE, "-o", tmp_path / "x.onnx").exit_code == 2


def test_weights_are_listed_and_saved(tmp_path: Path) -> None:
    lines = done("weights", EXAMPLE, "--save", tmp_path / "arrays").splitlines()
    assert lines[0].split() == ["name", "type", "shape", "bytes", "offset", "digest"]
    model = miltext.load(EXAMPLE)
    for line in lines[1:]:
        name, dtype, shape, size, offset, digest = line.split()
        weight = model.weights.entries[name]
        array = np.load(tmp_path / "arrays" / f"{name}.npy")
        assert array.tobytes() == model.weights[name].tobytes()
        assert (dtype, size, shape) == ("fp16", str(array.nbytes), "x".join(map(str, array.shape)))
        assert weight.blob is not None
        assert (offset, digest) == (str(weight.blob.offset), model.weights.digest(weight))
    assert len(lines) == 3


def test_weights_of_every_kind(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    for name in ("palettized-3", "int4", "sparse", "functions"):
        weights = miltext.load(package(name)).weights
        done("weights", package(name), "--save", tmp_path / name)
        for key in weights:
            saved = np.load(tmp_path / name / f"{file_stem(key)}.npy")
            assert saved.dtype == weights[key].dtype
            assert np.array_equal(saved, weights[key])
    assert "conv_weight_0_palettized.indices" in miltext.load(package("palettized-3")).weights
    inlined = tmp_path / "model.mil"
    done("print", "--inline-weights", package("int4"), "-o", inlined)
    offsets = [line.split()[4] for line in done("weights", inlined).splitlines()[1:]]
    assert set(offsets) == {"-"}
    both = [miltext.load(path).weights for path in (inlined, package("int4"))]
    assert all(np.array_equal(both[0][key], both[1][key]) for key in both[1])


def test_a_name_as_a_files() -> None:
    assert file_stem("conv.weight_0@2") == "conv.weight_0@2"
    assert file_stem("../a/b") == "%2E.%2Fa%2Fb"
    assert file_stem("é%") == "%C3%A9%25"
    assert file_stem("") == "%"


def test_rename_and_expose(tmp_path: Path) -> None:
    out = tmp_path / "New.mlpackage"
    assert told("rename", EXAMPLE, "image", "drawing", "-o", out) == "= input image -> drawing\n"
    assert told("expose", out, "scores_cast_fp16", "-o", out, "--force") == "+ output scores_cast_fp16: fp16 [1, 3]\n"
    made = miltext.load(out)
    assert made.description is not None
    assert [each.name for each in made.description.input] == ["drawing"]
    assert [each.name for each in made.description.output][2:] == ["scores_cast_fp16"]
    text = tmp_path / "model.mil"
    text.write_text("// kept\n" + done("print", out))
    assert run("rename", text, "drawing", "image", "-o", text).exit_code == 2
    done("rename", text, "drawing", "image", "-o", text, "--force")
    assert text.read_text().startswith("// kept\nprogram(1.3)")
    assert "image)" in text.read_text()
    unknown = run("expose", EXAMPLE, "scores", "-o", tmp_path / "None.mlpackage")
    assert (unknown.exit_code, "`scores_cast_fp16`" in unknown.stderr) == (1, True)


def test_rename_a_states_input_and_one_of_flexible_shape(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    for name, old in (("stateful", "memory"), ("flexible", "x"), ("image", "x"), ("enumerated", "x")):
        out = tmp_path / f"{name}.mlpackage"
        side = "state" if name == "stateful" else "input"
        assert told("rename", package(name), old, "renamed", "-o", out) == f"= {side} {old} -> renamed\n"
        assert told("rename", out, "renamed", old, "-o", out, "--force") == f"= {side} renamed -> {old}\n"
        assert miltext.load(out).description == miltext.load(package(name)).description
        assert miltext.load(out).program == miltext.load(package(name)).program


def test_locate(tmp_path: Path) -> None:
    lines = done("print", EXAMPLE, "--as-coremlc").splitlines()
    number = next(index for index, line in enumerate(lines, 1) if " = relu(" in line)
    for place in (number, f"{number}:20", f"model.mil:{number}:20"):
        told = done("locate", EXAMPLE, place)
        assert told.startswith("operation: relu\noutputs:   lit_cast_fp16\nname:      lit_cast_fp16\nfunction:  main\n")
        assert told.splitlines()[-1] == lines[number - 1].strip()[:-1] + ";"
    bundle = write_bundle(tmp_path / "C.mlmodelc")
    assert "operation: relu" in done("locate", bundle, "4:13")
    for place, reason in (
        ("1", "no operation found at 1"),
        ("3:4", "no operation found at 3:4"),
        ("99", "99 is outside the text: the text has 7 lines"),
        ("99:12", "99:12 is outside the text: the text has 7 lines"),
        ("0:12", "0:12 is outside the text: the text has 7 lines"),
        ("4:999", "4:999 is outside the text: the line ends at column "),
        (f"{10**12}:1", f"{10**12}:1 is outside the text: the text has 7 lines"),
        (f"4:{10**12}", f"4:{10**12} is outside the text: the line ends at column "),
    ):
        result = run("locate", bundle, place)
        assert (result.exit_code, f"error[MIL433]: {reason}" in result.stderr) == (1, True), result.stderr
    for place in ("4:12:13", f"{'9' * 5000}:4", "4:x", "x"):
        result = run("locate", bundle, place)
        assert (result.exit_code, "is not a place: give LINE or LINE:COL" in result.stderr) == (2, True), result.stderr


def test_the_places_of_core_mls_errors_are_found() -> None:
    """Columns count from 0 there, so that operations begin at 12: `model.mil:242:12: error: invalid axis`."""
    lines = done("print", EXAMPLE, "--as-coremlc").splitlines()
    number = next(index for index, line in enumerate(lines, 1) if " = relu(" in line)
    places = [f"{number}:{column}" for column in (0, 11, 12, 13, len(lines[number - 1]) - 1, len(lines[number - 1]))]
    path = f"/private/var/x:1/M.mlmodelc/model.mil:{number}:12"
    for place in [
        *places,
        path,
        f"{path}:",
        f"{path}: error: invalid axis",
        f"{path}: Error parsing MIL model: at 1:2",
    ]:
        assert done("locate", EXAMPLE, place).startswith("operation: relu\n"), place


def test_info() -> None:
    record = json.loads(done("info", EXAMPLE, "--json"))
    assert (record["kind"], record["type"], record["specificationVersion"]) == ("mlpackage", "mlProgram", 7)
    (function,) = record["functions"]
    assert function["inputs"] == [{"name": "image", "type": "tensor<fp32, [1, 1, 16, 16]>"}]
    assert [each["name"] for each in function["outputs"]] == ["classLabel", "classLabel_probs"]
    assert function["operations"]["relu"] == 1
    assert record["weights"] == {"fp16": {"parameters": 342, "bytes": 684}}
    size = (EXAMPLE / "Data/com.apple.CoreML/weights/weight.bin").stat().st_size
    name = "@model_path/weights/weight.bin"
    assert record["blobFiles"] == [{"path": name, "values": 2, "records": 2, "bytes": size, "unusedBytes": 0}]
    shown = done("info", EXAMPLE)
    for saying in ("mlProgram in a mlpackage, specification 7 (ios16)", "input image:", "342 parameters of fp16"):
        assert saying in shown


def test_info_reports_unused_weights(tmp_path: Path) -> None:
    """A stage of a pipeline counts what another stage uses of the same file."""
    offsets = write_weights(tmp_path / WEIGHT, [numbers(each) for each in range(4)])
    texts = [program_of(function_of({"w": (WEIGHT, offset)})) for offset in offsets[1:3]]
    (tmp_path / "m.mil").write_text(texts[0])
    assert ": 1 record, 784 bytes, 576 of them unused\n" in done("info", tmp_path / "m.mil")
    stages = [Spec(specificationVersion=9, mlProgram=miltext.parse(text)) for text in texts]
    (tmp_path / "P.mlmodel").write_bytes(pipeline(*stages).SerializeToString())
    for arguments in ([], ["--model", "1"]):
        shown = done("info", tmp_path / "P.mlmodel", *arguments)
        assert shown.count(": 1 record, 784 bytes, 384 of them unused\n") == (1 if arguments else 2)


def packed(folder: Path, *files: str) -> Path:
    """A package of a program with two weights, and with more weight files that nothing names."""
    offsets = write_weights(folder / WEIGHT, [numbers(1), numbers(2)])
    text = program_of(function_of({f"w{place}": (WEIGHT, offset) for place, offset in enumerate(offsets)}))
    (folder / "m.mil").write_text(text)
    done("build", folder / "m.mil", "-o", folder / "M.mlpackage")
    for name in files:
        write_weights(folder / "M.mlpackage/Data/com.apple.CoreML" / name, [numbers(3)])
    return folder / "M.mlpackage"


def test_info_lists_weight_files_that_nothing_names(tmp_path: Path) -> None:
    shown = done("info", packed(tmp_path, "weights/old.bin", "more.bin"))
    for name in ("more.bin", "weights/old.bin"):
        assert f"  @model_path/{name}: 0 records, 208 bytes, 208 of them unused\n" in shown
    assert "weights/weight.bin: 2 records, 400 bytes\n" in shown


def test_info_lists_the_records_that_a_cut_weight_file_lacks(tmp_path: Path) -> None:
    package = packed(tmp_path)
    path = package / "Data/com.apple.CoreML" / WEIGHT
    for size, beyond in ((400, 0), (399, 1), (208, 1), (100, 2), (0, 2)):
        verb = "reaches" if beyond == 1 else "reach"
        path.write_bytes(path.read_bytes()[:size])
        shown = done("info", package)
        assert (f", {beyond} of the records {verb} beyond its end\n" in shown) == bool(beyond), shown


def test_info_of_incomplete_models(tmp_path: Path) -> None:
    text = tmp_path / "model.mil"
    done("print", EXAMPLE, "-o", text)
    record = summarize(open_model(text))
    assert record["weights"] == {"fp16": {"parameters": 342, "bytes": 684}}
    assert "does not exist" in record["blobFiles"][0]["problem"]
    inner = pipeline(spec("deep"), names=("deep",))
    path = write_package(
        tmp_path / "P.mlpackage", pipeline(spec("one"), inner, names=("one", "two")).SerializeToString()
    )
    assert [model["type"] for model in summarize(open_model(path))["models"]] == ["mlProgram", "pipeline"]
    shown = done("info", path)
    assert "  0: one: mlProgram in a mlpackage, specification 9 (ios18)\n    function one (ios18)\n" in shown
    assert "\n    0: deep: mlProgram" in shown
    assert done("info", path, "--model", "1/0").startswith("deep: mlProgram in a mlpackage")


def test_pymil_and_back() -> None:
    pytest.importorskip("coremltools")
    from miltext.coreml import from_pymil, to_pymil

    for name in ("fp16", "int4", "palettized-6", "sparse", "stateful", "functions", "classifier"):
        model = miltext.load(package(name))
        pymil = to_pymil(model)
        assert sorted(pymil.functions) == sorted(model.program.functions)
        back = from_pymil(pymil)
        arrays = [sorted(array.tobytes() for array in each.weights.values()) for each in (model, back)]
        assert arrays[0] == arrays[1]
        assert back.description is not None
        assert model.description is not None
        assert back.description.defaultFunctionName == model.description.defaultFunctionName
        again = to_pymil(back)
        assert all(function.operations for function in again.functions.values())


def test_pymil_from_a_text(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    from miltext.coreml import from_pymil, to_pymil

    text = done("print", "--inline-weights", EXAMPLE)
    path = tmp_path / "model.mil"
    path.write_text(text)
    model = from_pymil(to_pymil(miltext.load(path)))
    model.save(tmp_path / "New.mlpackage")
    made = json.loads(done("info", tmp_path / "New.mlpackage", "--json"))
    assert made["functions"][0]["operations"]["conv"] == 1


@pytest.mark.parametrize("verb", [("rename", "image", "a b"), ("rename", "image", "bool")])
def test_a_wrong_name_is_refused_unless_nothing_is_to_be_checked(verb: tuple[str, ...], tmp_path: Path) -> None:
    for output in ("New.mlpackage", "new.mil"):
        refused = run(verb[0], EXAMPLE, *verb[1:], "-o", tmp_path / output)
        assert (refused.exit_code, "error[MIL426]" in refused.stderr) == (1, True)
        assert "did you mean `" in refused.stderr
    assert [*tmp_path.iterdir()] == []
    assert run(verb[0], EXAMPLE, *verb[1:], "--no-check", "-o", tmp_path / "New.mlpackage").exit_code == 0
    assert verb[2] in miltext.load(tmp_path / "New.mlpackage").program.functions["main"].inputs[0].name


def test_a_wrong_name_is_not_exposed(tmp_path: Path) -> None:
    done("rename", EXAMPLE, "lit_cast_fp16", "l/1", "--no-check", "-o", tmp_path / "Odd.mlpackage")
    refused = run("expose", tmp_path / "Odd.mlpackage", "l/1", "-o", tmp_path / "New.mlpackage")
    assert (refused.exit_code, "error[MIL426]" in refused.stderr) == (1, True)
    mended = run("rename", tmp_path / "Odd.mlpackage", "l/1", "lit", "-o", tmp_path / "New.mlpackage")
    assert (mended.exit_code, mended.stderr) == (0, "")
