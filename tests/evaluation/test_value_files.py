"""Arrays in files: what is written is read back equal, by numpy too, and nothing is unpickled."""

from __future__ import annotations

import pickle
import warnings
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import miltext
from miltext.evaluation.value_files import Unstorable, npz_pieces, read_archive, read_array, value_pieces

VALUES: dict[str, Any] = {
    "matrix": np.arange(6, dtype=np.float32).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
    "strided": np.arange(40, dtype=np.float16).reshape(4, 10)[::2, ::3],
    "scalar": np.array(3.5, np.float16),
    "none": np.zeros((0, 3)),
    "bools": np.array([True, False]),
    "large": np.arange(300_000, dtype=np.int64),
    "label": np.array("cat", object),
    "labels": np.array([["a", "bé\n"], ["", "ccc"]], object),
    "no labels": np.array([], object),
    "a/b": np.array([2**64 - 1], "uint64"),
    "../up.npy": np.zeros(1),
    "é": np.zeros(1),
    "": np.zeros(1),
}
DICTIONARIES: dict[str, Any] = {
    "of strings": {"b": 0.5, "a\n": float("inf")},
    "of integers": {2**40: 0.25},
    "empty": {},
}


def write(path: Path, values: dict[str, Any]) -> Path:
    path.write_bytes(b"".join(npz_pieces(values.items())))
    return path


@pytest.mark.parametrize("name", VALUES)
def test_an_array_is_read_back_equal(name: str, tmp_path: Path) -> None:
    value, path = VALUES[name], tmp_path / "x.npy"
    path.write_bytes(b"".join(value_pieces(value)))
    for read in (read_array(path), read_archive(write(tmp_path / "x.npz", {name: value}))[name]):
        assert (read.dtype, read.shape) == (value.dtype, value.shape)
        assert np.array_equal(read, value)
    if value.dtype != object:
        assert np.array_equal(np.load(path), value)


@pytest.mark.parametrize("name", DICTIONARIES)
def test_a_dictionary_is_read_back_equal(name: str, tmp_path: Path) -> None:
    assert read_archive(write(tmp_path / "x.npz", {"p": DICTIONARIES[name]})) == {"p": DICTIONARIES[name]}


def test_numpy_reads_all_of_an_archive_without_pickles(tmp_path: Path) -> None:
    with np.load(write(tmp_path / "x.npz", {**VALUES, **DICTIONARIES}), allow_pickle=False) as archive:
        assert {*archive} == {*VALUES, *DICTIONARIES}
        assert str(archive["label"]) == "cat"
        assert dict(archive["of strings"].tolist()) == DICTIONARIES["of strings"]
        assert np.array_equal(archive["matrix"], VALUES["matrix"])
    assert read_archive(write(tmp_path / "none.npz", {})) == {}


def test_the_same_values_make_the_same_bytes(tmp_path: Path) -> None:
    assert b"".join(npz_pieces(VALUES.items())) == b"".join(npz_pieces(VALUES.items()))


def test_a_list_is_an_array_if_its_elements_are_alike(tmp_path: Path) -> None:
    same, other = [np.zeros(2), np.ones(2)], [None, np.zeros(2), np.ones(3)]
    assert np.array_equal(read_archive(write(tmp_path / "x.npz", {"l": same}))["l"], np.stack(same))
    assert read_archive(write(tmp_path / "x.npz", {"l": []}))["l"].size == 0
    read = read_archive(write(tmp_path / "x.npz", {"l": other, "none": [None, None]}))
    assert {name: array.tolist() for name, array in read.items()} == {"l/1": [0, 0], "l/2": [1, 1, 1]}
    for unlike in (other, [None]):
        with pytest.raises(Unstorable, match="several shapes"):
            b"".join(value_pieces(unlike))


NAMES: dict[str, tuple[list[str], str]] = {
    "too long": (["n" * 65532], "has 65536 bytes in an .npz, and may have 65535"),
    "too long in UTF-8": (["n", "ä" * 32766], "has 65536 bytes"),
    "a null character": (["a\0b"], "cannot hold the name"),
    "half of a character": (["a\ud800"], "cannot hold the name"),
    "twice": (["a", "b", "a"], "two arrays of an .npz would have the name `a`"),
    "an element of a list": (["l/1", "l"], "two arrays of an .npz would have the name"),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_name_that_an_archive_cannot_have_is_refused(case: str) -> None:
    names, said = NAMES[case]
    values = [(name, [None, np.zeros(2)] if name == "l" else np.zeros(2)) for name in names]
    with pytest.raises(Unstorable, match=said) as caught:
        b"".join(npz_pieces(values))
    assert len(str(caught.value)) < 400


def test_the_longest_name_that_an_archive_has(tmp_path: Path) -> None:
    for name in ("n" * 65531, "", "a\\b", "../a", "ä"):
        assert [*read_archive(write(tmp_path / "x.npz", {name: np.zeros(2)}))] == [name]


@pytest.mark.parametrize("value", [np.array(["a\0"], object), {"a\0": 0.5}])
def test_a_string_that_numpy_would_cut_is_refused(value: Any) -> None:
    with pytest.raises(Unstorable, match="null character"):
        b"".join(value_pieces(value))


@pytest.mark.parametrize("saved", [np.savez, np.savez_compressed])
def test_files_saved_by_numpy_are_read(saved: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    arrays = {"a": np.arange(3, dtype=">i4"), "b": np.asfortranarray(np.ones((2, 3))), "e": np.zeros((2, 0))}
    saved(path, **arrays)
    read = read_archive(path)
    assert {name: array.tolist() for name, array in read.items()} == {n: a.tolist() for n, a in arrays.items()}
    assert read["a"].dtype == np.int32


class Trap:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("it was unpickled",))


def npy(array: Any, **options: Any) -> bytes:
    made = BytesIO()
    np.save(made, array, **options)
    return made.getvalue()


def members(*named: tuple[str, bytes]) -> bytes:
    made = BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as archive:
        warnings.simplefilter("ignore")  # of one name twice
        for name, data in named:
            archive.writestr(name, data)
    return made.getvalue()


ONE = npy(np.zeros(3, np.float32))
NOT_NPY = {
    "empty": (b"", "does not begin like a .npy"),
    "text": (b"1 2 3", "does not begin like a .npy"),
    "pickle": (pickle.dumps(Trap()), "does not begin like a .npy"),
    "archive": (members(("a.npy", ONE)), "it is an archive"),
    "objects": (npy(np.array([Trap()], object), allow_pickle=True), "pickled Python objects, which are never loaded"),
    "fields": (npy(np.zeros(2, [("key", "O"), ("value", "f8")]), allow_pickle=True), "pickled Python objects"),
    "complex": (npy(np.zeros(2, complex)), "complex128"),
    "dates": (npy(np.zeros(2, "M8[s]")), "datetime64"),
    "cut": (ONE[:-1], "declares 12 bytes of data, but there are 11"),
    "longer": (ONE + b"x", "declares 12 bytes of data, but there are 13"),
    "huge": (ONE.replace(b"(3,), }" + b" " * 15, b"(9999999999999999,), }"), "bytes of data, but there are 12"),
    "header": (ONE[:9], "ends within its header"),
}


@pytest.mark.parametrize("name", [*NOT_NPY, "absent", "folder"])
def test_a_file_that_is_not_an_array_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    if name == "folder":
        path.mkdir()
    elif name != "absent":
        path.write_bytes(NOT_NPY[name][0])
    said = {"absent": "does not exist", "folder": "it is a folder"}.get(name) or NOT_NPY[name][1]
    refused(read_array, path, said)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "does not begin like a .npz"),
        (ONE, "does not begin like a .npz"),
        (b"PK\3\4 and nothing else", "not a zip file"),
        (members(("a.npy", ONE), ("b.txt", b"hello")), "its array `b.txt`: it does not begin like a .npy"),
        (members(("a.npy", ONE), ("a.npy", ONE)), "2 members of that name"),
        (members(("o.npy", NOT_NPY["objects"][0])), "its array `o`: its elements are pickled Python objects"),
        (members(("a.npy", ONE))[:-40], "not a zip file"),
    ],
)
def test_a_file_that_is_not_an_archive_is_refused(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(data)
    refused(read_archive, path, said)


def refused(read: Any, path: Path, said: str) -> None:
    with pytest.raises(miltext.MiltextError) as caught:
        read(path)
    assert (caught.value.diagnostics[0].code, caught.value.path) == ("MIL836", str(path))
    assert said in caught.value.diagnostics[0].message


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    data = bytearray(members(("a.npy", ONE)))
    data[data.index(b"NUMPY") + 130] ^= 1
    (tmp_path / "x.npz").write_bytes(data)
    refused(read_archive, tmp_path / "x.npz", "Bad CRC-32")
