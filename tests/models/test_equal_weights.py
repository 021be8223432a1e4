"""Equal weights of one text are stored once, wherever they come from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from models.test_arrays_kept import array_at, source
from models.test_build_text import function, program

import miltext
from miltext.drafting.building import build
from miltext.schema.dtypes import BY_NAME
from miltext.schema.tensors import CHUNK
from miltext.weight_files.blob_storage import ALIGNMENT, BlobFile, BlobWriter

WEIGHTS = "Data/com.apple.CoreML/weights/weight.bin"


def stored(folder: Path, *values: str, externalize: int | None = None) -> list[tuple[str, int]]:
    """The records of a package whose constants have these values; each constant reads as it was written."""
    made = "\n".join(
        f'            {value.split("(")[0]} w{index} = const()[name = string("w{index}"), val = {value}];'
        if value.startswith("tensor")
        else f"            w{index} = const()[val = {value}];"
        for index, value in enumerate(values)
    )
    text = program(function("tensor<fp16, [2]> x", "x", made))
    told: list[int] = []
    expected: list[int] = []
    build(
        source(folder, text),
        folder / "A.mlpackage",
        externalize=externalize,
        progress=told.append,
        expect=lambda size: expected.append(size()),
    )
    assert [sum(told)] == expected
    with BlobFile(folder / "A.mlpackage" / WEIGHTS) as file:
        return [(blob.dtype.name, blob.count) for blob in file]


@pytest.mark.parametrize("arranged", [np.ascontiguousarray, np.asfortranarray])
def test_arrays_of_two_files(arranged: object, tmp_path: Path) -> None:
    numbers = np.arange(40, dtype=np.float16).reshape(5, 8)
    array_at(tmp_path / "a.npy", numbers)
    array_at(tmp_path / "b.npy", arranged(numbers))  # type: ignore[operator]
    array_at(tmp_path / "c.npy", numbers + 1)
    np.savez(tmp_path / "d.npz", k=numbers)
    names = ('$npy("a.npy")', '$npy("b.npy")', '$npy("c.npy")', '$npz("d.npz", "k")', '$npy("a.npy")')
    assert stored(tmp_path, *names) == [("fp16", 40), ("fp16", 40)]
    found = miltext.load(tmp_path / "A.mlpackage").weights
    for name, added in (("w0", 0), ("w1", 0), ("w2", 1), ("w3", 0), ("w4", 0)):
        np.testing.assert_array_equal(found[name], numbers + added)


def test_an_array_and_a_literal(tmp_path: Path) -> None:
    array_at(tmp_path / "a.npy", np.ones(4, np.float16))
    literals = ["tensor<fp16, [4]>([1, 1, 1, 1])", "tensor<fp16, [2, 2]>([[1, 1], [1, 1]])"]
    assert stored(tmp_path, '$npy("a.npy")', *literals, externalize=2) == [("fp16", 4)]


def test_equal_bytes_of_other_types_shapes_and_numbers(tmp_path: Path) -> None:
    """Four and three elements of four bits take two bytes, and a last one of 0 is no element in the latter."""
    array_at(tmp_path / "a.npy", np.zeros(4, np.float16))
    array_at(tmp_path / "b.npy", np.zeros((2, 2), np.float16))
    values = ['$npy("a.npy")', '$npy("b.npy")', "tensor<bf16, [4]>([0, 0, 0, 0])"]
    values += ["tensor<int4, [4]>([1, 2, 3, 0])", "tensor<int4, [3]>([1, 2, 3])", "tensor<int4, [3]>([1, 2, 3])"]
    kinds = [("fp16", 4), ("bf16", 4), ("int4", 4), ("int4", 3)]
    assert stored(tmp_path, *values, externalize=2) == kinds


@pytest.mark.parametrize("place", [0, 4095, 4096, CHUNK, 2 * CHUNK - 1])
def test_arrays_that_differ_in_one_place(place: int, tmp_path: Path) -> None:
    numbers = np.zeros(2 * CHUNK, np.int8)
    array_at(tmp_path / "a.npy", numbers)
    numbers[place] = 1
    array_at(tmp_path / "b.npy", numbers)
    array_at(tmp_path / "c.npy", np.zeros(2 * CHUNK, np.int8))
    names = ('$npy("a.npy")', '$npy("b.npy")', '$npy("c.npy")')
    assert stored(tmp_path, *names) == [("int8", 2 * CHUNK)] * 2
    found = miltext.load(tmp_path / "A.mlpackage").weights
    np.testing.assert_array_equal(found["w1"], numbers)
    assert not found["w0"].any()


def test_a_withdrawn_record_leaves_nothing(tmp_path: Path) -> None:
    """Zeros that follow are a hole in the file, in which nothing may be left of what was there."""
    for name, taken in (("a.bin", True), ("b.bin", False)):
        with BlobWriter(tmp_path / name) as writer:
            writer.add(BY_NAME["uint8"], np.ones(3, np.uint8))
            if taken:
                writer.add(BY_NAME["uint8"], np.full(3 * CHUNK, 7, np.uint8))
                assert b"".join(writer.last_pieces()) == b"\7" * 3 * CHUNK
                writer.take_back()
            writer.add(BY_NAME["uint8"], np.zeros(CHUNK, np.uint8))
            assert b"".join(writer.last_pieces()) == bytes(CHUNK)
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()
    assert (tmp_path / "a.bin").stat().st_size == 4 * ALIGNMENT + CHUNK
