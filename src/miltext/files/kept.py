"""Folders of files that are kept to save time: bounded in size, and shared by any number of processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MOST = 1 << 28
"""The greatest number of bytes of kept files; above it, the oldest are deleted, down to half of it."""


def bound(folder: Path, is_kept: Callable[[str], bool], most: int = MOST) -> None:
    """Delete the oldest files of a folder, by their times, if all together are larger than `most`.

    Only files whose names are those of kept ones are counted and deleted. Another process may delete them at the same
    time. Raise OSError for an unreadable folder.
    """
    files: list[tuple[float, int, str]] = []
    with os.scandir(folder) as listed:
        for each in listed:
            if is_kept(each.name) and each.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    files.append((each.stat().st_mtime, each.stat().st_size, each.path))
    left = sum(size for _, size, _ in files)
    if left <= most:
        return
    for _, size, name in sorted(files):
        if left > most // 2:
            with suppress(FileNotFoundError):
                os.unlink(name)
            left -= size
