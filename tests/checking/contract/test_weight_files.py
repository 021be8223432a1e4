"""`check` reports each fault of a weight file that a program uses, at its record, in packages and compiled models."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from support.weight_records import header, record
from support.weighted import DATA, WEIGHT, build, function_of, numbers, program_of, text_model, write_weights

import miltext
from miltext.checking.contract.files import MOST
from miltext.checking.contract.whole import whole_findings
from miltext.containers.opening import open_model
from miltext.diagnostics import Diagnostic, codes

A, B, C = 64, 256, 448
END = 592
"""The offsets of the records of `a`, `b` and `c`, of 80 bytes each, and the size of the file."""

Change = Callable[[bytes], bytes]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    offsets = write_weights(tmp_path / "source" / WEIGHT, [numbers(each) for each in (1, 2, 3)])
    assert offsets == [A, B, C]
    text = program_of(function_of(dict(zip("abc", [(WEIGHT, each) for each in offsets], strict=True))))
    build(text_model(text, tmp_path / "source"), tmp_path / "M.mlpackage")
    return tmp_path / "M.mlpackage"


def found_in(path: Path) -> list[Diagnostic]:
    """The findings about weight files, each at the file."""
    files = whole_findings(open_model(path))
    told = [(file.path, each) for file in files for each in file.diagnostics]
    kept = [(name, each) for name, each in told if each.code in (codes.DAMAGED_WEIGHTS, codes.MISSING_WEIGHTS)]
    assert all(name.endswith("weight.bin") for name, _ in kept)
    return [each for _, each in kept]


def patched(offset: int, data: bytes) -> Change:
    return lambda whole: whole[:offset] + data + whole[offset + len(data) :]


def of(offset: int, number: int = 1, size: int = 80, start: int | None = None) -> Change:
    """Replace the record at an offset."""
    return patched(offset, record(number=number, size=size, start=offset + 64 if start is None else start))


def both(*changes: Change) -> Change:
    def change(data: bytes) -> bytes:
        for each in changes:
            data = each(data)
        return data

    return change


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n"

FAULTS: dict[str, tuple[Change, list[str]]] = {
    "empty": (lambda _: b"", ["error: the weight file is empty (used by `a`, `b` and `c`)"]),
    "short": (lambda data: data[:40], ["error: the file has 40 bytes, but the header of a weight file has 64"]),
    "pointer": (lambda _: LFS, ["error: this is a git-lfs pointer instead of the weight file"]),
    "random": (lambda _: bytes(range(256)) * 4, ["error: this is not a weight file: its header has version 117835012"]),
    "version 1": (lambda data: header(3, 1) + data[64:], ["error: this is blob storage version 1"]),
    "version 7": (patched(4, b"\7"), ["error: this is not a weight file: its header has version 7 instead of 2"]),
    "cut in the last data": (
        lambda data: data[: END - 1],
        ["error: `weights/weight.bin` at 0x1c0, used by `c`: the record refers to 80 bytes at 512, outside the file"],
    ),
    "cut in the last record": (
        lambda data: data[: C + 63],
        ["error: `weights/weight.bin` at 0x1c0, used by `c`: no record at offset 448: the file ends at 511"],
    ),
    "cut after the header": (
        lambda data: data[:64],
        [f"error: `weights/weight.bin` at {each:#x}" for each in (A, B, C)],
    ),
    "two magics": (
        both(patched(A, bytes(4)), patched(C, bytes(4))),
        [
            "error: `weights/weight.bin` at 0x40, used by `a`: no record: found 0x00000000 instead of 0xdeadbeef",
            "error: `weights/weight.bin` at 0x1c0, used by `c`: no record",
        ],
    ),
    "unknown type, outside": (
        of(B, number=99, start=1 << 40),
        ["error: `weights/weight.bin` at 0x100, used by `b`: the record has the unknown data type 99", "error: "],
    ),
    "another type": (
        of(B, number=6),
        ["error: `weights/weight.bin` at 0x100, used by `b`: the record holds 40 elements of int16, not 40 of fp16"],
    ),
    "another length": (of(B, size=78), ["error: `weights/weight.bin` at 0x100, used by `b`: the record holds 39"]),
    "half an element": (of(B, size=79), ["error: `weights/weight.bin` at 0x100, used by `b`: the record has 79 bytes"]),
    "no data": (of(B, size=0), ["error: ", "error: `weights/weight.bin` at 0x100, used by `b`: the record holds 0"]),
    "in the header": (of(B, start=0), ["error: `weights/weight.bin` at 0x100, used by `b`: the record refers to"]),
    "padding of another type": (
        patched(B, record(number=8, size=20, start=320, padding=9)),
        ["error"],
    ),
    "data not aligned": (
        both(lambda data: data + bytes(80), of(C, start=514)),
        ["warning: `weights/weight.bin` at 0x1c0, used by `c`: the data begin at 0x202, which is not a multiple of 64"],
    ),
    "data of another": (
        of(B, start=128),
        [
            "warning: `weights/weight.bin` at 0x100, used by `b`: the data begin at 0x80, before the end of the record",
            "warning: `weights/weight.bin` at 0x100, used by `b`: the data (0x80 to 0xd0) overlap the data (0x80 to",
        ],
    ),
    "data over a record": (
        of(A, start=192),
        [
            "warning: `weights/weight.bin` at 0x100, used by `b`: the record (0x100 to 0x140) overlaps the data",
        ],
    ),
    "fewer counted": (
        patched(0, b"\1"),
        ["warning: `weights/weight.bin` at 0x0: the header counts 1 records, but another begins at 0x100"],
    ),
    "more counted": (
        patched(0, b"\4"),
        ["warning: `weights/weight.bin` at 0x0: the header counts 4 records, but there are 3"],
    ),
}


@pytest.mark.parametrize("kind", ["mlpackage", "mlmodelc", "mlmodel"])
@pytest.mark.parametrize(("change", "expected"), FAULTS.values(), ids=FAULTS)
def test_each_fault_of_a_weight_file(package: Path, kind: str, change: Change, expected: list[str]) -> None:
    model = package.with_suffix(f".{kind}")
    if kind != "mlpackage":
        miltext.build(open_model(package), model)
    file = model / DATA / WEIGHT if kind == "mlpackage" else (model.parent if kind == "mlmodel" else model) / WEIGHT
    assert found_in(model) == []
    file.write_bytes(change(file.read_bytes()))
    told = [f"{each.severity}: {each.message}" for each in found_in(model)]
    assert len(told) == len(expected)
    assert all(one.startswith(other) for one, other in zip(told, expected, strict=True)), told


@pytest.mark.parametrize("change", [lambda data: data + b"more", lambda data: data + bytes(640)], ids=["text", "zeros"])
def test_bytes_after_the_last_record_are_not_a_fault(package: Path, change: Change) -> None:
    file = package / DATA / WEIGHT
    file.write_bytes(change(file.read_bytes()))
    assert found_in(package) == []


def test_an_unused_record_is_not_a_fault(tmp_path: Path) -> None:
    offsets = write_weights(tmp_path / "source" / WEIGHT, [numbers(each) for each in range(5)])
    text = text_model(program_of(function_of({"a": (WEIGHT, offsets[3])})), tmp_path / "source")
    build(text, tmp_path / "M.mlpackage")
    copied = tmp_path / "M.mlpackage" / DATA / WEIGHT
    assert copied.read_bytes() == (tmp_path / "source" / WEIGHT).read_bytes()
    assert found_in(tmp_path / "M.mlpackage") == []


def replaced(made: Callable[[Path], object]) -> Callable[[Path], object]:
    """Remove the file, then make something else at its path."""

    def replace(file: Path) -> None:
        file.rename(file.parents[4] / "out.bin")
        made(file)

    return replace


PLACES: dict[str, tuple[Callable[[Path], object], str]] = {
    "absent": (Path.unlink, codes.MISSING_WEIGHTS),
    "folder absent": (lambda file: shutil.rmtree(file.parent), codes.MISSING_WEIGHTS),
    "a folder": (replaced(Path.mkdir), codes.MISSING_WEIGHTS),
    "link to nothing": (replaced(lambda file: os.symlink("gone.bin", file)), codes.MISSING_WEIGHTS),
    "link outside": (replaced(lambda file: os.symlink(file.parents[4] / "out.bin", file)), codes.DAMAGED_WEIGHTS),
    "a pipe": (replaced(os.mkfifo), codes.MISSING_WEIGHTS),
}


@pytest.mark.skipif(os.name == "nt", reason="links and pipes need rights on Windows")
@pytest.mark.parametrize(("change", "code"), PLACES.values(), ids=PLACES)
def test_a_file_in_no_place_is_one_finding(package: Path, change: Callable[[Path], object], code: str) -> None:
    change(package / DATA / WEIGHT)
    assert [each.code for each in found_in(package)] == [code]


def test_a_link_inside_the_package_is_not_a_fault(package: Path) -> None:
    file = package / DATA / WEIGHT
    file.rename(file.with_name("own.bin"))
    file.symlink_to("own.bin")
    assert found_in(package) == []


def test_many_faults_are_counted(tmp_path: Path) -> None:
    count = MOST + 7
    offsets = write_weights(tmp_path / "source" / WEIGHT, [numbers(each) for each in range(count)])
    places = {f"w{index}": (WEIGHT, offset) for index, offset in enumerate(offsets)}
    build(text_model(program_of(function_of(places)), tmp_path / "source"), tmp_path / "M.mlpackage")
    file = tmp_path / "M.mlpackage" / DATA / WEIGHT
    file.write_bytes(file.read_bytes().replace(struct.pack("<I", 0xDEADBEEF), bytes(4)))
    told = found_in(tmp_path / "M.mlpackage")
    assert len(told) == MOST + 1
    assert told[-1].message == "`weights/weight.bin`: faults of records that values use: 7 more"


def test_users_of_one_record_are_named_once(tmp_path: Path) -> None:
    (offset,) = write_weights(tmp_path / "source" / WEIGHT, [numbers(1)])
    places = dict.fromkeys("abcde", (WEIGHT, offset))
    functions = [function_of(places), function_of(places, "other")]
    build(text_model(program_of(*functions), tmp_path / "source"), tmp_path / "M.mlpackage")
    file = tmp_path / "M.mlpackage" / DATA / WEIGHT
    file.write_bytes(patched(offset, bytes(4))(file.read_bytes()))
    (told,) = found_in(tmp_path / "M.mlpackage")
    assert "used by `a`, `b`, `c` and 2 more: no record" in told.message
