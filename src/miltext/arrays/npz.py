"""`.npz`, the archives of numpy.savez: a zip file with a `.npy` for each array."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from miltext.arrays.npy import ENDING, read_header
from miltext.arrays.problems import ArrayProblem
from miltext.diagnostics import codes

if TYPE_CHECKING:
    from miltext.arrays.headers import Header, Headers

_ENCRYPTED = 1
"""The flag of an encrypted member, in section 4.4.4 of APPNOTE.TXT, which describes zip files."""


def npz_headers(file: BinaryIO) -> Headers:
    """Return the headers of the arrays in an archive. Nothing is extracted: a member's name is only a key."""
    if file.read(2) != b"PK":
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, "it does not begin like a .npz, as numpy.savez writes it")
    with ZipFile(file) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(ENDING)]
        times = Counter(member.filename for member in members)
        return {
            member.filename.removesuffix(ENDING): _header(archive, member, times[member.filename]) for member in members
        }


def _header(archive: ZipFile, member: ZipInfo, times: int) -> Header | ArrayProblem:
    """Return the header of a member, or the reason why it has none."""
    try:
        refuse_odd(member, times)
        with archive.open(member) as stream:
            return read_header(stream, member.file_size, member.filename)
    except ArrayProblem as problem:
        return problem
    except Exception as failure:  # noqa: BLE001 - a member that cannot be read does not keep others from it
        return ArrayProblem(codes.UNREADABLE_ARRAY_FILE, str(failure) or type(failure).__name__)


def refuse_odd(member: ZipInfo, times: int) -> None:
    """Refuse a member that numpy has not written, or several of one name. Raise ArrayProblem (MIL414)."""
    if times > 1:
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, f"the archive has {times} members of that name")
    if member.flag_bits & _ENCRYPTED:
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, "the archive's member is encrypted")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ArrayProblem(
            codes.UNREADABLE_ARRAY_FILE, "the archive's member is compressed in a way that numpy does not write"
        )


def member_data(archive: ZipFile, header: Header) -> IO[bytes]:
    """Return a member's data as a stream, which is decompressed as it is read and whose checksum is tested at its end.

    Raise ArrayProblem (MIL414).
    """
    assert header.member is not None
    stream = archive.open(header.member)
    stream.read(header.start)
    return stream
