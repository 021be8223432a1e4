"""Weight files: read and written as coremltools does, and every lie in one found."""

from __future__ import annotations

import hashlib
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.weight_records import header, record, refused

from miltext.schema import tensors
from miltext.schema.dtypes import BY_BLOB, BY_NAME, DTYPES, DType, packed_size
from miltext.schema.packing import pack
from miltext.weight_files import blob_storage as weights
from miltext.weight_files.blob_storage import BlobFile, BlobWriter
from miltext.weight_files.statistics import Statistics, statistics

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("MILTEXT_CORPUS", ROOT.parent / "shared" / "corpus"))
STORED = list(BY_BLOB.values())
NOT_IN_COREMLTOOLS = {"bf16", "fp8e4m3fn", "fp8e5m2"}  # its Python reader and writer have no methods for these
COREMLTOOLS = [dtype for dtype in STORED if dtype.name not in NOT_IN_COREMLTOOLS]

Values = list[tuple[DType, "np.ndarray[Any, Any]"]]


def random_array(dtype: DType, count: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Elements as `Blob.array` gives them, every bit pattern among them."""
    random = np.random.default_rng(seed)
    if dtype.kind == "float":
        return random.integers(0, 1 << dtype.bits, count, f"u{dtype.bits // 8}").view(dtype.numpy)
    return random.integers(dtype.minimum, dtype.maximum, count, np.int64, endpoint=True).astype(dtype.numpy)


def write(path: Path, values: Values) -> list[int]:
    with BlobWriter(path) as writer:
        return [writer.add(dtype, array) for dtype, array in values]


def same(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> bool:
    """Equal bit for bit: a NaN has a sign and a payload too."""
    return (left.dtype, left.shape, left.tobytes()) == (right.dtype, right.shape, right.tobytes())


def values_of(dtypes: list[DType]) -> st.SearchStrategy[Values]:
    sizes, seeds = st.integers(0, 200), st.integers(0, 1 << 32)
    value = st.tuples(st.sampled_from(dtypes), sizes, seeds).map(lambda drawn: (drawn[0], random_array(*drawn)))
    return st.lists(value, max_size=6)


in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@in_one_folder
@given(values=values_of(STORED))
def test_written_output_is_read(tmp_path: Path, values: Values) -> None:
    path = tmp_path / "weight.bin"
    offsets = write(path, values)
    with BlobFile(path) as file:
        blobs = list(file)
        assert len(file) == len(values)
        assert [blob.offset for blob in blobs] == offsets
        for blob, offset, (dtype, array) in zip(blobs, offsets, values, strict=True):
            assert (blob.dtype, blob.count, blob.size) == (dtype, array.size, packed_size(array.size, dtype.bits))
            assert blob.data == file.blob(offset).data == pack(array, dtype)
            assert same(blob.array(), array)
            assert blob.digest() == hashlib.sha256(dtype.name.encode() + pack(array, dtype)).hexdigest()


@in_one_folder
@given(values=values_of(STORED))
def test_a_copy_is_the_same_file(tmp_path: Path, values: Values) -> None:
    write(tmp_path / "a.bin", values)
    with BlobFile(tmp_path / "a.bin") as file, BlobWriter(tmp_path / "b.bin") as writer:
        assert [writer.copy(blob) for blob in file] == [blob.offset for blob in file]
    assert (tmp_path / "b.bin").read_bytes() == (tmp_path / "a.bin").read_bytes()


@pytest.mark.parametrize("dtype", STORED, ids=lambda dtype: dtype.name)
def test_pieces_are_the_whole(tmp_path: Path, dtype: DType, monkeypatch: pytest.MonkeyPatch) -> None:
    array = random_array(dtype, 1003)
    write(tmp_path / "whole.bin", [(dtype, array)])
    monkeypatch.setattr(weights, "CHUNK", 16)
    monkeypatch.setattr(tensors, "CHUNK", 16)
    seen: list[int] = []
    with BlobWriter(tmp_path / "pieces.bin", progress=seen.append) as writer:
        writer.add(dtype, array)
    assert (tmp_path / "pieces.bin").read_bytes() == (tmp_path / "whole.bin").read_bytes()
    assert (len(seen), sum(seen)) == (63, packed_size(1003, dtype.bits))
    with BlobFile(tmp_path / "pieces.bin") as file:
        chunks = list(file.blob(64).chunks())
    assert [len(chunk) for chunk in chunks] == [16] * 62 + [11]
    assert same(np.concatenate(chunks), array)


@pytest.mark.parametrize(
    "array", [np.arange(24, dtype="f4").reshape(4, 6).T, np.arange(48, dtype="f4")[::2], np.array(7, "f4")]
)
def test_arrays_are_written_in_c_order(
    tmp_path: Path, array: np.ndarray[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "CHUNK", 8)
    write(tmp_path / "weight.bin", [(BY_NAME["fp32"], array)])
    with BlobFile(tmp_path / "weight.bin") as file:
        assert same(file.blob(64).array(array.shape), np.ascontiguousarray(array).reshape(array.shape))


def test_the_shape_must_have_as_many_elements(tmp_path: Path) -> None:
    write(tmp_path / "weight.bin", [(BY_NAME["uint3"], np.arange(6))])
    with BlobFile(tmp_path / "weight.bin") as file:
        blob = file.blob(64)
    assert blob.array((2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert blob.require(BY_NAME["uint3"], 6) is blob
    with refused("MIL309", "offset 64", "6 elements", "7"):
        blob.array((7, 1))
    with refused("MIL309", "offset 64", "uint3", "uint4"):
        blob.require(BY_NAME["uint4"], 6)


def test_arrays_are_views_of_the_file_and_outlive_it(tmp_path: Path) -> None:
    write(tmp_path / "weight.bin", [(BY_NAME["fp32"], np.ones(5, "f4"))])
    with BlobFile(tmp_path / "weight.bin") as file:
        array = file.blob(64).array()
        assert np.shares_memory(array, np.frombuffer(file.blob(64).data, "f4"))
    assert array.tolist() == [1] * 5
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 2


# ---- beside coremltools


@pytest.fixture(scope="module")
def storage() -> Any:
    return pytest.importorskip("coremltools.libmilstoragepython", reason="coremltools writes no weight files here")


def method(dtype: DType) -> str:
    return "float" if dtype.name == "fp32" else dtype.name


def write_by_coremltools(storage: Any, path: Path, values: Values) -> list[int]:
    writer = storage._BlobStorageWriter(str(path))
    return [
        getattr(writer, f"write_{method(dtype)}_data")(array.view("u2") if dtype.name == "fp16" else array)
        for dtype, array in values
    ]


@pytest.mark.parametrize("dtype", COREMLTOOLS, ids=lambda dtype: dtype.name)
def test_one_type_both_directions(storage: Any, tmp_path: Path, dtype: DType) -> None:
    values = [(dtype, random_array(dtype, count, count)) for count in (1, 2, 3, 7, 8, 9, 63, 64, 65, 1001)]
    offsets = write_by_coremltools(storage, tmp_path / "theirs.bin", values)
    with BlobFile(tmp_path / "theirs.bin") as file:
        for blob, offset, (_, array) in zip(file, offsets, values, strict=True):
            assert (blob.offset, blob.dtype) == (offset, dtype)
            assert same(blob.array(), array)
    assert write(tmp_path / "ours.bin", values) == offsets
    reader = storage._BlobStorageReader(str(tmp_path / "ours.bin"))
    for offset, (_, array) in zip(offsets, values, strict=True):
        theirs = getattr(reader, f"read_{method(dtype)}_data")(offset)
        assert theirs.tobytes() == array.tobytes()


@in_one_folder
@given(values=values_of(COREMLTOOLS))
def test_our_bytes_are_coremltools_bytes(storage: Any, tmp_path: Path, values: Values) -> None:
    theirs = write_by_coremltools(storage, tmp_path / "theirs.bin", values)
    assert write(tmp_path / "ours.bin", values) == theirs
    assert (tmp_path / "ours.bin").read_bytes() == (tmp_path / "theirs.bin").read_bytes()


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus of real models here")
def test_real_weight_files_are_copied_to_the_byte(tmp_path: Path) -> None:
    paths = sorted(CORPUS.glob("bundles/**/weight*.bin"))
    assert paths
    for path in paths:
        with BlobFile(path) as file, BlobWriter(tmp_path / "copy.bin") as writer:
            for blob in file:
                writer.copy(blob)
        assert (tmp_path / "copy.bin").read_bytes() == path.read_bytes()


# ---- writing


def test_an_empty_file_of_weights(tmp_path: Path) -> None:
    BlobWriter(tmp_path / "weight.bin").close()
    assert (tmp_path / "weight.bin").read_bytes() == header(0)
    with BlobFile(tmp_path / "weight.bin") as file:
        assert list(file) == []


def test_packed_bytes_are_stored_as_they_are(tmp_path: Path) -> None:
    with BlobWriter(tmp_path / "weight.bin") as writer:
        writer.add_packed(BY_NAME["uint3"], b"\xd1\xd8", 1)  # the spare bit is set
        with refused("MIL308", "2 bytes with 0 bits of padding are not whole uint3"):
            writer.add_packed(BY_NAME["uint3"], b"\xd1\x58")
        with refused("MIL308", "8 bits"):
            writer.add_packed(BY_NAME["uint1"], b"\1", 8)
    with BlobFile(tmp_path / "weight.bin") as file:
        (blob,) = file
    assert (bytes(blob.data), blob.padding_bits, blob.array().tolist()) == (b"\xd1\xd8", 1, [1, 2, 3, 4, 5])


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.blob is None], ids=lambda dtype: dtype.name)
def test_types_that_no_weight_file_has(tmp_path: Path, dtype: DType) -> None:
    with BlobWriter(tmp_path / "weight.bin") as writer, refused("MIL308", dtype.name):
        writer.add(dtype, np.ones(2, dtype.numpy))


def test_a_record_that_failed_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values: Values = [
        (BY_NAME["int4"], np.arange(3)),
        (BY_NAME["int8"], np.arange(5)),
        (BY_NAME["fp16"], np.ones(2, "f2")),
    ]
    write(tmp_path / "clean.bin", values)
    monkeypatch.setattr(weights, "CHUNK", 64)
    with BlobWriter(tmp_path / "weight.bin") as writer:
        for dtype, array in values:
            writer.add(dtype, array)
            with refused("MIL308", "values from -1 to 128 do not fit int8"):
                writer.add(BY_NAME["int8"], np.array([-1] * 200 + [128]))
    assert (tmp_path / "weight.bin").read_bytes() == (tmp_path / "clean.bin").read_bytes()


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "weight.bin"
    write(path, [(BY_NAME["int8"], np.arange(5))])
    old = path.read_bytes()
    seen = []

    def interrupt(_: int) -> None:
        seen.append(path.read_bytes())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), BlobWriter(path, progress=interrupt) as writer:
        writer.add(BY_NAME["int8"], np.arange(9))
    assert seen == [old]
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["weight.bin"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows replaces no file that is mapped")
def test_a_file_may_be_rewritten_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "weight.bin"
    write(path, [(BY_NAME["int8"], np.arange(5)), (BY_NAME["int8"], np.arange(9))])
    with BlobFile(path) as file, BlobWriter(path) as writer:
        writer.copy(file.blob(192))
    with BlobFile(path) as file:
        assert [blob.count for blob in file] == [9]


# ---- summaries


@pytest.mark.parametrize("dtype", STORED, ids=lambda dtype: dtype.name)
def test_a_summary_of_every_type(tmp_path: Path, dtype: DType, monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = {"bf16": (0x3F80, 0xC000, 0x4080), "fp8e4m3fn": (0x38, 0xC0, 0x48), "fp8e5m2": (0x3C, 0xC0, 0x44)}
    numbers = [1, -2, 4] if dtype.kind == "float" else [dtype.maximum, dtype.minimum, 1]
    array = np.array(patterns.get(dtype.name, numbers), dtype.numpy)
    write(tmp_path / "weight.bin", [(dtype, np.tile(array, 11))])
    monkeypatch.setattr(tensors, "CHUNK", 8)
    with BlobFile(tmp_path / "weight.bin") as file:
        summary = statistics(file.blob(64))
        beginning = statistics(file.blob(64), most=9)
    assert summary == Statistics(min(numbers), max(numbers), sum(numbers) / 3, numbers.count(0) / 3, 33)
    assert beginning == summary._replace(elements=9)
    assert type(summary.minimum) is (float if dtype.kind == "float" else int)


def test_a_summary_of_odd_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "CHUNK", 8)
    rows = [[1, math.inf], [1, math.inf, -math.inf], [1] * 8 + [math.nan] + [1] * 8, [65504] * 1000, []]
    offsets = write(tmp_path / "weight.bin", [(BY_NAME["fp16"], np.array(row, "f2")) for row in rows])
    with BlobFile(tmp_path / "weight.bin") as file:
        infinite, both, nan, large, nothing = (statistics(file.blob(offset)) for offset in offsets)
    assert infinite == Statistics(1, math.inf, math.inf, 0, 2)
    assert repr(both) == "Statistics(minimum=-inf, maximum=inf, mean=nan, zeros=0.0, elements=3)"
    assert repr(nan) == "Statistics(minimum=nan, maximum=nan, mean=nan, zeros=0.0, elements=17)"
    assert large == Statistics(65504, 65504, 65504, 0, 1000)
    assert nothing is None


# ---- large files


def anonymous_memory() -> int:
    """RssAnon of this process, in bytes."""
    status = Path("/proc/self/status")
    found = re.search(r"RssAnon:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else pytest.skip("no RssAnon on this system")


def test_large_files_stay_on_disk(tmp_path: Path) -> None:
    before, path, far = anonymous_memory(), tmp_path / "weight.bin", 5 << 30
    with open(path, "wb") as sparse:
        sparse.write(header(3) + record(number=4, size=1 << 28))
        sparse.seek(far)
        sparse.write(record(number=11, size=1, start=far + 64) + b"\x21")
        sparse.seek(128 + (1 << 28))
        sparse.write(record(number=3, size=far - 192 - (1 << 28), start=192 + (1 << 28)))
    most = 0

    def measure(_: object) -> None:
        nonlocal most
        most = max(most, anonymous_memory() - before)

    with BlobFile(path) as file, BlobWriter(tmp_path / "copy.bin", progress=measure) as writer:
        large, huge, last = file
        assert huge.array().size == huge.count > 1 << 32
        assert (last.offset, last.dtype.name) == (far, "uint4")
        assert file.blob(far).array().tolist() == [1, 2]
        assert statistics(large) == Statistics(0, 0, 0, 1, large.count)
        measure(large.digest())
        writer.copy(large)
        writer.add(large.dtype, large.array()[: 1 << 27].reshape(2, -1).T)
    assert (tmp_path / "copy.bin").stat().st_size == 3 * 64 + (1 << 28) + (1 << 27)
    assert 0 <= most < 64 << 20
