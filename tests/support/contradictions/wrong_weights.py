"""Contradictions between a program and its weight files: the files, their headers and records, and the offsets."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path
from typing import Any, NamedTuple

from support.containers import LFS
from support.contradictions.contradicted import Case, Inapplicable, contradiction, equivalent

from miltext.schema.dtypes import BY_BLOB
from miltext.schema.walk import Held
from miltext.weight_files.blob_storage import BlobFile
from miltext.weight_files.model_weights import blob_values

FITS = "each weight is a record of its type and length"
FORMAT = "StorageFormat.hpp: the layout of blob storage version 2"


class Record(NamedTuple):
    """A record that a value of the program names."""

    file: Path
    held: Held
    offset: int
    start: int
    size: int

    @property
    def name(self) -> str:
        return f"`{self.held.name}` (`{self.file.name}`)"


def records(case: Case) -> list[Record]:
    """All records that the program names."""
    found = []
    for held in blob_values(case.program):
        named = held.value.blobFileValue
        path = case.inner / named.fileName.removeprefix("@model_path/")
        with BlobFile(path) as file:
            blob = file.blob(named.offset)
            found.append(Record(path, held, named.offset, blob.start, blob.size))
    return found


def any_record(case: Case) -> Record:
    return case.pick(records(case))


def last_record(case: Case) -> Record:
    """The last record of one of the files."""
    file = any_record(case).file
    return max((each for each in records(case) if each.file == file), key=lambda each: each.start)


def patch(path: Path, offset: int, layout: str, *values: Any) -> None:
    data = bytearray(path.read_bytes())
    struct.pack_into(layout, data, offset, *values)
    path.write_bytes(data)


# ---- files


@contradiction("weights", "a file missing", "the program names it")
def _missing(case: Case) -> str:
    found = any_record(case)
    found.file.unlink()
    return f"no {found.name}"


@contradiction("weights", "the folder missing", "the program names files in it")
def _no_folder(case: Case) -> str:
    found = any_record(case)
    shutil.rmtree(found.file.parent)
    return f"no folder of {found.name}"


@contradiction("weights", "a file cut at any place", FITS)
def _cut(case: Case) -> str:
    found = last_record(case)
    size = case.random.randrange(1, found.start + found.size)
    os.truncate(found.file, size)
    return f"{found.name} cut at {size}"


@contradiction("weights", "the last record cut short", FITS)
def _last_cut(case: Case) -> str:
    found = last_record(case)
    size = found.start + found.size - case.random.randint(1, found.size)
    os.truncate(found.file, size)
    return f"{found.name} cut at {size}"


@contradiction("weights", "an empty file", FITS)
def _empty(case: Case) -> str:
    found = any_record(case)
    found.file.write_bytes(b"")
    return f"{found.name} is empty"


@contradiction("weights", "a git-lfs pointer", FITS)
def _pointer(case: Case) -> str:
    found = any_record(case)
    found.file.write_bytes(LFS)
    return f"{found.name} is a pointer"


@contradiction("weights", "random bytes", FITS)
def _random(case: Case) -> str:
    found = any_record(case)
    found.file.write_bytes(case.random.randbytes(found.file.stat().st_size))
    return f"{found.name} is random"


@contradiction("weights", "zeros", FITS)
def _zeros(case: Case) -> str:
    found = any_record(case)
    found.file.write_bytes(bytes(found.file.stat().st_size))
    return f"{found.name} is zeros"


@contradiction("weights", "a folder for a file", FITS)
def _folder(case: Case) -> str:
    found = any_record(case)
    found.file.unlink()
    found.file.mkdir()
    return f"{found.name} is a folder"


@contradiction("weights", "a link for a file", "a package that is copied leaves the target of a link behind")
def _link(case: Case) -> str:
    found = any_record(case)
    target = case.folder.parent / "elsewhere.bin"
    found.file.replace(target)
    found.file.symlink_to(target)
    return f"{found.name} is a link"


@contradiction("weights", "a link to nothing", FITS)
def _dangling(case: Case) -> str:
    found = any_record(case)
    found.file.unlink()
    found.file.symlink_to(case.folder.parent / "nowhere.bin")
    return f"{found.name} is a link to nothing"


# ---- the header and records


@contradiction("weights", "another version", FORMAT)
def _version(case: Case) -> str:
    found = any_record(case)
    version = case.pick([0, 1, 3, 2**31])
    patch(found.file, 4, "<I", version)
    return f"{found.name} of version {version}"


@contradiction("weights", "another count of records", FORMAT)
def _count(case: Case) -> str:
    found = any_record(case)
    with BlobFile(found.file) as file:
        count = len(file)
    other = case.pick(each for each in (0, count - 1, count + 1, 2**31) if each != count)
    patch(found.file, 0, "<I", other)
    return f"{found.name} with {other} records, not {count}"


@contradiction("weights", "a record's mark", FORMAT)
def _mark(case: Case) -> str:
    found = any_record(case)
    patch(found.file, found.offset + case.random.randrange(4), "<B", 0x11)
    return f"{found.name} at {found.offset} without its mark"


@contradiction("weights", "a record of another type", FITS)
def _type(case: Case) -> str:
    found = any_record(case)
    before = struct.unpack_from("<I", found.file.read_bytes(), found.offset + 4)[0]
    number = case.pick(each for each in BY_BLOB if each != before)
    patch(found.file, found.offset + 4, "<I", number)
    return f"{found.name} of the type {number}"


@contradiction("weights", "a record of an unknown type", FORMAT)
def _unknown_type(case: Case) -> str:
    found = any_record(case)
    patch(found.file, found.offset + 4, "<I", case.pick([0, 99, 2**31]))
    return f"{found.name} of an unknown type"


@contradiction("weights", "a record of another length", FITS)
def _length(case: Case) -> str:
    found = any_record(case)
    size = case.pick([0, found.size - 1, found.size // 2, found.size + 1, found.size * 2, 2**40])
    if size == found.size:
        raise Inapplicable
    patch(found.file, found.offset + 8, "<Q", size)
    return f"{found.name} of {size} bytes"


@contradiction("weights", "data past the end", FITS)
def _past_end(case: Case) -> str:
    found = any_record(case)
    start = case.pick([found.file.stat().st_size, 2**40, 2**64 - 64])
    patch(found.file, found.offset + 16, "<Q", start)
    return f"{found.name} with data at {start}"


@contradiction("weights", "data that is not aligned", FORMAT)
def _unaligned(case: Case) -> str:
    found = any_record(case)
    patch(found.file, found.offset + 16, "<Q", found.start - case.pick([1, 2, 32]))
    return f"{found.name} with data that is not aligned"


@contradiction("weights", "data before its record", FORMAT)
def _before(case: Case) -> str:
    found = any_record(case)
    patch(found.file, found.offset + 16, "<Q", case.pick([0, found.offset]))
    return f"{found.name} with data before it"


@contradiction("weights", "two records with one data", "records do not overlap")
def _overlap(case: Case) -> str:
    one = any_record(case)
    other = case.pick(
        each for each in records(case) if each.file == one.file and each.offset != one.offset and each.size <= one.size
    )
    patch(one.file, other.offset + 16, "<Q", one.start)
    return f"{other.name} with the data of {one.name}"


@contradiction("weights", "a padding that does not fit", "the padding is that of the last byte")
def _padding(case: Case) -> str:
    packed = [each for each in records(case) if _dtype(each).packed]
    found = case.pick(packed)
    patch(found.file, found.offset + 24, "<Q", case.pick([7, 8, 64]))
    return f"{found.name} with another padding"


def _dtype(found: Record) -> Any:
    return BY_BLOB[struct.unpack_from("<I", found.file.read_bytes(), found.offset + 4)[0]]


# ---- what the program names


@contradiction("weights", "an offset of no record", FITS)
def _offset(case: Case) -> str:
    found = any_record(case)
    known = {each.offset for each in records(case)}
    found.held.value.blobFileValue.offset = case.pick(
        each
        for each in (0, 1, found.offset + 1, found.offset + 64, found.offset - 64, 2**40)
        if each not in known and each >= 0
    )
    return f"{found.name} at {found.held.value.blobFileValue.offset}"


@contradiction("weights", "the offset of another record", FITS)
def _other_offset(case: Case) -> str:
    found = any_record(case)
    others = [
        each
        for each in records(case)
        if each.file == found.file and (each.size, _dtype(each)) != (found.size, _dtype(found))
    ]
    found.held.value.blobFileValue.offset = case.pick(others).offset
    return f"{found.name} at {found.held.value.blobFileValue.offset}"


@contradiction("weights", "another file name", "the file is in the package")
def _name(case: Case) -> str:
    named = any_record(case).held.value.blobFileValue
    named.fileName = case.pick(["@model_path/weights/other.bin", "@model_path/weight.bin", "@model_path/weights"])
    return f"the program names `{named.fileName}`"


@contradiction("weights", "a file name outside the package", "the file is in the package")
def _name_outside(case: Case) -> str:
    named = any_record(case).held.value.blobFileValue
    inner = named.fileName.removeprefix("@model_path/")
    named.fileName = case.pick(["", inner, f"/{inner}", "/etc/passwd", f"@model_path/../{inner}", "@model_path/"])
    return f"the program names `{named.fileName}`"


@contradiction("weights", "a weight of another shape", FITS)
def _shape(case: Case) -> str:
    found = any_record(case)
    case.pick(found.held.value.type.tensorType.dimensions).constant.size += 1
    return f"{found.name} of another shape"


# ---- any value is right


@equivalent("weights", "other numbers", "a weight may be any number")
def _numbers(case: Case) -> str:
    found = any_record(case)
    patch(found.file, found.start + case.random.randrange(found.size), "<B", case.random.randrange(256))
    return f"other numbers in {found.name}"


@equivalent("weights", "a record that nothing uses", "exporters leave such behind")
def _unused(case: Case) -> str:
    found = last_record(case)
    data = found.file.read_bytes()
    with BlobFile(found.file) as file:
        count = len(file)
    data += bytes(-len(data) % 64)
    data += struct.pack("<IIQQQ32x", 0xDEADBEEF, 2, 64, len(data) + 64, 0) + bytes(64)
    found.file.write_bytes(struct.pack("<I", count + 1) + data[4:])
    return f"a record more in {found.name}"


@equivalent("weights", "reserved bytes", "StorageFormat.hpp: reserved, and left uninitialised")
def _reserved(case: Case) -> str:
    found = any_record(case)
    patch(found.file, case.pick([8, 40, found.offset + 40]), "<B", 1)
    return f"reserved bytes in {found.name}"


@equivalent("weights", "bytes after the last record", "they belong to no record")
def _longer(case: Case) -> str:
    found = last_record(case)
    found.file.write_bytes(found.file.read_bytes() + bytes(64))
    return f"zeros after {found.name}"
