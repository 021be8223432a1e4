"""Weight files opened for reading: only regular files, never through a link."""

from __future__ import annotations

import mmap
import os
import stat
from io import FileIO
from typing import TYPE_CHECKING

from miltext.diagnostics import codes
from miltext.files.refusals import refusal

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.diagnostics import ModelError


def map_file(path: Path) -> mmap.mmap:
    """Return the whole of a regular file, mapped for reading; refuse links and devices, and do not wait for a FIFO."""
    try:
        with open_regular(path) as file:
            return mmap.mmap(file.fileno(), os.fstat(file.fileno()).st_size, access=mmap.ACCESS_READ)
    except OSError as failure:
        raise _unopened(path, failure) from failure


def open_regular(path: Path) -> FileIO:
    """Open a regular, nonempty file, as `map_file` does."""
    try:
        file = open(path, "rb", buffering=0, opener=_open_itself)  # noqa: SIM115 - the caller closes it
        status = os.fstat(file.fileno())
    except OSError as failure:
        raise _unopened(path, failure) from failure
    if stat.S_ISREG(status.st_mode) and status.st_size:
        return file
    file.close()
    if stat.S_ISREG(status.st_mode):
        raise refusal(codes.NOT_A_WEIGHT_FILE, "the weight file is empty", path)
    raise refusal(codes.MISSING_WEIGHT_FILE, "the weight file is not a regular file", path)


def _unopened(path: Path, failure: OSError) -> ModelError:
    why = "it is a link" if path.is_symlink() else failure.strerror or str(failure)
    return refusal(codes.MISSING_WEIGHT_FILE, f"the weight file cannot be opened: {why}", path)


def _open_itself(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
