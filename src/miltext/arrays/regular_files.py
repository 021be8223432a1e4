"""Regular files below a folder, opened for reading: never a device, and without waiting for a FIFO."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from miltext.arrays.problems import ArrayProblem, MissingFile
from miltext.diagnostics import ModelError, codes
from miltext.files.contents import within


class Stamp(NamedTuple):
    """The identity of a file's contents: it differs for another file at the same path, and after a write."""

    device: int
    inode: int
    size: int
    modified: int


def find(folder: Path, name: str) -> Path:
    """Return the path of a file named in a text in a folder.

    Raise ArrayProblem (MIL413) for a file outside of the folder.
    """
    if os.path.isabs(name):
        raise ArrayProblem(codes.MISSING_ARRAY_FILE, "its path is absolute, but has to begin at the text's folder")
    try:
        return within(folder, name)
    except ModelError as failure:
        raise ArrayProblem(codes.MISSING_ARRAY_FILE, failure.diagnostics[0].message) from failure


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for a `with` block. Raise ArrayProblem (MIL413) if it cannot be opened."""
    try:
        _require_regular(os.stat(path))
        file = open(path, "rb", buffering=0, opener=_without_waiting)  # noqa: SIM115 - closed below
    except (OSError, ValueError) as failure:
        raise _problem(failure) from failure
    with file:
        _require_regular(os.fstat(file.fileno()))
        yield file


def names_in(folder: Path, ending: str) -> list[str]:
    """Return the names of the files in a folder with an ending; none if it cannot be read."""
    with suppress(OSError), os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.name.endswith(ending) and entry.is_file())
    return []


def stamp(file: BinaryIO) -> Stamp:
    """Return the stamp of an open file."""
    status = os.fstat(file.fileno())
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _require_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ArrayProblem(codes.MISSING_ARRAY_FILE, "it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise ArrayProblem(codes.MISSING_ARRAY_FILE, "it is not a regular file")


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _problem(failure: Exception) -> ArrayProblem:
    if isinstance(failure, (FileNotFoundError, NotADirectoryError)):
        return MissingFile()
    return ArrayProblem(codes.MISSING_ARRAY_FILE, getattr(failure, "strerror", None) or str(failure))
