"""Arrays in files beside a text: types and shapes from their headers, and their data in pieces."""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.test_build_text import built
from support.array_files import npy_of, safetensors, sparse_npy, tensor, text_of

from miltext.arrays import opening, stored
from miltext.arrays.converting import UnfitElement, converted, holds
from miltext.arrays.headers import Headers
from miltext.arrays.npz import npz_headers
from miltext.arrays.opening import ArrayFolder, open_array
from miltext.diagnostics import MiltextError, ModelError
from miltext.diagnostics.home import install
from miltext.parsing.lowering.arrays import ArrayReference
from miltext.schema.dtypes import BY_NAME, DType
from miltext.schema.packing import decode, encode, unpack
from miltext.schema.tensors import InType

NPY = ArrayReference("$npy", "w.npy")


def saved(folder: Path, array: npt.NDArray[Any]) -> ArrayReference:
    np.save(folder / "w.npy", array)
    return NPY


def read(folder: Path, reference: ArrayReference, dtype: str | None = None) -> npt.NDArray[Any]:
    """The elements of an array as a value of the type has them."""
    found = open_array(reference, folder)
    kind = BY_NAME[dtype] if dtype else found.dtype
    data = b"".join(found.pieces(kind))
    assert len(data) == InType(found, kind).size
    return unpack(data, kind, found.header.number).reshape(found.shape)


def refused(code: str, folder: Path, reference: ArrayReference, dtype: str | None = None) -> str:
    with pytest.raises(ModelError) as failure:
        read(folder, reference, dtype)
    (found,) = failure.value.diagnostics
    assert found.code == code
    assert found.notes
    assert str(reference) in found.message
    return found.message


def test_a_reference_is_shown_as_it_is_written() -> None:
    assert str(NPY) == '$npy("w.npy")'
    assert str(ArrayReference("$npz", 'a "b".npz', "k\n", "fp16")) == 'fp16 $npz("a \\"b\\".npz", "k\\n")'


TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2), (7,), (3, 5), (2, 3, 4)])
def test_every_type_is_read_as_it_is(
    kind: str, order: str, shape: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "PIECE", 8)
    array = (np.arange(np.prod(shape, dtype=int)) * 37 % 113).astype(order + kind).reshape(shape)
    reference = saved(tmp_path, array)
    found = open_array(reference, tmp_path)
    assert (found.shape, found.dtype.bits) == (shape, array.itemsize * 8)
    assert found.dtype.kind[0] == ("b" if kind == "?" else kind[0])
    made = read(tmp_path, reference)
    assert made.dtype == array.dtype.newbyteorder("<")
    assert np.array_equal(made, array)


# ---- the order of elements

SHAPES = [
    (3, 5),
    (5, 3),
    (1, 9),
    (9, 1),
    (2, 3, 4),
    (4, 3, 2, 5),
    (17, 1, 6),
    (2, 2, 2, 2, 2),
    (31, 2),
    (2, 31),
    (8, 8),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("box", [8, 16, 64, 400, 1 << 20])
@pytest.mark.parametrize("kind", ["<f4", ">i2", "|u1", "<f8"])
def test_fortran_order_becomes_c_order(
    kind: str, box: int, shape: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "BOX", box)
    monkeypatch.setattr(stored, "BOX", box)
    monkeypatch.setattr(stored, "PIECE", 8)
    array = np.asfortranarray(np.arange(np.prod(shape)).reshape(shape).astype(kind))
    reference = saved(tmp_path, array)
    found = open_array(reference, tmp_path)
    assert found.header.fortran == (sum(size > 1 for size in shape) > 1)
    assert np.array_equal(read(tmp_path, reference), array)
    done: list[int] = []
    pieces = b"".join(found.pieces(progress=done.append, folder=tmp_path))
    assert len(pieces) + sum(done) == found.work(found.dtype)
    assert [path.name for path in tmp_path.iterdir()] == ["w.npy"]
    np.savez_compressed(tmp_path / "w.npz", k=array)
    assert np.array_equal(read(tmp_path, ArrayReference("$npz", "w.npz", "k")), array)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=5), st.integers(1, 300))
def test_boxes_hold_each_element_once(shape: list[int], most: int) -> None:
    sides = stored.sides_of_box(shape, most)
    assert np.prod(sides) <= most
    corners = product(*(range(0, size, side) for size, side in zip(shape, sides, strict=True)))
    seen: list[int] = []
    for corner in corners:
        box = [min(side, size - first) for side, size, first in zip(sides, shape, corner, strict=True)]
        for start, count in stored.runs(corner, box, shape):
            seen += range(start, start + count)
    assert sorted(seen) == list(range(int(np.prod(shape))))


@pytest.mark.parametrize("shape", [(1 << 15, 1 << 15), (1 << 7, 1 << 23), (1 << 23, 1 << 7), (2, 1 << 29), (1 << 10, 1 << 10, 32, 32)])  # fmt: skip  # noqa: E501
def test_a_large_box_is_not_read_or_written_in_small_pieces(shape: tuple[int, ...]) -> None:
    sides = stored.sides_of_box(shape, stored.BOX // 4)
    start = tuple(0 for _ in shape)
    for order in (1, -1):
        (_, count), *_ = stored.runs(start[::order], sides[::order], shape[::order])
        assert count >= min(512, shape[::order][0])


def test_sub_byte_fortran_arrays_are_packed_in_c_order(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(35).reshape(5, 7) % 8)
    assert np.array_equal(read(tmp_path, saved(tmp_path, array), "uint3"), array)


# ---- archives and safetensors


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_the_arrays_of_an_archive(save: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "PIECE", 8)
    arrays = {"a": np.arange(30, dtype=np.float16).reshape(5, 6), "block/c": np.array(3), "ü": np.zeros((1, 2), bool)}
    nothing = np.zeros((0, 2), bool)
    save(tmp_path / "w.npz", **arrays, nothing=nothing)
    folder = ArrayFolder(tmp_path)
    for key, array in arrays.items():
        found = folder.open(ArrayReference("$npz", "w.npz", key))
        assert found.shape == array.shape
        assert np.array_equal(read(tmp_path, found.reference), array)
    said = refused("MIL416", tmp_path, ArrayReference("$npz", "w.npz", "blok/c"))
    assert 'the file has 4 arrays ("a", "block/c", "ü", "nothing"), none with this key; did you mean' in said
    assert '`"block/c"`?' in said
    many: dict[str, Any] = {f"layer{number}": np.ones(1) for number in range(9)}
    np.savez(tmp_path / "many.npz", **many)
    said = refused("MIL416", tmp_path, ArrayReference("$npz", "many.npz", "w"))
    assert 'the file has 9 arrays ("layer0", "layer1", "layer2", "layer3", "layer4", ...), none with this key' in said


def test_file_missing_is_reported_with_folder_and_near_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path, np.ones(2))
    (tmp_path / "w").mkdir()
    np.save(tmp_path / "w" / "weight_1.npy", np.ones(2))
    (tmp_path / "w" / "weight_2.npy").mkdir()
    (tmp_path / "w" / "weight_3.npy").symlink_to("nowhere")
    folder, listed = ArrayFolder(tmp_path), []

    def scan(path: Path, scan: Any = os.scandir) -> Any:
        listed.append(path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scan)
    for name, near in [
        ("ww.npy", '; did you mean `"w.npy"`?'),
        ("w/weight1.npy", '; did you mean `"w/weight_1.npy"`?'),
        ("w/weight_3.npy", '; did you mean `"w/weight_1.npy"`?'),
        ("quite_other.npy", ""),
        ("none/w.npy", ""),
        ("w.npy/w.npy", ""),
    ]:
        with pytest.raises(ModelError) as failure:
            folder.open(ArrayReference("$npy", name))
        [found] = failure.value.diagnostics
        message = f'`$npy("{name}")` cannot be read: the file does not exist in "{tmp_path}"{near}'
        assert (found.code, found.message) == ("MIL413", message)
    assert listed == [tmp_path, tmp_path / "w", tmp_path / "none", tmp_path / "w.npy"]


SAFE = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "F8_E5M2": "fp8e5m2", "F8_E4M3": "fp8e4m3fn", "I16": "int16",
    "U16": "uint16", "F16": "fp16", "BF16": "bf16", "I32": "int32", "U32": "uint32", "F32": "fp32", "F64": "fp64",
    "I64": "int64", "U64": "uint64",
}  # fmt: skip


@pytest.mark.parametrize("name", SAFE)
def test_every_type_of_safetensors_is_read_bit_for_bit(name: str, tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    dtype = BY_NAME[SAFE[name]]
    size = 6 * dtype.bits // 8
    data = bytes([1, 0] * 3) if name == "BOOL" else np.random.default_rng(1).bytes(size)
    header = {"z": tensor(name, [2, 3], 3, 3 + size), "a": tensor("U8", [3], 0, 3), "e": tensor(name, [0, 9], 3, 3)}
    (tmp_path / "w.safetensors").write_bytes(safetensors(header, b"abc" + data))
    folder = ArrayFolder(tmp_path)
    found = folder.open(ArrayReference("$safetensors", "w.safetensors", "z"))
    assert (found.dtype, found.shape, b"".join(found.pieces())) == (dtype, (2, 3), data)
    said = refused("MIL414", tmp_path, ArrayReference("$safetensors", "w.safetensors", "e"))
    assert "it has no elements: its shape is [0, 9]" in said


def test_files_written_by_the_package_are_read(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    arrays: dict[str, npt.NDArray[Any]] = {
        "layer.0.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
        "scalar": np.array(2, np.int8),
    }
    numpy.save_file(arrays, tmp_path / "w.safetensors", metadata={"by": "a test"})
    for key, array in arrays.items():
        assert np.array_equal(read(tmp_path, ArrayReference("$safetensors", "w.safetensors", key)), array)
    said = refused("MIL416", tmp_path, ArrayReference("$safetensors", "w.safetensors", "layer.0.wieght"))
    assert 'did you mean `"layer.0.weight"`?' in said
    refused("MIL416", tmp_path, ArrayReference("$safetensors", "w.safetensors", "__metadata__"))


def test_safetensors_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "w.safetensors").write_bytes(safetensors({}))
    monkeypatch.setitem(sys.modules, "safetensors", None)
    reference = ArrayReference("$safetensors", "w.safetensors", "w")
    assert "not installed" in refused("MIL419", tmp_path, reference)
    with pytest.raises(ModelError, match=re.escape(install("safetensors"))):
        open_array(reference, tmp_path)


def test_the_header_of_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays: dict[str, Any] = {f"k{number}": np.array(number) for number in range(50)}
    np.savez(tmp_path / "w.npz", **arrays)
    times: list[str] = []

    def counted(file: BinaryIO) -> Headers:
        times.append(file.name)
        return npz_headers(file)

    monkeypatch.setitem(opening.READERS, "$npz", counted)
    folder = ArrayFolder(tmp_path)
    assert len({folder.open(ArrayReference("$npz", "w.npz", f"k{number}")).identity for number in range(50)}) == 50
    assert len(times) == 1


# ---- data types


def floats_of(dtype: DType) -> list[Fraction]:
    """The finite numbers of a type that are not negative, by their bit patterns."""
    unsigned = np.arange(1 << dtype.bits - 1, dtype=f"u{dtype.bits // 8}").view(dtype.numpy)
    return [Fraction(float(value)) for value in decode(unsigned, dtype) if np.isfinite(value)]


def nearest(value: Fraction, numbers: list[Fraction]) -> int | None:
    """The pattern of the nearest number, of two the even one; None if it is beyond the greatest."""
    place = bisect(numbers, value)
    if place == len(numbers):
        last, step = numbers[-1], numbers[-1] - numbers[-2]
        beyond = value - last > step / 2 or (value - last == step / 2 and (place - 1) % 2 == 1)
        return None if beyond else place - 1
    low, high = value - numbers[place - 1], numbers[place] - value
    return place - 1 if low < high or (low == high and (place - 1) % 2 == 0) else place


@pytest.mark.parametrize("name", ["fp8e4m3fn", "fp8e5m2", "bf16", "fp16"])
def test_numbers_are_rounded_once_to_the_nearest(name: str) -> None:
    dtype = BY_NAME[name]
    numbers = floats_of(dtype)
    random = np.random.default_rng(7)
    between = [(one + other) / 2 for one, other in pairwise(numbers)]
    some = [between[place] for place in random.integers(0, len(between), 500)]
    near = [one * (1 + sign * Fraction(1, 1 << 40)) for one in some for sign in (-1, 0, 1)]
    values = [value for value in near if Fraction(float(value)) == value]
    values += [Fraction(float(number)) for number in np.exp2(random.uniform(-150, 130, 500))]
    values += [numbers[-1], numbers[1] / 2, numbers[1] / 2 * (1 + Fraction(1, 1 << 50)), Fraction(0)]
    step = numbers[-1] - numbers[-2]
    values += [numbers[-1] + step * part for part in (Fraction(49, 100), Fraction(1, 2), Fraction(51, 100), 1)]
    for value in values:
        wanted = nearest(value, numbers)
        for sign in (1, -1):
            array = np.array([sign * float(value)])
            if wanted is None:
                with pytest.raises(UnfitElement):
                    converted(array, BY_NAME["fp64"], dtype)
            else:
                made = converted(array, BY_NAME["fp64"], dtype).view(f"u{dtype.bits // 8}")[0]
                assert made == wanted + (sign < 0) * (1 << dtype.bits - 1), (float(value), sign)


def test_large_integers_are_rounded_once() -> None:
    numbers = floats_of(BY_NAME["bf16"])
    tie = (1 << 60) + (1 << 52)
    for value in (tie, tie + 1, tie - 1, tie + (1 << 53), tie + (1 << 53) - 1, (1 << 62) + 12345, (1 << 53) + 1, 7):
        for kind in ("int64", "uint64"):
            made = converted(np.array([value], kind), BY_NAME[kind], BY_NAME["bf16"])
            assert made[0] == nearest(Fraction(value), numbers), value
        made = converted(np.array([-value]), BY_NAME["int64"], BY_NAME["bf16"])
        assert made[0] - (1 << 15) == nearest(Fraction(value), numbers), value


@pytest.mark.parametrize("name", ["fp8e4m3fn", "fp8e5m2", "bf16"])
def test_every_bit_pattern_is_kept(name: str) -> None:
    dtype = BY_NAME[name]
    patterns = np.arange(1 << dtype.bits, dtype=dtype.numpy)
    values = decode(patterns, dtype)
    again = encode(values, dtype)
    assert np.array_equal(np.isnan(values), np.isnan(decode(again, dtype)))
    assert np.array_equal(again[~np.isnan(values)], patterns[~np.isnan(values)])


INFINITIES = np.array([1.0, -np.inf, np.inf, np.nan, -0.0])


@pytest.mark.parametrize("source", ["fp64", "fp32", "fp16", "bf16", "fp8e5m2"])
@pytest.mark.parametrize("target", ["fp64", "fp32", "fp16", "bf16", "fp8e5m2"])
def test_infinities_and_nans_stay_unchanged(source: str, target: str) -> None:
    elements = converted(INFINITIES, BY_NAME["fp64"], BY_NAME[source])
    made = decode(converted(elements, BY_NAME[source], BY_NAME[target]), BY_NAME[target])
    assert np.array_equal(made, INFINITIES, equal_nan=True)
    assert np.signbit(made[4])


CONVERSIONS: list[tuple[str, npt.NDArray[Any], str]] = [
    ("fp16", np.array([[1.0, 65519.0], [1e-9, -2.5]], np.float32), "fp32"),
    ("fp32", np.array([1e-50, 1 / 3, 3e38]), "fp64"),
    ("int32", np.array([-(1 << 31), (1 << 31) - 1]), "int64"),
    ("int4", np.array([-8.0, 7.0], np.float16), "fp16"),
    ("uint8", np.array([0, 255], np.uint64), "uint64"),
    ("fp16", np.array([3, -7], np.int64), "int64"),
    ("fp32", np.array([True, False]), "bool"),
    ("bool", np.array([0, 1], np.int8), "int8"),
    ("bool", np.array([0.0, 1.0]), "fp64"),
    ("uint64", np.array([0.0, 2.0**63]), "fp64"),
    ("fp16", np.array([(1 << 24) + 1], np.float32) / 1024, "fp32"),
]


@pytest.mark.parametrize(("target", "array", "source"), CONVERSIONS)
def test_an_array_is_converted_where_requested(
    target: str, array: npt.NDArray[Any], source: str, tmp_path: Path
) -> None:
    saved(tmp_path, array)
    assert open_array(NPY, tmp_path).dtype.name == source
    asked = NPY._replace(dtype=target)
    assert (open_array(asked, tmp_path).dtype.name, open_array(asked, tmp_path).shape) == (target, array.shape)
    assert np.array_equal(read(tmp_path, asked), array.astype(BY_NAME[target].numpy))


LOSSES: list[tuple[str, npt.NDArray[Any], str]] = [
    ("fp16", np.array([[1, 2], [65520, 3]], np.float32), "the element [1, 0] of `fp16 $npy(\"w.npy\")` is 65520.0, but fp16 has numbers up to 65504"),  # noqa: E501
    ("fp32", np.array([1e39]), "1e+39, but fp32 has numbers up to 3.4028235e+38"),
    ("bf16", np.array([3.4e38], np.float32), "numbers up to 3.3895314e+38"),
    ("fp8e4m3fn", np.array([448, 465], np.float32), "the element [1] of `fp8e4m3fn $npy(\"w.npy\")` is 465.0, but fp8e4m3fn has numbers up to 448"),  # noqa: E501
    ("fp8e4m3fn", np.array([np.inf]), "is inf"),
    ("fp8e5m2", np.array([61440.0]), "numbers up to 57344"),
    ("int8", np.array([1.5]), "is 1.5, but int8 has whole numbers from -128 to 127"),
    ("int8", np.array([np.nan]), "is nan"),
    ("int32", np.array([np.inf], np.float16), "is inf"),
    ("int32", np.array(1 << 31), "the element of `int32 $npy(\"w.npy\")` is 2147483648"),
    ("uint8", np.array([-1], np.int8), "is -1, but uint8 has whole numbers from 0 to 255"),
    ("int64", np.array([2.0**63]), "9.223372036854776e+18"),
    ("int64", np.array([1 << 63], np.uint64), "is 9223372036854775808"),
    ("bool", np.array([0, 2], np.uint8), "is 2, but bool has 0 and 1"),
    ("bool", np.array([0.5]), "is 0.5"),
    ("fp16", np.array([1 << 20]), "is 1048576"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "array", "saying"), LOSSES)
def test_a_value_that_a_type_does_not_have_is_named_by_its_index(
    target: str, array: npt.NDArray[Any], saying: str, tmp_path: Path
) -> None:
    saved(tmp_path, array)
    assert saying in refused("MIL417", tmp_path, NPY._replace(dtype=target))


def test_the_index_counts_across_pieces_and_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "PIECE", 8)
    monkeypatch.setattr(stored, "BOX", 64)
    array = np.zeros((7, 5, 3), np.float32)
    array[6, 2, 1] = 1e9
    for each in (array, np.asfortranarray(array)):
        saved(tmp_path, each)
        assert "[6, 2, 1]" in refused("MIL417", tmp_path, NPY._replace(dtype="fp16"))


def test_a_hundred_axes_are_as_good_as_two(tmp_path: Path) -> None:
    """numpy's arrays have 64 axes at most, in old versions 32; a header may have more."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    array[1, 2] = 1e9
    shape = (2, *[1] * 98, 3)
    (tmp_path / "w.npy").write_bytes(npy_of(shape, array.tobytes("F"), fortran=True))
    found = open_array(NPY, tmp_path)
    assert (found.shape, b"".join(found.pieces())) == (shape, array.tobytes())
    with pytest.raises(ModelError, match=r"\[1, 0, .*, 0, 2\]"):
        read(tmp_path, NPY._replace(dtype="fp16"))


def test_a_byte_that_is_not_a_truth_value_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.npy").write_bytes(npy_of((2,), b"\1\2", descr="|b1"))
    for dtype in (None, "bool", "fp16", "int8"):
        assert "[1]" in refused("MIL417", tmp_path, NPY._replace(dtype=dtype))


def test_type_that_no_weight_file_has_is_not_read_if_it_is_large(tmp_path: Path) -> None:
    shape = ((1 << 28) + 1,)
    sparse_npy(tmp_path / "w.npy", shape, "<f8")
    with pytest.raises(MiltextError, match=r"model\.mil:4:\d+: error\[MIL308\].*2147483656 bytes are too many"):
        built(text_of('$npy("w.npy")', "fp64", shape), tmp_path)


def test_possible_bit_patterns_are_not_converted(tmp_path: Path) -> None:
    for target, kind in (("bf16", np.uint16), ("fp8e4m3fn", np.uint8), ("fp8e5m2", np.uint8)):
        array = np.arange(8, dtype=kind)
        saved(tmp_path, array)
        assert f"tensor<{target}, [...]>($npy" in refused("MIL412", tmp_path, NPY._replace(dtype=target))
        assert np.array_equal(read(tmp_path, NPY, target), array)  # as the value's type says
    saved(tmp_path, np.arange(8, dtype=np.int16))
    assert np.array_equal(decode(read(tmp_path, NPY._replace(dtype="bf16")), BY_NAME["bf16"]), np.arange(8))
    refused("MIL412", tmp_path, NPY._replace(dtype="string"))


def test_the_types_that_a_value_takes_as_they_are(tmp_path: Path) -> None:
    """Without being asked, only what loses nothing whatever the values are, and integers in the range."""
    names = [name for name in BY_NAME if name != "string"]
    for source in ("bool", "int64", "uint8", "uint16", "fp16", "fp32", "fp64", "bf16", "fp8e4m3fn", "fp8e5m2"):
        taken = {name for name in names if holds(BY_NAME[name], BY_NAME[source])}
        assert taken == {source, *TAKEN[source]}, source
    saved(tmp_path, np.zeros(2, np.uint16))
    assert "converts" not in refused("MIL412", tmp_path, NPY._replace(dtype="fp32"), "bf16")  # it may be bit patterns
    assert "converts" not in refused("MIL412", tmp_path, NPY, "string")
    saved(tmp_path, np.zeros(2, np.float32))
    assert '`fp16 $npy("w.npy")` converts them' in refused("MIL412", tmp_path, NPY, "fp16")


INTEGERS = {name for name, dtype in BY_NAME.items() if dtype.kind in ("int", "uint")}
TAKEN = {
    "bool": set[str](),
    "int64": INTEGERS,
    "uint8": INTEGERS | {"fp8e4m3fn", "fp8e5m2"},
    "uint16": INTEGERS | {"bf16"},
    "fp16": {"fp32", "fp64"},
    "fp32": {"fp64"},
    "fp64": set[str](),
    "bf16": {"fp32", "fp64"},
    "fp8e4m3fn": {"fp16", "bf16", "fp32", "fp64"},
    "fp8e5m2": {"fp16", "bf16", "fp32", "fp64"},
}


def test_a_nan_keeps_its_payload_where_nothing_is_converted(tmp_path: Path) -> None:
    patterns = np.array([0x7FA00001, 0xFFC12345, 0x80000000], np.uint32)
    found = open_array(saved(tmp_path, patterns.view(np.float32)), tmp_path)
    assert b"".join(found.pieces()) == patterns.tobytes()
