"""`check --weights-data` reports doubtful numbers in the weights of models, once per record."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from conftest import corpus_files
from support.commands import miltext as run
from support.containers import write_package
from support.memory import run as run_alone
from support.pipelines import of_text, piped
from support.weight_records import header, record
from support.weighted import DATA, WEIGHT, build, function_of, program_of, text_model
from support.whole_models import TORCH, WHOLE, whole

import miltext
from miltext.checking.contract.weights_data import weight_data_findings
from miltext.containers.opening import open_model
from miltext.models.manifest import model_file
from miltext.pipelines.connections import WHOLE as OUTERMOST
from miltext.pipelines.renaming import rename_values
from miltext.schema.dtypes import BY_NAME, BY_NUMBER
from miltext.schema.proto import Model, Value
from miltext.schema.tensors import CHUNK
from miltext.schema.walk import is_compressed, values
from miltext.weight_files.blob_storage import BlobWriter

SIZE = CHUNK + 8

MOST = 100 << 20
"""Bytes of the whole process that checks a weight of three times as many."""


def package(folder: Path, put: Mapping[int, float], dtype: str = "fp32", size: int = 40, fill: float = 1.0) -> Path:
    """A package of one weight, with these numbers at these indices, used under two names."""
    values = np.full(size, fill, np.float32)
    for index, value in put.items():
        values[index] = value
    patterns = (values.view(np.uint32) >> 16).astype(np.uint16)
    array = (
        patterns
        if dtype == "bf16"
        else values.astype(dtype.replace("fp", "float"))
        if "fp" in dtype
        else values.view("i4")
    )
    file = folder / "source" / WEIGHT
    file.parent.mkdir(parents=True)
    with BlobWriter(file) as writer:
        offset = writer.add(BY_NAME[dtype], array)
    lines = program_of(function_of({"a": (WEIGHT, offset), "b": (WEIGHT, offset)}, size=size)).splitlines(keepends=True)
    text = "".join(line.replace("fp16", dtype) if "const()" in line else line for line in lines)
    build(text_model(text, folder / "source"), folder / "M.mlpackage", check=False)
    return folder / "M.mlpackage"


def told(path: Path) -> list[str]:
    found = [each for file in weight_data_findings(open_model(path)) for each in file.diagnostics]
    assert {each.code for each in found} <= {"MIL313"}
    return [f"{each.severity}: {each.message}" for each in found]


def at(words: str, severity: str = "warning") -> list[str]:
    return [f"{severity}: `weights/weight.bin` at 0x40: `a` and `b`: {words}"]


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "bf16"])
@pytest.mark.parametrize("kind", ["NaN", "infinite"])
@pytest.mark.parametrize("index", [0, 17, 39])
def test_a_number_that_is_not_finite(tmp_path: Path, dtype: str, kind: str, index: int) -> None:
    value = np.nan if kind == "NaN" else -np.inf
    assert told(package(tmp_path, {index: value}, dtype)) == at(f"1 {kind}, the first at index {index}")


@pytest.mark.parametrize("indices", [(CHUNK - 1,), (CHUNK,), (CHUNK - 1, CHUNK), (0, SIZE - 1)])
def test_a_nan_at_the_border_of_a_piece(tmp_path: Path, indices: tuple[int, ...]) -> None:
    path = package(tmp_path, dict.fromkeys(indices, np.nan), "fp16", SIZE)
    assert told(path) == at(f"{len(indices)} NaN, the first at index {indices[0]}")


@pytest.mark.parametrize(("value", "is_told"), [(65504, False), (65505, True), (-1e30, True)])
def test_a_number_beyond_fp16(tmp_path: Path, value: float, is_told: bool) -> None:
    words = at("1 beyond 65504, which is infinite in fp16, the first at index 5", "note")
    assert told(package(tmp_path, {5: value})) == (words if is_told else [])


def test_a_mask_of_zeros_and_infinities_is_not_a_fault(tmp_path: Path) -> None:
    assert told(package(tmp_path, {3: -np.inf}, fill=0)) == []


def test_zeros_of_one_dimension_are_not_a_fault(tmp_path: Path) -> None:
    assert told(package(tmp_path, {}, fill=0)) == []


def test_integers_are_skipped(tmp_path: Path) -> None:
    assert told(package(tmp_path, {1: np.nan}, "int32")) == []


@pytest.mark.parametrize(("numbers", "words"), [("nan", "warning: "), ("0", "note: ")])
def test_a_literal_of_two_dimensions(tmp_path: Path, numbers: str, words: str) -> None:
    kind = "tensor<fp32, [2, 6]>"
    row = f"[{', '.join([numbers] + ['0'] * 5)}]"
    text = (
        f'program(1.3)\n{{\n    func main<ios18>({kind} x) {{\n            {kind} w = const()[name = string("w"), '
        f'val = {kind}([{row}, {row}])];\n            {kind} y = add(x = x, y = w)[name = string("y")];\n'
        "        } -> (y);\n}\n"
    )
    build(text_model(text, tmp_path), tmp_path / "M.mlpackage")
    (found,) = told(tmp_path / "M.mlpackage")
    assert found.startswith(f"{words}in the program: `w`: ")


@pytest.mark.parametrize("kind", ["mlmodel", "mlmodelc"])
def test_other_containers(tmp_path: Path, kind: str) -> None:
    model = tmp_path / f"M.{kind}"
    miltext.build(open_model(package(tmp_path, {2: np.nan}, "fp16")), model)
    assert told(model) == at("1 NaN, the first at index 2")


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "no record"])
def test_an_unreadable_file_is_left_to_other_rules(tmp_path: Path, damage: str) -> None:
    file = (path := package(tmp_path, {2: np.nan}, "fp16")) / DATA / WEIGHT
    data = file.read_bytes()
    file.write_bytes({"empty": b"", "cut": data[:-1]}.get(damage, data[:64] + bytes(64) + data[128:]))
    if damage == "missing":
        file.unlink()
    assert told(path) == []


def test_the_option_shows_selected_findings(tmp_path: Path) -> None:
    path = package(tmp_path, {2: np.nan}, "fp16")
    text = tmp_path / "source" / "m.mil"
    assert b"MIL313" not in miltext_check(path)
    assert b"warning[MIL313]" in miltext_check(path, "--weights-data")
    assert b"MIL313" not in miltext_check(path, "--weights-data", "--ignore", "MIL313")
    assert b"MIL313" not in miltext_check(text, "--weights-data")


def miltext_check(path: Path, *options: str) -> bytes:
    ended = run("check", path, "--isolated", *options)
    assert ended.returncode in (0, 1), ended.stderr
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_package_has_no_warning(name: str) -> None:
    pytest.importorskip("coremltools")
    if name in TORCH:
        pytest.importorskip("torch")
    assert [each for each in told(whole(name)) if each.startswith("warning")] == []


@pytest.mark.parametrize("model", corpus_files("**/*.mlpackage", "**/*.mlmodelc", "**/*.mlmodel"))
def test_a_model_of_the_corpus_has_no_warning(model: Path) -> None:
    assert [each for each in told(model) if each.startswith("warning")] == []


# ---- parts of compressed weights, and small weights in the program

PARTS = {
    "package/palettized-3": "lut",
    "package/int4": "scale",
    "package/sparse": "nonzero_data",
    "palettized-8": "lut",
    "int8-tensor": "scale",
    "int8-old": "scale",
    "sparse-quantized": "scale",
}


@pytest.mark.parametrize(("name", "part"), PARTS.items())
def test_a_nan_in_a_part_of_a_compressed_weight(name: str, part: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    copy = tmp_path / "M.mlpackage"
    shutil.copytree(whole(name), copy)
    spec = Model.FromString(model_file(copy).read_bytes())
    parts = (each for each in values(spec.mlProgram) if each.operation and is_compressed(each.operation.type))
    held = next(each for each in parts if each.key == part)
    put_nan(held.value, copy / DATA)
    model_file(copy).write_bytes(spec.SerializeToString())
    (found,) = [each for each in told(copy) if each.startswith("warning")]
    assert f"`{held.name}`" in found
    assert found.endswith("1 NaN, the first at index 0")


def put_nan(value: Value, folder: Path) -> None:
    """Make the first number of a value NaN, in the weight file or in the program."""
    pattern = np.array(np.nan, BY_NUMBER[value.type.tensorType.dataType].numpy).tobytes()
    if value.WhichOneof("value") == "blobFileValue":
        file = folder / WEIGHT
        data = bytearray(file.read_bytes())
        start = int.from_bytes(data[value.blobFileValue.offset + 16 : value.blobFileValue.offset + 24], "little")
        data[start : start + len(pattern)] = pattern
        file.write_bytes(data)
    elif value.immediateValue.tensor.WhichOneof("value") == "bytes":
        stored = value.immediateValue.tensor.bytes
        stored.values = pattern + stored.values[len(pattern) :]
    else:
        value.immediateValue.tensor.floats.values[0] = np.nan


SMALL = """program(1.3)
{{
    func main<ios18>(tensor<fp32, [3]> x) {{
            {type} w = const()[name = string("w"), val = {type}({numbers})];
            tensor<fp32, [3]> y = add(x = x, y = w)[name = string("y")];
        }} -> (y);
}}
"""
"""A model with few numbers in its program."""


@pytest.mark.parametrize(
    ("kind", "numbers", "words"),
    [
        ("tensor<fp32, [3]>", "[1, nan, 2]", ["warning: in the program: `w`: 1 NaN, the first at index 1"]),
        ("tensor<fp32, [3]>", "[1, -inf, 2]", ["warning: in the program: `w`: 1 infinite, the first at index 1"]),
        ("tensor<fp32, [3]>", "[0, -inf, 0]", []),
        ("tensor<fp32, [3]>", "[1, 2, 3]", []),
        ("tensor<fp32, [1, 3]>", "[[0, 0, 0]]", []),
        ("tensor<fp32, [1]>", "[nan]", ["warning: in the program: `w`: 1 NaN, the first at index 0"]),
        ("fp32", "nan", []),
    ],
)
def test_a_small_constant_in_the_program(kind: str, numbers: str, words: list[str], tmp_path: Path) -> None:
    spec = of_text(SMALL.format(type=kind, numbers=numbers))
    assert told(write_package(tmp_path / "M.mlpackage", spec.SerializeToString())) == words


def test_small_constants_of_functions_have_both_names(tmp_path: Path) -> None:
    text = SMALL.format(type="tensor<fp32, [3]>", numbers="[1, nan, 2]")
    head, end = text.index("    func"), text.rindex("}")
    other = text[head:end].replace("func main", "func more").replace("1, nan", "nan, 1")
    spec = of_text(text[:end] + other + "}\n")
    found = told(write_package(tmp_path / "M.mlpackage", spec.SerializeToString()))
    assert [each.split("`")[1] for each in found] == ["main/w", "more/w"]


# ---- records of several users


def test_a_record_shared_by_functions_is_reported_once(tmp_path: Path) -> None:
    file = tmp_path / "source" / WEIGHT
    file.parent.mkdir(parents=True)
    with BlobWriter(file) as writer:
        offset = writer.add(BY_NAME["fp16"], np.array([np.nan] + [1] * 39, np.float16))
    functions = {"main": "a", "more": "b"}
    text = program_of(*(function_of({weight: (WEIGHT, offset)}, name) for name, weight in functions.items()))
    build(text_model(text, tmp_path / "source"), tmp_path / "M.mlpackage", check=False)
    assert told(tmp_path / "M.mlpackage") == at("1 NaN, the first at index 0")


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_weight_of_stages_names_its_models(is_shared: bool, tmp_path: Path) -> None:
    offsets = (64, 64 if is_shared else 64 + 64 + 128)
    stages = [of_text(program_of(function_of({"w": (WEIGHT, offset)}))) for offset in offsets]
    for spec, old in zip(stages, ["w_sum", "x"], strict=True):
        rename(spec, old, "mid")
    path = write_package(tmp_path / "P.mlpackage", piped(*stages).SerializeToString())
    (path / DATA / "weights").mkdir(parents=True, exist_ok=True)
    with BlobWriter(path / DATA / WEIGHT) as writer:
        for _ in range(2):
            writer.add(BY_NAME["fp16"], np.array([1, np.nan] + [1] * 38, np.float16))
    users = ["`model 0, w` and `model 1, w`"] if is_shared else ["`model 0, w`", "`model 1, w`"]
    assert [each.split(": ")[2] for each in told(path)] == users


def rename(spec: Model, old: str, new: str) -> None:
    """Rename an input or output of a program and its description."""
    rename_values(spec.mlProgram, {old: new}, OUTERMOST, "main")
    for entry in (*spec.description.input, *spec.description.output):
        entry.name = new if entry.name == old else entry.name


# ---- memory


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc how much memory there is")
def test_a_large_weight_is_read_in_pieces(tmp_path: Path) -> None:
    size = 75 << 20
    text = program_of(function_of({"a": (WEIGHT, 64)}, size=size)).replace("fp16", "fp32")
    path = write_package(tmp_path / "M.mlpackage", of_text(text).SerializeToString())
    (path / DATA / "weights").mkdir(parents=True, exist_ok=True)
    with (path / DATA / WEIGHT).open("wb") as stream:
        stream.write(header() + record(number=BY_NAME["fp32"].blob or 0, size=4 * size, start=128))
        stream.seek(128 + 4 * size - 4)
        stream.write(np.float32(np.nan).tobytes())
    expected = f"warning: `{WEIGHT}` at 0x40: `a`: 1 NaN, the first at index {size - 1}"
    assert told(path) == [expected]
    made = run_alone("check", "--weights-data", "--isolated", path)
    assert made.status == 1
    assert made.resident < MOST
