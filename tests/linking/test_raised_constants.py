"""Compressed constants of ios16 in a link of ios18: the same numbers, bit for bit, by miltext and by coremltools."""

from __future__ import annotations

import shutil
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import corpus_files
from support.model_checks import assert_coremltools_opens

import miltext
from miltext.diagnostics import ModelError
from miltext.schema.dtypes import BY_NAME, packed_size
from miltext.schema.packing import pack_array
from miltext.weight_files.blob_storage import BlobWriter

NEWER = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> z) {
            tensor<fp32, [2]> newer = relu(x = z)[name = string("newer")];
        } -> (newer);
}
"""
TABLES = [1, 2, 4, 6, 8]
ENDS = {"audio_input": (1, 576), "cell_state": (1, 128), "hidden_state": (1, 128)}
SHAPES = [(3,), (2, 5), (1, 3, 1, 7), (16, 9)]


class Parts:
    """The parts of constants, stored in a weight file or written in the text."""

    def __init__(self, folder: Path, *, stored: bool) -> None:
        folder.mkdir()
        self.folder = folder
        self.writer = BlobWriter(folder / "weight.bin") if stored else None

    def spelled(self, dtype: str, array: np.ndarray[Any, Any]) -> str:
        kind = f"tensor<{dtype}, [{array.size}]>"
        if self.writer is None:
            return f"{kind}([{', '.join(map(str, array.tolist()))}])"
        offset = self.writer.add(BY_NAME[dtype], array)
        return f'{kind}(BLOBFILE(path = string("@model_path/weight.bin"), offset = uint64({offset})))'

    def model(self, call: str, dtype: str, shape: tuple[int, ...]) -> Path:
        """Write a text that returns the sum of an input and a constant."""
        if self.writer is not None:
            self.writer.close()
        kind = f"tensor<{dtype}, {[*shape]}>"
        lines = [f'{kind} w = {call}[name = string("w")];', f'{kind} y = add(x = x, y = w)[name = string("y")];']
        body = "\n".join(f"            {line}" for line in lines)
        path = self.folder / "old.mil"
        path.write_text(f"program(1.3)\n{{\n    func main<ios16>({kind} x) {{\n{body}\n        }} -> (y);\n}}\n")
        return path


def table_model(folder: Path, bits: int, shape: tuple[int, ...], dtype: str, *, stored: bool) -> Path:
    chosen = np.random.default_rng(bits)
    parts = Parts(folder, stored=stored)
    indices = chosen.integers(0, 1 << bits, shape).astype(np.uint8)
    lut = chosen.standard_normal(1 << bits).astype(BY_NAME[dtype].numpy)
    packed = parts.spelled("uint8", np.frombuffer(pack_array(indices, bits), np.uint8))
    table, sizes = parts.spelled(dtype, lut), f"tensor<uint32, [{len(shape)}]>({[*shape]})"
    return parts.model(f"constexpr_lut_to_dense(indices = {packed}, lut = {table}, shape = {sizes})", dtype, shape)


def sparse_model(folder: Path, shape: tuple[int, ...], dtype: str, *, stored: bool) -> Path:
    chosen = np.random.default_rng(prod(shape))
    parts = Parts(folder, stored=stored)
    mask = chosen.integers(0, 2, shape).astype(np.uint8)
    mask.flat[0] = 1
    data = parts.spelled(dtype, chosen.standard_normal(mask.sum()).astype(BY_NAME[dtype].numpy))
    packed, sizes = np.frombuffer(pack_array(mask, 1), np.uint8), f"tensor<uint32, [{len(shape)}]>({[*shape]})"
    call = f"constexpr_sparse_to_dense(nonzero_data = {data}, mask = {parts.spelled('uint8', packed)}, shape = {sizes})"
    return parts.model(call, dtype, shape)


def assert_raised(old: Path, tmp_path: Path) -> Path:
    """Link a model of ios16 with one of ios18, and compare all bits of the outputs."""
    out = tmp_path / "Whole.mlpackage"
    miltext.link({"old": old, "newer": NEWER}, out, force=True)
    model = miltext.load(out)
    (function,) = model.program.functions.values()
    assert function.opset == "CoreML8"
    assert not [each for each in miltext.check(out) if each.severity == "error"]
    (value,) = miltext.load(old).program.functions["main"].inputs
    shape = [int(each.constant.size) for each in value.type.tensorType.dimensions]
    x = np.zeros(shape, np.float32 if value.type.tensorType.dataType == 11 else np.float16)
    before, after = miltext.run(old, {"x": x})["y"], miltext.run(out, {"x": x, "z": np.zeros(2, np.float32)})["y"]
    assert before.dtype == after.dtype
    assert before.tobytes() == after.tobytes()
    return out


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("bits", TABLES)
def test_tables_have_the_same_numbers(bits: int, shape: tuple[int, ...], stored: bool, tmp_path: Path) -> None:
    dtype = "fp16" if len(shape) % 2 else "fp32"
    if not stored and packed_size(prod(shape), bits) > 300:
        pytest.skip("long literals are in files")
    out = assert_raised(table_model(tmp_path / "old", bits, shape, dtype, stored=stored), tmp_path)
    indices = f"indices = tensor<uint{bits}, [{', '.join(map(str, shape))}]>"
    assert indices in miltext.to_text(miltext.load(out).program)


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sparse_constants_have_the_same_numbers(shape: tuple[int, ...], stored: bool, tmp_path: Path) -> None:
    for dtype in ("fp16", "fp32"):
        old = sparse_model(tmp_path / dtype, shape, dtype, stored=stored)
        out = assert_raised(old, tmp_path)
        assert "mask = tensor<uint1, " in miltext.to_text(miltext.load(out).program)


@pytest.mark.parametrize("bits", TABLES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_forms_of_coremltools_have_the_same_numbers(bits: int, shape: tuple[int, ...]) -> None:
    """The known rule of the shapes, by the definitions of coremltools for both opsets."""
    pytest.importorskip("coremltools")
    from coremltools.converters.mil.mil.ops.defs.iOS16 import constexpr_ops as old
    from coremltools.converters.mil.mil.ops.defs.iOS18 import compression as new
    from coremltools.optimize import _utils

    chosen = np.random.default_rng(bits)
    indices = chosen.integers(0, 1 << bits, shape).astype(np.uint8)
    lut = chosen.standard_normal(1 << bits).astype(np.float16)
    packed = np.frombuffer(pack_array(indices, bits), np.uint8)
    assert packed.tobytes() == _utils.pack_elements_into_bits(indices, bits).tobytes()
    before = old.constexpr_lut_to_dense.decompress(lut, packed, np.array(shape, np.uint32))
    after = new.constexpr_lut_to_dense.decompress(indices, lut.reshape([1] * len(shape) + [-1, 1]), None)
    assert before.tobytes() == np.asarray(after, np.float16).tobytes()
    mask = (indices & 1).astype(np.uint8)
    data = chosen.standard_normal(int(mask.sum())).astype(np.float16)
    ones = np.frombuffer(pack_array(mask, 1), np.uint8)
    if prod(shape) % 8 == 0:  # coremltools 9.0 fails for other sizes of ios16
        sparse = old.constexpr_sparse_to_dense.decompress(data, ones, shape)
        assert sparse.tobytes() == new.constexpr_sparse_to_dense.decompress(data, mask).tobytes()


def test_a_record_of_several_constants_is_stored_once(tmp_path: Path) -> None:
    old = table_model(tmp_path / "old", 4, (16, 9), "fp32", stored=True)
    text = old.read_text()
    (line,) = [line for line in text.splitlines(keepends=True) if "constexpr" in line]
    twice = text.replace(line, line + line.replace("> w =", "> v =").replace('"w"', '"v"')).replace("x = x,", "x = v,")
    old.write_text(twice)
    out = assert_raised(old, tmp_path)
    assert miltext.size(out).files[0].records == 2


def test_bytes_that_are_not_packed_are_refused(tmp_path: Path) -> None:
    """Some writers give each index a byte; ios18 has no such form."""
    parts = Parts(tmp_path / "old", stored=True)
    indices, table = (
        parts.spelled("uint8", np.arange(16, dtype=np.uint8) % 4),
        parts.spelled("fp32", np.ones(4, np.float32)),
    )
    call = f"constexpr_lut_to_dense(indices = {indices}, lut = {table}, shape = tensor<uint32, [2]>([4, 4]))"
    old = parts.model(call, "fp32", (4, 4))
    with pytest.raises(ModelError, match=r"MIL485.*has `indices` that are not packed"):
        miltext.link({"old": old, "newer": NEWER}, tmp_path / "Whole.mlpackage")
    assert not (tmp_path / "Whole.mlpackage").exists()


def test_a_missing_weight_file_is_refused(tmp_path: Path) -> None:
    old = table_model(tmp_path / "old", 4, (16, 9), "fp32", stored=True)
    (old.parent / "weight.bin").unlink()
    with pytest.raises(ModelError):
        miltext.link({"old": old, "newer": NEWER}, tmp_path / "Whole.mlpackage")
    assert not (tmp_path / "Whole.mlpackage").exists()


@pytest.mark.parametrize("package", corpus_files("bundles/mobius-unified_*.mlpackage"), ids=lambda path: path.name)
def test_models_of_the_corpus_link_with_a_newer_one(package: Path, tmp_path: Path) -> None:
    copied = tmp_path / package.name
    shutil.copytree(package, copied)
    out = tmp_path / "Whole.mlpackage"
    miltext.link({"old": copied, "newer": NEWER}, out)
    assert not [each for each in miltext.check(out) if each.severity == "error"]
    inputs = {name: np.random.default_rng(1).normal(size=shape).astype(np.float32) for name, shape in ENDS.items()}
    before, after = miltext.run(copied, inputs), miltext.run(out, {**inputs, "z": np.zeros(2, np.float32)})
    assert all(before[name].tobytes() == after[name].tobytes() for name in before)
    pytest.importorskip("coremltools")
    assert_coremltools_opens(out)
