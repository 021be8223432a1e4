"""Weight files: blob storage version 2, the `weight.bin` of an ML Program, read and written.

Little-endian: a header of 64 bytes, then records, each a metadata of 64 bytes at a multiple of 64 and its data. The
layout is from Apple's `MILBlob/Blob/StorageFormat.hpp`, published with coremltools, and the written files equal
coremltools 9.0's for the same values, byte for byte.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.diagnostics import codes
from miltext.files.contents import LFS_POINTER
from miltext.files.refusals import refusal
from miltext.files.staging import Staging
from miltext.files.writing import Progress, copy_pieces, copy_range
from miltext.schema.dtypes import BY_BLOB, DType, packed_size
from miltext.schema.tensors import CHUNK, Tensor, views_of
from miltext.weight_files.opening import map_file, open_regular

if TYPE_CHECKING:
    import numpy.typing as npt


ALIGNMENT = 64
"""Header, metadata and data start at multiples of this many bytes, which is also the length of the header and of a
metadata.
"""

SENTINEL = 0xDEADBEEF
VERSION = 2
SHORTER = "the file became shorter while it was read"

_ZEROS = bytes(CHUNK)

_HEADER = struct.Struct("<II56x")  # count, version
_RECORD = struct.Struct("<IIQQQ32x")  # sentinel, dtype, size, absolute offset of the data, padding bits


class RecordFault(NamedTuple):
    """An error in a weight file: its code, and a message that names no place."""

    code: str
    message: str


class Record(NamedTuple):
    """The metadata of a record, as stored at an offset: nothing in it need be true.

    `size` is in bytes, `start` the offset of the data, and `padding` the unused bits of their last byte.
    """

    offset: int
    sentinel: int
    number: int
    size: int
    start: int
    padding: int

    @property
    def dtype(self) -> DType | None:
        """The data type; None for an unknown one."""
        return BY_BLOB.get(self.number)

    @property
    def padding_bits(self) -> int:
        """The unused bits: files from before iOS 18 leave the field uninitialised, and have no sub-byte types."""
        return self.padding if self.dtype is not None and self.dtype.packed else 0

    @property
    def elements(self) -> int:
        """The number of elements; 0 of an unknown type."""
        return 0 if self.dtype is None else (self.size * 8 - self.padding_bits) // self.dtype.bits

    def faults(self, file_size: int, at: str = "") -> Iterator[RecordFault]:
        """Yield the errors for which Apple's `MILBlob/Blob/StorageReader.cpp` refuses a record; without the sentinel,
        there is no record. Messages name the record with the words `at` after it.
        """
        if self.sentinel != SENTINEL:
            yield RecordFault(
                codes.NO_RECORD_AT_OFFSET, f"no record{at}: found {self.sentinel:#010x} instead of {SENTINEL:#010x}"
            )
            return
        if self.dtype is None:
            yield RecordFault(codes.INVALID_RECORD, f"the record{at} has the unknown data type {self.number}")
        if self.start < ALIGNMENT or self.start + self.size > file_size:
            message = f"refers to {self.size} bytes at {self.start}, outside the file of {file_size} bytes"
            yield RecordFault(codes.INVALID_RECORD, f"the record{at} {message}")
        if self.dtype is not None and not _whole(self.dtype, self.size, self.padding_bits):
            message = f"has {self.size} bytes with {self.padding_bits} bits of padding"
            yield RecordFault(codes.INVALID_RECORD, f"the record{at} {message}: not whole {self.dtype.name} elements")


def place_fault(offset: int, file_size: int, at: str) -> RecordFault | None:
    """Return the reason why no record can be at an offset, named `at`; None if one can."""
    if offset < ALIGNMENT or offset % ALIGNMENT:
        message = f"a record cannot begin{at}, which is not a multiple of {ALIGNMENT} above 0"
        return RecordFault(codes.NO_RECORD_AT_OFFSET, message)
    if offset + ALIGNMENT > file_size:
        return RecordFault(codes.NO_RECORD_AT_OFFSET, f"no record{at}: the file ends at {file_size}")
    return None


def unlike(dtype: DType, count: int, wanted: DType, wanted_count: int, at: str = "") -> str | None:
    """Return the difference of a record from the elements of a value; None without one."""
    if (dtype, count) == (wanted, wanted_count):
        return None
    return f"the record{at} holds {count} elements of {dtype.name}, not {wanted_count} of {wanted.name}"


@dataclass(frozen=True, eq=False, slots=True)
class Blob(Tensor):
    """One record of a weight file: a tensor whose shape is not known.

    `offset` is that of its metadata, as in a BlobFileValue; `size` is in bytes; `padding_bits` of the last byte are
    unused; `data` is the packed bytes themselves, in the mapped file, which start at `start`.
    """

    path: Path = field()
    offset: int = field()
    dtype: DType = field()
    size: int = field()
    padding_bits: int = field()
    start: int = field()
    data: memoryview = field(repr=False)

    @property
    def count(self) -> int:
        """The number of elements."""
        return (self.size * 8 - self.padding_bits) // self.dtype.bits

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.count,)

    @property
    def identity(self) -> tuple[object, ...]:
        return self.path, self.offset

    def require(self, dtype: DType, count: int) -> Blob:
        """Return this blob if it holds `count` elements of `dtype`. Raise WeightsError (MIL309) if not."""
        message = unlike(self.dtype, self.count, dtype, count, f" at offset {self.offset}")
        if message is None:
            return self
        raise refusal(codes.MISFIT_RECORD, message, self.path)

    def array(self, shape: tuple[int, ...] | None = None) -> npt.NDArray[Any]:
        """Return the elements in the given shape, or flat, as any Tensor does.

        Raise WeightsError (MIL309) when the shape has another number of elements.
        """
        if shape is not None:
            self.require(self.dtype, prod(shape))
        return Tensor.array(self, shape)

    def views(self) -> Iterator[memoryview]:
        return views_of(self.data, self.dtype)

    def pieces(self, *_: object, **__: object) -> Iterator[bytes]:
        """Yield the packed elements, read from the file and not mapped: no more than a CHUNK of bytes is in memory."""
        return pieces_at(self.path, self.start, self.size, CHUNK - CHUNK % self.dtype.bits)


class BlobFile:
    """A weight file, mapped read-only: the system decides how much of it is in memory.

    Data and arrays stay valid after `close`; the mapping lasts as long as the last of them. The file must not be
    shortened meanwhile; it can be replaced, as BlobWriter does.

    Raise WeightsError: MIL302 when the file is missing, a link, or not a regular file, MIL303 or MIL304 when it is not
    blob storage version 2.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        mapping = map_file(self.path)
        self.size = len(mapping)
        self._count = _record_count(mapping[:ALIGNMENT], self.size, self.path)
        self._view = memoryview(mapping)

    def __enter__(self) -> BlobFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Existing blobs and arrays keep it mapped."""
        # Not mmap.close, which would pull the pages from under an array that holds them without a buffer export.
        self._view.release()

    def __len__(self) -> int:
        """Return the number of records in the header; raise WeightsError (MIL307) if the file has no room for them."""
        # `list` calls this, and would make room for a damaged header's count.
        if self._count > self.size // ALIGNMENT - 1:
            message = f"the header counts {self._count} records, too many for a file of {self.size} bytes"
            raise refusal(codes.WRONG_RECORD_COUNT, message, self.path)
        return self._count

    def __iter__(self) -> Iterator[Blob]:
        """Yield all records in the order of the file.

        Raise WeightsError: as `blob` does, and MIL307 for more records than the header counts, or for data before its
        record, after which the next place is unknown.
        """
        offset = ALIGNMENT
        for _ in range(self._count):
            blob = self.blob(offset)
            yield blob
            if blob.start < offset + ALIGNMENT:
                message = f"the data of the record at offset {offset} is before the record itself, at {blob.start}"
                raise refusal(codes.WRONG_RECORD_COUNT, message, self.path)
            offset = aligned(blob.start + blob.size)
        if self._view[offset : offset + 4] == struct.pack("<I", SENTINEL):
            message = f"the header counts {self._count} records, but another begins at offset {offset}"
            raise refusal(codes.WRONG_RECORD_COUNT, message, self.path)

    def blob(self, offset: int) -> Blob:
        """Return the record with its metadata at `offset` bytes.

        Raise WeightsError: MIL305 without a record there, MIL306 when its type is unknown, its data lies outside the
        file, or its size and padding are not of whole elements.
        """
        at = f" at offset {offset}"
        fault = place_fault(offset, self.size, at)
        if fault is None:
            record = Record(offset, *_RECORD.unpack_from(self._view, offset))
            fault = next(record.faults(self.size, at), None)
        if fault is not None:
            raise refusal(fault.code, fault.message, self.path)
        assert record.dtype is not None
        data = self._view[record.start : record.start + record.size]
        return Blob(self.path, offset, record.dtype, record.size, record.padding_bits, record.start, data)


class RecordFile:
    """The header and the records of a weight file, without their data: no more is read, and nothing is mapped.

    `count` is that of the header, `size` that of the file. Raise WeightsError as `BlobFile` does.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._file = open_regular(self.path)
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            if hasattr(os, "posix_fadvise"):  # the data after a record are not needed
                os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            self.count = _record_count(self._at(0), self.size, self.path)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> RecordFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def record(self, offset: int) -> Record:
        """Return the record at an offset that has room for one."""
        return Record(offset, *_RECORD.unpack(self._at(offset).ljust(ALIGNMENT, b"\0")))

    def _at(self, offset: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(ALIGNMENT)


class BlobWriter:
    """A weight file that is written record by record, without keeping it in memory.

    The file grows beside `path` and is moved there by `close`, or by leaving the `with` block; an exception in the
    block discards it and leaves `path` unchanged. `progress` is called with the number of data bytes of each piece
    written. With `after`, the file begins with the contents of that file at the same offsets; new records follow.

    Raise WeightsError (MIL308) for a value that cannot be stored, and OSError when the system cannot write.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        after: BlobFile | None = None,
    ) -> None:
        self.path = Path(path)
        self._progress = progress
        self._count = len(after) if after else 0
        self._before = self._end = ALIGNMENT
        self._is_littered = False
        self._staging = Staging(replace=True)
        self._file = open(self._staging.place(self.path), "xb")  # noqa: SIM115 - close or discard does it
        if after:
            self._begin_with(after)

    def __enter__(self) -> BlobWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def close(self) -> None:
        """Complete the file and move it to its path, if this has not been done."""
        if self._file.closed:
            return
        with self._staging:
            with self._file:
                self._file.truncate(self._end)
                self._file.seek(0)
                self._file.write(_HEADER.pack(self._count, VERSION))
                self._file.flush()
                os.fsync(self._file.fileno())
            self._staging.commit()

    def discard(self) -> None:
        """Remove the written file; `path` stays unchanged."""
        with suppress(OSError), self._staging:
            self._file.close()

    def advance(self, size: int) -> None:
        """Report a number of finished bytes."""
        if self._progress:
            self._progress(size)

    @property
    def growing(self) -> Path:
        """The growing file, with all added records."""
        self._file.truncate(self._end)
        return Path(self._file.name)

    def last_pieces(self) -> Iterator[bytes]:
        """Yield the data of the last added record, read again."""
        start = aligned(self._before) + ALIGNMENT
        return pieces_at(self.growing, start, self._end - start)

    def take_back(self) -> None:
        """Remove the last added record."""
        self._end, self._count, self._is_littered = self._before, self._count - 1, True

    @property
    def folder(self) -> Path:
        """The folder of the growing file, also for other temporary files, which is removed at the end."""
        return Path(self._file.name).parent

    def _begin_with(self, file: BlobFile) -> None:
        try:
            with open(file.path, "rb", buffering=0) as reading:
                copy_pieces(reading, self._file, self._progress)
        except BaseException:
            self.discard()
            raise
        self._end = file.size

    def add(self, dtype: DType, array: npt.NDArray[Any]) -> int:
        """Append the elements of an array, in C order, and return the offset of their record.

        `packing.pack` defines the arrays that a type accepts.
        """
        from miltext.schema.packing import PackingError, pack, pieces_in_order

        pieces = (pack(piece, dtype) for piece in pieces_in_order(array, CHUNK))
        try:
            return self.add_pieces(dtype, array.size, pieces)
        except PackingError as failure:
            raise refusal(codes.UNSTORABLE_VALUE, str(failure), self.path) from failure

    def add_pieces(self, dtype: DType, count: int, pieces: Iterable[bytes]) -> int:
        """Append the packed bytes of a number of elements, piece by piece, and return the offset of their record."""
        size = packed_size(count, dtype.bits)
        return self._record(dtype, size, size * 8 - count * dtype.bits, pieces)

    def add_stored(self, dtype: DType, count: int, path: Path, start: int) -> int:
        """Append the packed bytes of a number of elements, which are in a file at a place, and return the offset.

        Raise WeightsError (MIL306) if they are gone.
        """
        size = packed_size(count, dtype.bits)
        offset = self._begin(dtype, size, size * 8 - count * dtype.bits)
        with open(path, "rb", buffering=0) as reading:
            if copy_range(reading, start, self._file, offset + ALIGNMENT, size, self._progress) < size:
                raise refusal(codes.INVALID_RECORD, SHORTER, path)
        return self._finish(offset, size)

    def add_packed(self, dtype: DType, data: bytes | bytearray | memoryview, padding_bits: int = 0) -> int:
        """Append bytes unchanged, the last `padding_bits` (0 to 7) of them unused; return the offset."""
        view = memoryview(data).cast("B")
        pieces = (view[start : start + CHUNK] for start in range(0, len(view), CHUNK))
        return self._record(dtype, len(view), padding_bits, pieces)

    def copy(self, blob: Blob) -> int:
        """Append a record of another file, byte for byte, and return its offset here."""
        return self.add_stored(blob.dtype, blob.count, blob.path, blob.start)

    def _record(self, dtype: DType, size: int, padding: int, pieces: Iterable[bytes | memoryview]) -> int:
        offset = self._begin(dtype, size, padding)
        for piece in pieces:
            if piece == _ZEROS:
                self._file.seek(CHUNK, os.SEEK_CUR)  # this leaves a hole
            else:
                self._file.write(piece)
            self.advance(len(piece))
        return self._finish(offset, size)

    def _begin(self, dtype: DType, size: int, padding: int) -> int:
        """Write the head of a record, whose data follow, and return its offset."""
        if dtype.blob is None:
            raise refusal(codes.UNSTORABLE_VALUE, f"a weight file cannot hold {dtype.name}", self.path)
        if not _whole(dtype, size, padding):
            message = f"{size} bytes with {padding} bits of padding are not whole {dtype.name} elements"
            raise refusal(codes.UNSTORABLE_VALUE, message, self.path)
        offset = aligned(self._end)
        self._before = self._end
        if self._is_littered:  # a record failed halfway, or was taken back
            self._file.truncate(self._end)
        self._is_littered = True
        self._file.seek(self._end)
        self._file.write(bytes(offset - self._end))
        self._file.write(_RECORD.pack(SENTINEL, dtype.blob, size, offset + ALIGNMENT, padding))
        return offset

    def _finish(self, offset: int, size: int) -> int:
        """Complete a record with all of its data, and return its offset."""
        self._is_littered = False
        self._end = offset + ALIGNMENT + size
        self._count += 1
        return offset


def pieces_at(path: Path, start: int, size: int, most: int = CHUNK) -> Iterator[bytes]:
    """Yield a range of a file. Raise WeightsError (MIL306) if it is gone."""
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        for done in range(0, size, most):
            piece = file.read(min(most, size - done))
            if len(piece) < min(most, size - done):
                raise refusal(codes.INVALID_RECORD, SHORTER, path)
            yield piece


def _record_count(header: bytes, size: int, path: Path) -> int:
    """Return the count in the header of a file, after checking that it belongs to blob storage version 2."""
    if header.startswith(LFS_POINTER):
        raise refusal(codes.LFS_POINTER_OF_WEIGHTS, "this is a git-lfs pointer instead of the weight file", path)
    if size < ALIGNMENT:
        message = f"the file has {size} bytes, but the header of a weight file has {ALIGNMENT}"
        raise refusal(codes.NOT_A_WEIGHT_FILE, message, path)
    count, version = _HEADER.unpack(header)
    if version == 1:
        message = "this is blob storage version 1, of neural networks older than ML Programs, not version 2"
        raise refusal(codes.NOT_A_WEIGHT_FILE, message, path)
    if version != VERSION:
        message = f"this is not a weight file: its header has version {version} instead of {VERSION}"
        raise refusal(codes.NOT_A_WEIGHT_FILE, message, path)
    return int(count)


def aligned(position: int) -> int:
    """Return the next place for a record, or for its data."""
    return -(-position // ALIGNMENT) * ALIGNMENT


def _whole(dtype: DType, size: int, padding: int) -> bool:
    """Return whether `size` bytes without `padding` bits are a whole number of elements."""
    bits = size * 8 - padding
    return 0 <= padding < 8 and bits >= 0 and bits % dtype.bits == 0
