"""`check --weights-data` reports doubtful numbers in the weights of models, once per record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from conftest import corpus_files
from support.commands import miltext as run
from support.weighted import DATA, WEIGHT, build, function_of, program_of, text_model
from support.whole_models import TORCH, WHOLE, whole

import miltext
from miltext.checking.contract.weights_data import weight_data_findings
from miltext.containers.opening import open_model
from miltext.schema.dtypes import BY_NAME
from miltext.schema.tensors import CHUNK
from miltext.weights.blob_storage import BlobWriter

SIZE = CHUNK + 8


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


def test_a_mask_of_zeros_and_infinities_is_no_fault(tmp_path: Path) -> None:
    assert told(package(tmp_path, {3: -np.inf}, fill=0)) == []


def test_zeros_of_one_dimension_are_no_fault(tmp_path: Path) -> None:
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
