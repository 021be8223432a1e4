"""Weight files mapped into memory."""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path

from miltext.diagnostics import codes
from miltext.files.refusals import refusal


def map_file(path: Path) -> mmap.mmap:
    """Return the whole of a regular file, mapped for reading; refuse links and devices, and do not wait for a FIFO."""
    try:
        with open(path, "rb", buffering=0, opener=_open_itself) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise refusal(codes.MISSING_WEIGHT_FILE, "the weight file is not a regular file", path)
            if not status.st_size:
                raise refusal(codes.NOT_A_WEIGHT_FILE, "the weight file is empty", path)
            return mmap.mmap(file.fileno(), status.st_size, access=mmap.ACCESS_READ)
    except OSError as failure:
        why = "it is a link" if path.is_symlink() else failure.strerror or str(failure)
        raise refusal(codes.MISSING_WEIGHT_FILE, f"the weight file cannot be opened: {why}", path) from failure


def _open_itself(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
