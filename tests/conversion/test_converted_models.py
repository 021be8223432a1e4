"""Models converted: what is written, from what and over what, and what the command tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from support.commands import RUNNER
from support.containers import compile_package, pipeline
from support.conversions import draft

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError, ModelError
from miltext.weight_files.blob_storage import BlobFile

CLASSIFIER = ROOT / "examples" / "Classifier.mlpackage"
NUMBERS = np.random.default_rng(0).standard_normal((4, 500)).astype(np.float32)
NUMBERS[0, :3] = [1e-12, 3.3e38, 1e-5]
DRAFT = draft(
    'w = const()[val = $npy("w.npy")]; v = const()[val = $npy("w.npy")]; b = const()[val = $npy("b.npy")];'
    "a = linear(x, w, b); c = linear(x, v, b); y = add(a, c);",
    "y",
    "tensor<fp32, [1, 500]> x",
)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A draft beside the arrays that it names: one twice, with numbers that fp16 does not have."""
    np.save(tmp_path / "w.npy", NUMBERS)
    np.save(tmp_path / "b.npy", np.arange(4, dtype=np.float32))
    (tmp_path / "model.mil").write_text(DRAFT.replace("val = $npy", "val = fp32 $npy"))
    return tmp_path / "model.mil"


@pytest.fixture
def package(text: Path) -> Path:
    """The package of that draft."""
    miltext.build(miltext.load(text), text.parent / "M.mlpackage")
    return text.parent / "M.mlpackage"


def halves() -> Any:
    """The numbers as they are to be in fp16: of 2,000, so that one becomes 0."""
    made = np.where(NUMBERS > 1e38, np.float32(65504), NUMBERS)
    return made.astype(np.float16)


def contents(model: Path) -> bytes:
    """The bytes of all files of a package, with their names."""
    files = sorted(path for path in model.rglob("*") if path.is_file())
    return b"".join(path.relative_to(model).as_posix().encode() + path.read_bytes() for path in files)


def records(folder: Path) -> list[tuple[str, int]]:
    [path] = folder.rglob("*.bin")
    with BlobFile(path) as file:
        return [(blob.dtype.name, blob.count) for blob in file]


def test_a_package_has_just_the_converted_weights(package: Path, tmp_path: Path) -> None:
    before = contents(package)
    made = miltext.convert_weights(package, "fp16", tmp_path / "N.mlpackage")
    model = miltext.load(tmp_path / "N.mlpackage")
    assert contents(package) == before
    assert records(tmp_path / "N.mlpackage") == [("fp16", 2000)] + [("fp16", 4)] * (len(records(package)) - 1)
    for name in ("w", "v"):
        np.testing.assert_array_equal(model.weights[name], halves())
    assert model.description == open_model(package).description
    assert (made.before, made.after) == (2 * made.after, made.before // 2)
    assert made.warnings == []


def test_the_loss_is_reported(package: Path, tmp_path: Path) -> None:
    made = miltext.convert_weights(package, "fp16", tmp_path / "N.mlpackage")
    assert made.largest is not None
    loss = made.largest.loss
    assert (made.largest.name, loss.zeros, loss.raised, loss.clamped, loss.subnormals) == ("w", 1, 0, 1, 1)
    kept = np.ones(NUMBERS.shape, bool)
    kept[0, 1] = False
    errors = np.abs(NUMBERS.astype(np.float64) - halves())[kept]
    assert loss.absolute == errors.max()
    assert loss.relative == pytest.approx((errors / np.abs(NUMBERS[kept])).max())
    assert {change.name: change.loss.absolute for change in made.changes}["b"] == 0


def test_conversion_to_fp16_and_back(package: Path, tmp_path: Path) -> None:
    half, single, again = (tmp_path / f"{name}.mlpackage" for name in ("half", "single", "again"))
    miltext.convert_weights(package, "fp16", half)
    made = miltext.convert_weights(half, "fp32", single)
    assert made.largest is None
    assert miltext.load(single).weights["w"].dtype == np.float32
    np.testing.assert_array_equal(miltext.load(single).weights["w"], halves().astype(np.float32))
    assert miltext.convert_weights(single, "fp16", again).largest is None
    assert miltext.to_draft(miltext.load(single).program) == miltext.to_draft(miltext.load(package).program)


def test_only_force_replaces_a_file_even_the_source(package: Path) -> None:
    before = contents(package)
    with pytest.raises(FileExistsError):
        miltext.convert_weights(package, "fp16", package)
    assert contents(package) == before
    miltext.convert_weights(package, "fp16", package, force=True)
    np.testing.assert_array_equal(miltext.load(package).weights["w"], halves())
    assert len([*package.rglob("*.bin")]) == 1


def test_a_refused_conversion_writes_nothing(package: Path, tmp_path: Path) -> None:
    [weights] = package.rglob("*.bin")
    weights.write_bytes(weights.read_bytes()[:200])
    before = contents(package)
    with pytest.raises(MiltextError, match="MIL306"):
        miltext.convert_weights(package, "fp16", package, force=True)
    assert contents(package) == before


def test_an_mlmodel_replaces_its_own_weights(package: Path, tmp_path: Path) -> None:
    folder = tmp_path / "loose"
    miltext.build(open_model(package), folder / "M.mlmodel")
    miltext.convert_weights(folder / "M.mlmodel", "fp16", folder / "M.mlmodel", force=True)
    np.testing.assert_array_equal(miltext.load(folder / "M.mlmodel").weights["v"], halves())
    assert {dtype for dtype, _ in records(folder)} == {"fp16"}


def test_a_draft_is_completed_and_its_arrays_are_converted(text: Path, package: Path, tmp_path: Path) -> None:
    miltext.convert_weights(text, "fp16", tmp_path / "draft.mlpackage")
    miltext.convert_weights(package, "fp16", tmp_path / "package.mlpackage")
    drafted, packed = (miltext.load(tmp_path / f"{name}.mlpackage") for name in ("draft", "package"))
    assert miltext.to_draft(drafted.program) == miltext.to_draft(packed.program)
    np.testing.assert_array_equal(drafted.weights["w"], halves())
    assert np.load(tmp_path / "w.npy").dtype == np.float32


@pytest.mark.parametrize("to", ["fp16", "fp32"])
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
def test_arrays_of_a_draft_that_stay_are_stored(dtype: str, to: str, tmp_path: Path) -> None:
    """Whether other arrays are converted, or none."""
    np.save(tmp_path / "w.npy", np.arange(400, dtype=dtype.replace("fp", "float")))
    np.save(tmp_path / "at.npy", np.array([3, 1, 2], np.int32))
    statements = (
        'z = add(x, $npy("w.npy"));y = gather(x = z, indices = $npy("at.npy"), axis = 0, validate_indices = false);'
    )
    (tmp_path / "m.mil").write_text(draft(statements, "y", f"tensor<{dtype}, [400]> x"))
    miltext.convert_weights(tmp_path / "m.mil", to, tmp_path / "N.mlpackage")
    made = miltext.load(tmp_path / "N.mlpackage")
    assert not miltext.check(tmp_path / "N.mlpackage")
    x = np.arange(400, dtype=dtype.replace("fp", "float"))
    np.testing.assert_array_equal(miltext.Evaluator(made).run({"x": x})["y"], [6, 2, 4])


def test_a_text_names_weights_beside_it_or_elsewhere(package: Path, tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "m.mil").write_text(miltext.to_text(miltext.load(package).program))
    [weights] = package.rglob("*.bin")
    with pytest.raises(MiltextError, match="MIL302"):
        miltext.convert_weights(tmp_path / "alone" / "m.mil", "fp16", tmp_path / "N.mlpackage")
    assert not (tmp_path / "N.mlpackage").exists()
    miltext.convert_weights(tmp_path / "alone" / "m.mil", "fp16", tmp_path / "N.mlpackage", weights=weights.parent)
    np.testing.assert_array_equal(miltext.load(tmp_path / "N.mlpackage").weights["w"], halves())


@pytest.mark.parametrize("word", ["weight.bin=M.mlpackage", "weight.bin=M.mlpackage/Data", "M.mlpackage", "."])
def test_the_command_takes_weights_as_build_does(
    word: str, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("alone").mkdir()
    Path("alone/m.mil").write_text(miltext.to_text(miltext.load(package).program))
    name = min(weight.blob.fileName for weight in miltext.load(package).weights.entries.values() if weight.blob)
    word = word.replace("weight.bin", name.removeprefix("@model_path/"))
    told = run("alone/m.mil", "--to", "fp16", "-o", "N.mlpackage", "--weights", word)
    is_there = not word.endswith(("Data", "."))
    assert (told[0], Path("N.mlpackage").exists()) == (0 if is_there else 1, is_there), told
    if is_there:
        np.testing.assert_array_equal(miltext.load("N.mlpackage").weights["w"], halves())
        return
    assert "error[MIL3" in told[2]


def test_a_compiled_model_becomes_a_package(package: Path, tmp_path: Path) -> None:
    compiled = compile_package(package, tmp_path / "M.mlmodelc")
    miltext.convert_weights(compiled, "fp16", tmp_path / "N.mlpackage")
    np.testing.assert_array_equal(miltext.load(tmp_path / "N.mlpackage").weights["w"], halves())
    assert miltext.load(compiled).weights["w"].dtype == np.float32


def test_a_model_in_a_pipeline(package: Path, tmp_path: Path) -> None:
    spec = open_model(package).spec
    assert spec is not None
    outer = pipeline(spec, spec, names=("one", "two"))
    outer.description.CopyFrom(spec.description)
    [model] = package.rglob("*.mlmodel")
    model.write_bytes(outer.SerializeToString())
    with pytest.raises(ModelError, match="MIL257"):
        miltext.convert_weights(package, "fp16", tmp_path / "N.mlpackage")
    miltext.convert_weights(package, "fp16", tmp_path / "N.mlpackage", model="two")
    stages = [miltext.load(tmp_path / "N.mlpackage", nested) for nested in (0, 1)]
    assert [each.weights["w"].dtype for each in stages] == [np.float32, np.float16]
    np.testing.assert_array_equal(stages[0].weights["w"], NUMBERS)
    np.testing.assert_array_equal(stages[1].weights["w"], halves())


def test_io_changes_the_description(package: Path, tmp_path: Path) -> None:
    miltext.convert_weights(package, "fp16", tmp_path / "N.mlpackage", io=True)
    described = open_model(tmp_path / "N.mlpackage").description
    assert described is not None
    found = [each.type.multiArrayType.dataType for each in (*described.input, *described.output)]
    assert found == [65552, 65552]  # FLOAT16
    assert "cast" not in miltext.to_text(miltext.load(tmp_path / "N.mlpackage").program)


def test_io_leaves_images(tmp_path: Path) -> None:
    model = open_model(CLASSIFIER)
    assert model.spec is not None
    model.spec.description.input[0].type.imageType.width = 16
    before = model.spec.description.SerializeToString(deterministic=True)
    miltext.convert_weights(model, "fp16", tmp_path / "N.mlpackage", io=True)
    described = open_model(tmp_path / "N.mlpackage").description
    assert described is not None
    assert described.SerializeToString(deterministic=True) == before


def test_a_model_without_fp32_is_written_unchanged(tmp_path: Path) -> None:
    made = miltext.convert_weights(CLASSIFIER, "fp16", tmp_path / "N.mlpackage")
    assert made.changes == []
    assert miltext.load(tmp_path / "N.mlpackage").program == miltext.load(CLASSIFIER).program


def test_a_model_in_memory_is_converted_as_it_is_there(package: Path, tmp_path: Path) -> None:
    model = miltext.load(package)
    block = model.program.functions["main"].block_specializations["CoreML8"]
    for operation in block.operations:
        if operation.type == "add":
            operation.type = "sub"
    miltext.convert_weights(model, "fp16", tmp_path / "N.mlpackage")
    assert " sub(" in miltext.to_text(miltext.load(tmp_path / "N.mlpackage").program)
    assert miltext.load(package).weights["w"].dtype == np.float32


def test_a_value_that_contradicts_its_type_is_refused(tmp_path: Path) -> None:
    program = miltext.parse(miltext.infer_draft(draft("y = add(x = x, y = tensor<fp32, [3]>([1, 2, 3]));", "y")))
    add = program.functions["main"].block_specializations["CoreML8"].operations[0]
    del add.inputs["y"].arguments[0].value.immediateValue.tensor.floats.values[:1]
    (tmp_path / "p.pb").write_bytes(program.SerializeToString())
    with pytest.raises(ModelError, match=r"MIL438.*the value of `y.y` cannot be converted"):
        miltext.convert_weights(tmp_path / "p.pb", "fp16", tmp_path / "N.mlpackage")
    assert not (tmp_path / "N.mlpackage").exists()


def test_another_precision_is_refused(package: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="to fp16 or fp32, not to 'bf16'"):
        miltext.convert_weights(package, "bf16", tmp_path / "N.mlpackage")


# ---- the command


def run(*arguments: object) -> tuple[int, str, str]:
    made = RUNNER.invoke(command, ["convert-weights", *map(str, arguments)])
    return made.exit_code, made.stdout, made.stderr


def test_the_command_reports_losses(package: Path, tmp_path: Path) -> None:
    status, told, errors = run(package, "--to", "fp16", "-o", tmp_path / "N.mlpackage")
    rows = [line.split() for line in told.splitlines()]
    assert (status, errors) == (0, "")
    assert rows[0] == ["name", "shape", "error", "relative", "zeros", "subnormal", "raised", "clamped"]
    assert [(row[0], row[1], row[5:]) for row in rows[1:3]] == [
        (name, "4x500", ["1", "1", "0", "1"]) for name in ("w", "v")
    ]
    assert told.splitlines()[3].startswith("3 constants: fp32 -> fp16, weight files: ")
    assert told.splitlines()[4].startswith("largest error 0.0009")
    assert told.splitlines()[4].endswith(" %) in w")
    assert told.splitlines()[5:] == [
        "2 numbers became 0",
        "2 numbers became subnormal",
        "2 numbers stood for an infinity, and became the greatest of fp16, 65504",
    ]


def test_the_command_states_that_nothing_is_lost(tmp_path: Path) -> None:
    status, told, _ = run(CLASSIFIER, "--to", "fp32", "-o", tmp_path / "N.mlpackage")
    assert (status, told.splitlines()[1:]) == (0, ["every number is exact"])
    status, told, _ = run(tmp_path / "N.mlpackage", "--to", "fp32", "-o", tmp_path / "O.mlpackage")
    assert (status, told) == (0, "no constants of fp16: no numbers were converted\n")


def test_the_form_for_programs(package: Path, tmp_path: Path) -> None:
    _, told, _ = run(package, "--to", "fp16", "-o", tmp_path / "N.mlpackage", "--format", "json")
    found = json.loads(told)
    assert (found["form"], found["to"], found["largest"]["name"], found["warnings"]) == (2, "fp16", "w", 0)
    assert [each["name"] for each in found["constants"]] == ["w", "v", "b"]
    assert found["bytes"]["before"] == 2 * found["bytes"]["after"]


def test_the_longest_rows_are_left_out_unless_all_are_requested(tmp_path: Path) -> None:
    body = "".join(f"c{n} = mul(x, {n}.1);" for n in range(1, 13)) + "y = relu(c12);"
    (tmp_path / "m.mil").write_text(draft(body, "y"))
    short, full = (
        run(tmp_path / "m.mil", "--to", "fp16", "-o", tmp_path / f"{name}.mlpackage", *options)[1].splitlines()
        for name, options in (("short", ()), ("full", ("--full",)))
    )
    assert (len(short), short[11]) == (14, "and 2 more; the full report lists them")
    assert (len(full), full[1].split()[0]) == (15, "c1.y")


def test_warnings_are_shown(tmp_path: Path) -> None:
    (tmp_path / "m.mil").write_text(draft("y = add(x, -1e9);", "y"))
    status, _, errors = run(tmp_path / "m.mil", "--to", "fp16", "-o", tmp_path / "N.mlpackage")
    assert status == 0
    assert "warning[MIL437]: `y.y` reaches 1e+09, beyond 65504, the greatest number of fp16: `y` stays fp32" in errors


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("--to", "int8", "-o", "N.mlpackage"), 2, "'int8' is not one of"),
        (("-o", "N.mlpackage"), 2, "Missing option '--to'"),
        (("--to", "fp16"), 2, "Missing option '-o'"),
        (("--to", "fp16", "-o", "N.mil"), 2, "MIL401"),
        (("--to", "fp16", "-o", str(CLASSIFIER)), 2, "it already exists; --force replaces it"),
        (("--to", "fp16", "-o", "N.mlpackage", "--model", "0"), 1, "MIL257"),
    ],
)
def test_inputs_that_the_command_refuses(arguments: tuple[str, ...], status: int, told: str, tmp_path: Path) -> None:
    placed = [str(tmp_path / each) if each.startswith("N.") else each for each in arguments]
    found, _, errors = run(CLASSIFIER, *placed)
    assert (found, told in errors) == (status, True), errors
    assert not [*tmp_path.iterdir()]


def test_description_changes_are_reported_or_refused(package: Path, tmp_path: Path) -> None:
    target = tmp_path / "N.mlpackage"
    assert run(package, "--to", "fp16", "-o", target, "--no-loss")[2] == ""
    told = run(package, "--to", "fp16", "-o", target, "--io", "--force")[2]
    assert told == "~ input x: type fp32 -> fp16\n~ output y: type fp32 -> fp16\n"


def test_a_model_has_its_own_weights(package: Path, tmp_path: Path) -> None:
    status, _, errors = run(package, "--to", "fp16", "-o", tmp_path / "N.mlpackage", "--weights", tmp_path)
    assert (status, "MODEL has weights of its own: leave out --weights" in errors) == (2, True)


def test_an_input_of_unknown_size_needs_its_range(tmp_path: Path) -> None:
    (tmp_path / "m.mil").write_text(draft("y = relu(x);", "y", "tensor<fp32, [1, ?]> x"))
    arguments = (tmp_path / "m.mil", "--to", "fp16", "--io", "-o", tmp_path / "N.mlpackage")
    status, _, errors = run(*arguments)
    assert (status, "MIL452" in errors) == (1, True)
    status, _, errors = run(*arguments, "--range", "x=1,2..8")
    assert status == 0, errors
    described = open_model(tmp_path / "N.mlpackage").description
    assert described is not None
    sizes = described.input[0].type.multiArrayType.shapeRange.sizeRanges
    assert [(each.lowerBound, each.upperBound) for each in sizes] == [(1, 1), (2, 8)]
