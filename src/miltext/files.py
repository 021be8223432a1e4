"""Writing files so that nothing is ever half-written: beside the target, then moved into its place."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from io import BufferedWriter, FileIO
from pathlib import Path

PIECE = 1 << 20
"""Bytes that are copied at once."""


def write_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """Make `path` hold the pieces, or leave it as it was. A file that is replaced keeps its mode; a link stays one.

    Raises OSError, and whatever `pieces` raises.
    """
    target = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def copy_pieces(
    reading: FileIO, writing: FileIO | BufferedWriter, progress: Callable[[int], object] | None = None
) -> None:
    """Copy what is left of a file to another, where that stands; holes stay holes.

    `progress` is called with the size of each piece. Raises OSError.
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


def _skip_hole(file: FileIO) -> int:
    """Go on to a file's next data, or to its end; how far that is. Nothing where the system knows no holes."""
    start = file.tell()
    if not hasattr(os, "SEEK_DATA"):
        return 0
    try:
        return file.seek(start, os.SEEK_DATA) - start
    except OSError as failure:
        if failure.errno != errno.ENXIO:  # which says that there is only a hole, or nothing, up to the end
            file.seek(start)
            return 0
        return file.seek(0, os.SEEK_END) - start


def _mode(target: Path) -> int:
    """The mode of the file that is there, or that of any new file."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
