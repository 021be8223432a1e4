"""Weight files that are added to: what they have already is not stored again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from models.test_arrays_kept import array_at, source, text_with
from models.test_build_text import function, program

import miltext
from miltext.arrays import stored
from miltext.drafting.building import build
from miltext.weight_files.blob_storage import BlobFile

WEIGHTS = "Data/com.apple.CoreML/weights/weight.bin"
NUMBERS = np.arange(40, dtype=np.float16).reshape(5, 8)


def edited(folder: Path, file: str = "w.npy") -> bytes:
    """The weight file after the package was built again, from itself, with an array."""
    package = folder / "A.mlpackage"
    original = miltext.load(package) if package.exists() else None
    made = f'            w = const()[val = $npy("{file}")];'
    text = source(folder, program(function("tensor<fp16, [2]> x", "x, w", made)))
    told: list[int] = []
    expected: list[int] = []

    def expect(size: Callable[[], int]) -> None:
        expected.append(size())

    build(text, package, original=original, force=True, progress=told.append, expect=expect)
    assert [sum(told)] == expected
    found = miltext.load(package).weights["w"]
    np.testing.assert_array_equal(found, np.load(folder / file))
    return (package / WEIGHTS).read_bytes()


@pytest.mark.parametrize("arranged", [np.ascontiguousarray, np.asfortranarray])
def test_an_unchanged_array_leaves_the_weight_file_as_it_is(
    arranged: Callable[[npt.NDArray[Any]], npt.NDArray[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "PIECE", 16)
    array_at(tmp_path / "w.npy", arranged(NUMBERS))
    first = edited(tmp_path)
    assert edited(tmp_path) == first
    assert edited(tmp_path) == first


@pytest.mark.parametrize("place", [0, 20, 39])
def test_a_changed_array_is_added_and_the_old_one_is_found_again(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "PIECE", 16)
    array_at(tmp_path / "w.npy", NUMBERS)
    first = edited(tmp_path)
    other = NUMBERS.copy()
    other.flat[place] = 99
    array_at(tmp_path / "v.npy", other)
    both = edited(tmp_path, "v.npy")
    assert both[64:].startswith(first[64:])
    assert len(both) > len(first)
    assert edited(tmp_path, "w.npy") == both
    assert edited(tmp_path, "v.npy") == both


def test_equal_bytes_of_another_type_are_another_record(tmp_path: Path) -> None:
    array_at(tmp_path / "w.npy", np.zeros(8, np.float16))
    for name, size, kind in (("a.npy", 4, "f4"), ("b.npy", 4, "f2"), ("c.npy", 16, "i1")):
        array_at(tmp_path / name, np.zeros(size, kind))
        before = len(edited(tmp_path))
        assert len(edited(tmp_path, name)) > before
    with BlobFile(tmp_path / "A.mlpackage" / WEIGHTS) as file:
        assert [(blob.dtype.name, blob.count) for blob in file] == [("fp16", 8), ("fp32", 4), ("fp16", 4), ("int8", 16)]


def test_a_literal_that_is_moved_is_found_too(tmp_path: Path) -> None:
    array_at(tmp_path / "w.npy", np.ones(4, np.float16))
    first = edited(tmp_path)
    literal = "tensor<fp16, [4]>([1, 1, 1, 1])"
    made = f'            tensor<fp16, [4]> w = const()[name = string("w"), val = {literal}];'
    text = source(tmp_path, program(function("tensor<fp16, [2]> x", "x, w", made)))
    package = tmp_path / "A.mlpackage"
    build(text, package, original=miltext.load(package), force=True, externalize=2)
    assert (package / WEIGHTS).read_bytes() == first
    np.testing.assert_array_equal(miltext.load(package).weights["w"], np.ones(4))


def test_records_behind_a_damaged_one_are_not_looked_for(tmp_path: Path) -> None:
    """The damage is not in what the program names, so that it keeps nothing from being added."""
    array_at(tmp_path / "w.npy", NUMBERS)
    array_at(tmp_path / "v.npy", NUMBERS + 1)
    first = len(edited(tmp_path))
    edited(tmp_path, "v.npy")
    path = tmp_path / "A.mlpackage" / WEIGHTS
    data = bytearray(path.read_bytes())
    data[64 + 4] = 255  # the type of the first record
    path.write_bytes(data)
    text = source(tmp_path, text_with("w.npy", is_draft=True))
    build(text, tmp_path / "A.mlpackage", original=miltext.load(tmp_path / "A.mlpackage"), force=True)
    assert len(path.read_bytes()) >= len(data) + first - 64
