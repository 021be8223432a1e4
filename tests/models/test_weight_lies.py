"""Weight files that lie: each field is checked, and the error names file, offset and what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.weight_records import header, record, refused

from miltext.weight_files.blob_storage import BlobFile

DATA = np.arange(16, dtype="<f4").tobytes()


@pytest.mark.parametrize(
    ("metadata", "code", "saying"),
    [
        (record(sentinel=0xDEADBEEE), "MIL305", "found 0xdeadbeee"),
        (record(sentinel=0xEFBEADDE), "MIL305", "found 0xefbeadde"),
        (record(number=0), "MIL306", "unknown data type 0"),
        (record(number=18), "MIL306", "unknown data type 18"),
        (record(number=2**32 - 1), "MIL306", "unknown data type 4294967295"),
        (record(size=65), "MIL306", "65 bytes at 128, outside the file of 192 bytes"),
        (record(size=2**64 - 64), "MIL306", "outside the file"),  # with the start a sum of 64 bits wraps to 64
        (record(start=192), "MIL306", "64 bytes at 192, outside"),
        (record(start=2**64 - 1), "MIL306", "outside the file"),
        (record(start=2**64 - 64), "MIL306", "outside the file"),
        (record(start=0), "MIL306", "outside"),
        (record(start=63), "MIL306", "outside"),
        (record(size=62), "MIL306", "not whole fp32 elements"),
        (record(number=8, padding=3), "MIL306", "not whole int4 elements"),
        (record(number=8, padding=8), "MIL306", "8 bits of padding"),
        (record(number=9, padding=8), "MIL306", "8 bits of padding"),
        (record(number=9, padding=2**64 - 1), "MIL306", "18446744073709551615 bits of padding"),
        (record(number=9, size=0, padding=1), "MIL306", "0 bytes with 1 bits"),
        (record(number=12), "MIL306", "not whole uint3 elements"),
    ],
)
def test_a_field_that_lies(tmp_path: Path, metadata: bytes, code: str, saying: str) -> None:
    path = tmp_path / "weight.bin"
    path.write_bytes(header() + metadata + DATA)
    with BlobFile(path) as file:
        for reading in (lambda: file.blob(64), lambda: list(file)):
            with refused(code, "offset 64", saying, "note: ") as failure:
                reading()
            assert str(failure.value).startswith(str(path))


def test_fields_that_mean_nothing_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "weight.bin"
    path.write_bytes(header() + record(padding=2**63 + 5, reserved=2**64 - 1) + DATA)  # as before iOS 18
    with BlobFile(path) as file:
        (blob,) = file
    assert (blob.padding_bits, blob.count) == (0, 16)


@pytest.mark.parametrize("offset", [-64, -1, 0, 1, 63, 65, 96, 127, 192, 256, 2**32 + 64, 2**63, 2**64 - 64, 2**80])
def test_an_offset_where_no_record_can_be(tmp_path: Path, offset: int) -> None:
    path = tmp_path / "weight.bin"
    path.write_bytes(header() + record() + DATA)
    with BlobFile(path) as file, refused("MIL305", f"offset {offset}"):
        file.blob(offset)


def test_metadata_that_the_file_ends_in(tmp_path: Path) -> None:
    (tmp_path / "weight.bin").write_bytes(header() + record()[:63])
    with BlobFile(tmp_path / "weight.bin") as file, refused("MIL305", "offset 64", "ends at 127"):
        file.blob(64)


@pytest.mark.parametrize(
    ("content", "code", "saying"),
    [
        (b"", "MIL304", "empty"),
        (b"\2", "MIL304", "1 bytes"),
        (header()[:63], "MIL304", "63 bytes"),
        (header(version=1), "MIL304", "neural networks"),
        (header(version=3), "MIL304", "version 3"),
        (b"\x93NUMPY" + bytes(200), "MIL304", "not a weight file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n", "MIL303", "git-lfs"),
        (b"version https://git-lfs.github.com/spec/v1\n", "MIL303", "git lfs pull"),
    ],
)
def test_files_that_are_not_weight_files(tmp_path: Path, content: bytes, code: str, saying: str) -> None:
    path = tmp_path / "weight.bin"
    path.write_bytes(content)
    with refused(code, saying) as failure:
        BlobFile(path)
    assert str(failure.value).startswith(str(path))


def test_a_count_that_lies(tmp_path: Path) -> None:
    path = tmp_path / "weight.bin"
    for count, code, saying in ((2, "MIL305", "offset 192"), (2**32 - 1, "MIL305", "offset 192"), (0, "MIL307", "64")):
        path.write_bytes(header(count) + record() + DATA)
        with BlobFile(path) as file, refused(code, saying):
            for _ in file:
                pass
    path.write_bytes(header(2**32 - 1) + record() + DATA)
    with BlobFile(path) as file, refused("MIL307", "4294967295 records", "192 bytes"):
        list(file)  # which asks how many there are, to make room for them


def test_data_elsewhere_is_read_and_not_listed_wrongly(tmp_path: Path) -> None:
    path = tmp_path / "weight.bin"
    path.write_bytes(header(2) + DATA + record(start=64) + record(start=64))
    with BlobFile(path) as file:
        assert file.blob(128).array().tolist() == file.blob(192).array().tolist() == list(range(16))
    path.write_bytes(header(2) + record(start=64) + DATA)
    with BlobFile(path) as file, refused("MIL307", "offset 64", "before the record itself"):
        list(file)
