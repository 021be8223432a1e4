"""`.npy`, the format of numpy.save: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html."""

from __future__ import annotations

import struct
import warnings
from io import BytesIO
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple

from numpy.lib import format as npy_format

from miltext.arrays.headers import Header, Headers, check_shape, check_size, dtype_of
from miltext.arrays.problems import ArrayProblem
from miltext.arrays.regular_files import stamp
from miltext.diagnostics import codes, refusing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np

    from miltext.files.writing import Progress
    from miltext.schema.packing import Array

ENDING = ".npy"

LONGEST = 10_000
"""The most bytes of a header, as in numpy, which reads headers as Python's literals."""

_LENGTHS = {(1, 0): "<H", (2, 0): "<I", (3, 0): "<I"}
"""The format of a header's length, by the version of the file format."""


def npy_pieces(
    dtype: np.dtype[np.generic], shape: tuple[int, ...], pieces: Iterable[Array], progress: Progress | None = None
) -> Iterator[bytes]:
    """Yield an array, given in flat pieces in C order, as a `.npy`.

    `progress` is called with the number of elements of each piece, once it is taken.
    """
    header = BytesIO()
    fields = {"descr": npy_format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    npy_format.write_array_header_1_0(header, fields)
    yield header.getvalue()
    for piece in pieces:
        yield piece.tobytes()
        if progress:
            progress(piece.size)


def npy_headers(file: BinaryIO) -> Headers:
    """Return the header of the array in a file. Raise ArrayProblem."""
    return {None: read_header(file, stamp(file).size)}


class NpyHeader(NamedTuple):
    """The contents of a header: the type of an element, the shape, whether the first index changes fastest, and the
    start of the data.
    """

    numpy: np.dtype[np.generic]
    shape: tuple[int, ...]
    fortran: bool
    start: int


def read_header(file: IO[bytes], size: int, member: str | None = None) -> Header:
    """Return the header at the start of a file, or of an archive's member, of `size` bytes.

    Raise ArrayProblem: MIL414 for any other data, or data of another size, MIL415 for types outside MIL. Nothing is
    unpickled, and at most a header's length is read.
    """
    found, shape, fortran, start = read_layout(file)
    dtype = dtype_of(found)
    check_shape(shape, found.itemsize)
    return check_size(Header(dtype, found.str, shape, start, fortran and _has_order(shape), member), size - start)


def read_layout(file: IO[bytes]) -> NpyHeader:
    """Return the contents of the header at the start of a file, without checks. Raise ArrayProblem (MIL414)."""
    magic = file.read(npy_format.MAGIC_LEN)
    if magic.startswith(b"PK"):
        raise ArrayProblem(
            codes.UNREADABLE_ARRAY_FILE, "it is an archive, as numpy.savez makes; numpy.save makes a .npy"
        )
    if not magic.startswith(npy_format.MAGIC_PREFIX) or len(magic) < npy_format.MAGIC_LEN:
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, "it does not begin like a .npy, as numpy.save writes it")
    version = magic[-2], magic[-1]
    if version not in _LENGTHS:
        raise ArrayProblem(
            codes.UNREADABLE_ARRAY_FILE, f"it has version {version[0]}.{version[1]} of the format, which is not known"
        )
    length = file.read(struct.calcsize(_LENGTHS[version]))
    text = file.read(_length(length, _LENGTHS[version]))
    shape, fortran, found = _parsed(length + text, version)
    return NpyHeader(found, shape, fortran, len(magic) + len(length) + len(text))


def _has_order(shape: tuple[int, ...]) -> bool:
    """Whether elements of a shape lie differently in Fortran order."""
    return sum(size > 1 for size in shape) > 1


def _length(data: bytes, form: str) -> int:
    if len(data) < struct.calcsize(form):
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, "it ends within its header")
    length: int = struct.unpack(form, data)[0]
    if length > LONGEST:
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, f"its header claims {length} bytes; at most {LONGEST} are read")
    return length


def _parsed(data: bytes, version: tuple[int, int]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Return shape, order and type from a header's length and text."""
    read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    with warnings.catch_warnings(), refusing(_unparsed):
        warnings.simplefilter("ignore")  # numpy warns of headers that Python 2 wrote
        return read(BytesIO(data))


def _unparsed(failure: Exception) -> ArrayProblem:
    reason = str(failure).partition("\n")[0][:200] or type(failure).__name__
    if " object at 0x" in reason:  # ast.literal_eval shows what is not a literal by its address
        return ArrayProblem(codes.UNREADABLE_ARRAY_FILE, "its header does not describe an array")
    return ArrayProblem(codes.UNREADABLE_ARRAY_FILE, f"its header cannot be read: {reason}")
