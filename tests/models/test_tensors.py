"""The law of tensors: in whatever place the elements are, they have the same numbers, digest, pieces and bytes."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import pytest
from conftest import ROOT, corpus_files, dear, wire
from hypothesis import given
from hypothesis import strategies as st

import miltext
from miltext.arrays.opening import open_array
from miltext.conversion.numbers import Numbers
from miltext.diagnostics import MiltextError
from miltext.parsing.lowering.arrays import ArrayReference
from miltext.schema import tensors
from miltext.schema.dtypes import BY_NAME, DTYPES, DType, packed_size
from miltext.schema.packing import unpack
from miltext.schema.proto import Program, Value
from miltext.schema.tensors import CHUNK, CODES, Computed, InType, Tensor, literal, numbers, tensor_shape
from miltext.schema.types import TensorType, write_type
from miltext.schema.walk import values
from miltext.testing.generated import programs
from miltext.weight_files.blob_storage import BlobFile, BlobWriter
from miltext.weight_files.model_weights import BlobFolder

NUMBERS = [dtype for dtype in DTYPES if dtype.kind != "string"]
STORED = [dtype for dtype in NUMBERS if dtype.blob is not None]

LARGEST = 1 << 22
"""The most bytes of a tensor that is compared here."""


def written(dtype: DType, data: bytes, shape: tuple[int, ...]) -> Value:
    """A literal of these packed elements."""
    value = Value(type=write_type(TensorType(dtype.name, shape)))
    value.immediateValue.tensor.CopyFrom(tensors.Literal(dtype, shape, data).message())
    return value


def recorded(dtype: DType, data: bytes, count: int, folder: Path) -> Tensor:
    """A record of these packed elements."""
    with BlobWriter(folder / "weight.bin") as writer:
        offset = writer.add_packed(dtype, data, len(data) * 8 - count * dtype.bits)
    with BlobFile(folder / "weight.bin") as file:
        return file.blob(offset)


def check_alike(forms: list[Tensor], data: bytes, dtype: DType, count: int) -> None:
    """Compare all forms to packed elements that are read whole, bit by bit."""
    whole = unpack(data, dtype, count)
    for tensor in forms:
        assert (tensor.dtype, tensor.count, tensor.size) == (dtype, count, len(data))
        assert b"".join(tensor.pieces()) == bytes(tensor.data) == b"".join(map(bytes, tensor.views())) == data
        assert tensor.array((count,)).tobytes() == whole.tobytes()
        chunks = [*tensor.chunks()]
        assert all(chunk.size == CHUNK for chunk in chunks[:-1])
        assert b"".join(chunk.tobytes() for chunk in chunks) == whole.tobytes()
        assert tensor.digest() == sha256(dtype.name.encode() + data).hexdigest()
        assert tensor.sample() == forms[0].sample()
        assert all(tensor.equals(other) and other.equals(tensor) for other in forms)


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("count", [0, 1, 7, 8, 1023])
def test_all_forms_of_a_tensor_are_equal(dtype: DType, count: int, tmp_path: Path) -> None:
    data = _data(dtype, count)
    found = literal(written(dtype, data, (count,)))
    assert found is not None
    recorded_too = [recorded(dtype, data, count, tmp_path)] if dtype in STORED else []
    check_alike([found, *recorded_too], data, dtype, count)
    if dtype.packed or dtype.name in CODES:
        assert [*map(str, numbers(data, dtype, count))] == [*map(str, unpack(data, dtype, count).tolist())]
        assert not numbers(data + b"a", dtype, count) or dtype.bits == 8


@pytest.mark.parametrize("dtype", [dtype for dtype in NUMBERS if not dtype.packed], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_beside_a_text_is_equal(dtype: DType, order: Literal["C", "F"], tmp_path: Path) -> None:
    data = _data(dtype, 35)
    found = literal(written(dtype, data, (5, 7)))
    assert found is not None
    array = np.asarray(found.array(), order=order)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", k=array)
    references = [ArrayReference("$npy", "a.npy"), ArrayReference("$npz", "a.npz", "k")]
    stored = [open_array(reference, tmp_path) for reference in references]
    forms: list[Tensor] = [InType(each, dtype) for each in stored] + [each for each in stored if each.dtype == dtype]
    if dtype.name in CODES:  # numpy has it
        forms.append(Computed(array))
    check_alike([found, *forms, Numbers(found, (5, 7))], data, dtype, 35)
    assert all(each.shape == (5, 7) for each in forms)


@pytest.mark.parametrize("name", ["fp32", "bf16", "int4", "uint3", "uint6"])
def test_tensors_of_several_chunks_are_equal(name: str, tmp_path: Path) -> None:
    dtype, count = BY_NAME[name], CHUNK + 5
    data = _data(dtype, count)
    found = literal(written(dtype, data, (count,)))
    assert found is not None
    check_alike([found, recorded(dtype, data, count, tmp_path)], data, dtype, count)


def _data(dtype: DType, count: int) -> bytes:
    """Packed elements with all bits, NaNs of any kind among them; the padding is zero."""
    made = bytearray(np.random.default_rng(count).bytes(packed_size(count, dtype.bits)))
    if dtype.kind == "bool":
        made = bytearray(each & 1 for each in made)
    if count * dtype.bits % 8:
        made[-1] &= (1 << count * dtype.bits % 8) - 1
    return bytes(made)


@given(st.sampled_from(NUMBERS), st.binary(max_size=64), st.binary(max_size=64))
def test_tensors_are_equal_if_their_bits_are(dtype: DType, one: bytes, other: bytes) -> None:
    size = dtype.bits // 8 if dtype.bits >= 8 else dtype.bits
    both = [bytes(byte & 1 for byte in each) if dtype.kind == "bool" else each for each in (one, other)]
    first, second = (
        literal(written(dtype, data[: len(data) // size * size], (len(data) // size * size * 8 // dtype.bits,)))
        for data in both
    )
    assert first is not None
    assert second is not None
    same = np.array_equal(np.frombuffer(first.data, np.uint8), np.frombuffer(second.data, np.uint8))
    assert first.equals(second) is second.equals(first) is same
    assert (first.digest() == second.digest()) is same


# ---- the tensors of real and of generated programs


def check_program(program: Program, folder: Path | None, scratch: Path) -> int:
    """Compare the forms of all tensors of a program; return their number."""
    records, seen = BlobFolder(folder), 0
    for held in values(program):
        with suppress(MiltextError):  # a weight file that is not there, or a record that does not fit
            tensor = records.tensor(held.value)
            if tensor is None or tensor.size > LARGEST:
                continue
            seen += 1
            shape = tensor_shape(held.value.type) or ()
            inside = literal(written(tensor.dtype, bytes(tensor.data), shape))
            assert inside is not None
            if held.value.HasField("immediateValue"):
                assert wire(inside.message()) == wire(held.value.immediateValue.tensor)
            data = bytes(tensor.data)
            stored = [recorded(tensor.dtype, data, tensor.count, scratch)] if tensor.dtype in STORED else []
            check_alike([tensor, inside, *stored], data, tensor.dtype, prod(shape))
    return seen


@pytest.mark.parametrize(
    "path", corpus_files("apple/*.mil", "handwritten/*.mil", "bundles/*.ml*", "pairs/*/*.mil", "pipelines/*/*/*.mil")
)
def test_tensors_of_the_corpus_are_equal(path: Path, tmp_path: Path) -> None:
    model = miltext.load(path)
    check_program(model.program, model.model_path, tmp_path)


def test_tensors_of_the_goldens_are_equal(tmp_path: Path) -> None:
    seen = 0
    for path in sorted((ROOT / "tests" / "golden" / "print").rglob("*.mil")):
        with suppress(MiltextError):
            seen += check_program(miltext.parse(path.read_text()), path.parent, tmp_path)
    assert seen > 100


@dear
@given(programs())
def test_tensors_of_generated_programs_are_equal(program: Program) -> None:
    with TemporaryDirectory() as folder:
        check_program(program, None, Path(folder))
