"""Copies of files and folders, however large: with their progress, and in little memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from miltext.building.refusals import refusal
from miltext.files import copy_pieces

Progress = Callable[[int], object]


def copy_file(source: Path, target: Path, progress: Progress | None = None) -> None:
    """Copy a file's bytes to a new file, on the disk when this returns. Long runs of zeros become holes.

    `progress` is called with the size of each piece. Raises OSError.
    """
    with open(source, "rb", buffering=0) as reading, open(target, "xb", buffering=0) as writing:
        copy_pieces(reading, writing, progress)
        os.fsync(writing.fileno())


def copy_folder(source: Path, target: Path, skipped: set[Path], progress: Progress | None = None) -> None:
    """Copy the regular files of a folder, but for those `skipped` (real paths). Raises ModelError (MIL403) for links
    that lead outside or to folders, and for anything that is neither file nor folder.
    """
    for path in files_of(source):
        real = Path(os.path.realpath(path))
        if real not in skipped:
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy_file(real, copy, progress)


def files_of(folder: Path) -> list[Path]:
    """The files below a folder, in order; raises as `copy_folder` does."""
    root = Path(os.path.realpath(folder))
    found: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted([*names, *(each for each in folders if os.path.islink(os.path.join(parent, each)))]):
            path = Path(parent, name)
            if not path.is_file() or not Path(os.path.realpath(path)).is_relative_to(root):
                raise refusal("MIL403", f"{str(path.relative_to(folder))!r} leads outside, or is no file", str(folder))
            found.append(path)
    return found
