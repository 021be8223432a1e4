"""Copies of files and folders, however large: with their progress, and in little memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from miltext.models.building.refusals import refusal
from miltext.models.files import copy_pieces

Progress = Callable[[int], object]


def copy_file(source: Path, target: Path, progress: Progress | None = None) -> None:
    """Copy a file's bytes to a new file, on the disk when this returns. Long runs of zeros become holes.

    `progress` is called with the size of each piece. Raise OSError.
    """
    with open(source, "rb", buffering=0) as reading, open(target, "xb", buffering=0) as writing:
        copy_pieces(reading, writing, progress)
        os.fsync(writing.fileno())


def copy_folder(source: Path, target: Path, skipped: set[Path], progress: Progress | None = None) -> None:
    """Copy a folder with all that is in it, empty folders too, but for the files `skipped`, which are paths in it.

    Raise OSError, and ModelError (MIL403) for links that lead outside or to folders, and for anything that is neither
    a file nor a folder.
    """
    target.mkdir(parents=True)
    for path in contents_of(source):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir()
        elif path not in skipped:
            copy_file(Path(os.path.realpath(path)), copy, progress)


def contents_of(folder: Path) -> list[Path]:
    """Return the folders and files below a folder, each folder before what is in it. Raise as `copy_folder` does."""
    root = Path(os.path.realpath(folder))
    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted([*folders, *names]):
            path = Path(parent, name)
            is_file = path.is_file() and Path(os.path.realpath(path)).is_relative_to(root)
            if not is_file and (path.is_symlink() or not path.is_dir()):
                raise refusal(
                    "MIL403", f"{str(path.relative_to(folder))!r} leads outside, or is not a file", str(folder)
                )
            found.append(path)
    return found


def _raise(failure: OSError) -> None:
    raise failure
