"""Atomic writing of files: a file is written beside the target, then moved to its place."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import NoReturn

from miltext.files.staging import Staging

PIECE = 1 << 20
"""The number of bytes copied at once."""

_BLOCK = 8 * PIECE
"""The bytes that the system copies at once."""

_NOT_BY_SYSTEM = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)
"""The errors of copy_file_range(2) between files that the system does not copy itself, such as of two file systems."""

MODEL_FOLDERS = (".mlpackage", ".mlmodelc")
"""The endings of models in folders."""

WITH_DESCRIPTION = ("mlpackage", "mlmodel", "mlmodelc")
"""The kinds of models with more than a program."""

MODEL_FILES = (".mil", ".mlmodel", ".pb", ".txtpb")
"""The endings of models in files."""

Progress = Callable[[int], object]
"""A callback for the progress of work: it gets the number of bytes, or elements, of each finished piece."""

_MOST_LINKS = 40
"""The most links that Linux follows from a name."""


def write_file(path: Path, pieces: Iterable[bytes], *, replace: bool = True) -> None:
    """Write the pieces to the file `path`, or leave it unchanged; an existing file is replaced only if `replace`.

    A replaced file keeps its mode; a link stays, and its target is written. A device or a FIFO gets the pieces one by
    one. Raise OSError, and the errors of `pieces`.
    """
    if is_stream(path):
        _write_into(path, pieces)
        return
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with Staging(replace=replace) as staging:
        write_new(staging.place(path), pieces)
        staging.commit()


def write_new(path: Path, pieces: Iterable[bytes], *, durable: bool = True) -> None:
    """Write a new file; if `durable`, it is on the disk when this returns.

    Raise OSError, and the errors of `pieces`.
    """
    with open(path, "xb") as file:
        file.writelines(pieces)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def below(folder: str, files: tuple[str, ...], folders: tuple[str, ...] = ()) -> list[str]:
    """Return every file below a folder, and every folder that counts as one, by the ends of their names, sorted.

    Broken links are included, but no FIFO, which may never end. The contents of such a folder, of a hidden one, of a
    virtual environment of Python and of `node_modules` are skipped. Raise OSError for an unreadable folder.
    """
    found: list[str] = []
    for parent, inner, names in os.walk(folder, onerror=_raise):
        whole = {name for name in inner if name.lower().endswith(folders)} if folders else set[str]()
        inner[:] = [name for name in inner if name not in whole and not _is_passed_over(parent, name)]
        there = [os.path.normpath(os.path.join(parent, name)) for name in names if name.lower().endswith(files)]
        found += [name for name in there if os.path.isfile(name) or not os.path.exists(name)]
        found += [os.path.normpath(os.path.join(parent, name)) for name in whole if name[0] != "."]
    return sorted(found)


def _raise(failure: OSError) -> NoReturn:
    raise failure


def _is_passed_over(parent: str, name: str) -> bool:
    is_environment = os.path.exists(os.path.join(parent, name, "pyvenv.cfg"))
    return name[0] == "." or name == "node_modules" or is_environment


def texts_below(folder: str) -> list[str]:
    """Return every .mil below a folder, as `below` does, except those in models, which the compiler wrote."""
    return [name for name in below(folder, (".mil",), MODEL_FOLDERS) if not name.lower().endswith(MODEL_FOLDERS)]


def is_stream(path: Path) -> bool:
    """Return whether a path is written to and never replaced: an open file, a device, a FIFO."""
    return _descriptor(path) is not None or (path.exists() and not path.is_file() and not path.is_dir())


def _write_into(path: Path, pieces: Iterable[bytes]) -> None:
    number = _descriptor(path)
    try:
        with open(path, "wb", opener=_open_there) if number is None else os.fdopen(os.dup(number), "wb") as stream:
            stream.writelines(pieces)
    except OSError as failure:
        failure.filename = failure.filename or str(path)
        raise


def _open_there(name: str, flags: int) -> int:
    return os.open(name, flags & ~(os.O_CREAT | os.O_TRUNC))


def _descriptor(path: Path) -> int | None:
    """Return the number of the open file for a name such as `/dev/stdout` or `/dev/fd/3`."""
    name = os.fspath(path)
    for _ in range(_MOST_LINKS):
        folder, last = os.path.split(name)
        if last.isdecimal() and os.path.realpath(folder) in ("/dev/fd", f"/proc/{os.getpid()}/fd"):
            return int(last)
        if not os.path.islink(name):
            break
        name = os.path.join(folder, os.readlink(name))
    return None


def copy_file(source: Path, target: Path, progress: Progress | None = None) -> None:
    """Copy a file's bytes to a new file, on the disk when this returns. Long runs of zeros become holes.

    `progress` is called with the size of each piece. Raise OSError.
    """
    with open(source, "rb", buffering=0) as reading, open(target, "xb", buffering=0) as writing:
        copy_pieces(reading, writing, progress)
        os.fsync(writing.fileno())


def have_same_bytes(one: Path, other: Path) -> bool:
    """Return whether two files have the same content, without holding it in memory. Raise OSError."""
    if one.samefile(other):
        return True
    if one.stat().st_size != other.stat().st_size:
        return False
    with open(one, "rb", buffering=0) as left, open(other, "rb", buffering=0) as right:
        while piece := left.read(PIECE):
            if right.read(PIECE) != piece:
                return False
    return True


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal, without holding it in memory. Raise OSError."""
    import hashlib

    state = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(PIECE):
            state.update(piece)
    return state.hexdigest()


def copy_pieces(reading: FileIO, writing: FileIO | BufferedWriter, progress: Progress | None = None) -> None:
    """Copy the rest of a file to another, at its position; holes stay holes.

    `progress` is called with the size of each piece. Raise OSError.
    """
    piece = memoryview(bytearray(PIECE))  # one for all: new ones would cost more than the copying
    while True:
        hole = _skip_hole(reading)
        writing.seek(hole, os.SEEK_CUR)
        size = reading.readinto(piece) or 0
        start = 0
        while start < size:
            start += writing.write(piece[start:size])
        if progress and hole + size:
            progress(hole + size)
        if not size:
            break
    writing.truncate()


def copy_range(
    reading: FileIO, start: int, writing: BufferedWriter, place: int, size: int, progress: Progress | None = None
) -> int:
    """Copy a range of a file to a place of another; holes stay holes. Return the bytes, fewer if the file ends before.

    The system copies, where it can, so that no byte passes through the process. Raise OSError.
    """
    writing.flush()
    done = 0
    while done < size:
        reading.seek(start + done)
        count = min(max(_skip_hole(reading), 0), size - done)
        count = count or _copied(reading, start + done, writing, place + done, min(_BLOCK, size - done))
        if not count:
            break
        done += count
        if progress:
            progress(count)
    return done


def _copied(reading: FileIO, start: int, writing: BufferedWriter, place: int, size: int) -> int:
    """Copy at most so many bytes, and return their number."""
    if hasattr(os, "copy_file_range"):
        try:
            count = os.copy_file_range(reading.fileno(), writing.fileno(), size, start, place)
            os.posix_fadvise(writing.fileno(), place, count, os.POSIX_FADV_DONTNEED)  # the disk begins, too
            return count
        except OSError as failure:
            if failure.errno not in _NOT_BY_SYSTEM:
                raise
    reading.seek(start)
    writing.seek(place)
    return writing.write(reading.read(min(size, PIECE)))


def _skip_hole(file: FileIO) -> int:
    """Move to a file's next data, or to its end, and return the distance; 0 if holes are unknown."""
    start = file.tell()
    if not hasattr(os, "SEEK_DATA"):
        return 0
    try:
        return file.seek(start, os.SEEK_DATA) - start
    except OSError as failure:
        if failure.errno != errno.ENXIO:  # there is only a hole, or nothing, up to the end
            file.seek(start)
            return 0
        return file.seek(0, os.SEEK_END) - start
