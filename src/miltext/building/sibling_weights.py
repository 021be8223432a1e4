"""Weight files beside an `.mlmodel`, in a folder that may contain weight files of other models."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Collection, Iterator
from itertools import count
from pathlib import Path, PurePosixPath

from miltext.weight_files.paths import MODEL_PATH

NAMING = (".mlmodel", ".mil", ".pb", ".txtpb")
"""The endings of files that may name weight files in their own folder."""


def weight_name(output: Path, name: str, taken: Collection[str], read: Collection[Path] = ()) -> tuple[str, bool]:
    """Return the name, below the folder of the `.mlmodel` to write, for the weight file `name`; and whether it is free.

    It is another name if the file exists and may belong to another model, so that no model loses its weights, or if it
    is among the `read` files.
    """
    names = ((each, not os.path.lexists(output.parent / each)) for each in _names(output, name) if each not in taken)
    return next((each, free) for each, free in names if free or is_own(output, each, read))


def is_at(path: Path, there: Path) -> bool:
    """Whether two paths lead to one existing file."""
    return there.exists() and there.samefile(path)


def _names(output: Path, name: str) -> Iterator[str]:
    yield name
    stem, path = re.sub(r"[^\w.-]", "_", output.stem)[:64], PurePosixPath(name)
    yield str(path.with_name(f"{stem}-{path.name}"))
    yield from (str(path.with_name(f"{stem}-{number}-{path.name}")) for number in count(1))


def is_own(output: Path, name: str, read: Collection[Path] = ()) -> bool:
    """Whether the file at a name belongs only to the replaced model, and is not `read`."""
    if any(is_at(path, output.parent / name) for path in read) or not (output.is_file() and mentions(output, name)):
        return False
    beside = [path for path in output.parent.iterdir() if path.suffix.lower() in NAMING and path.is_file()]
    return not any(mentions(path, name) for path in beside if not path.samefile(output))


def leads_elsewhere(folder: Path, names: Collection[str]) -> list[Path]:
    """Return the paths of the weight files, named below a folder, that are links or behind links: models in other
    folders may share them.
    """
    root = Path(os.path.realpath(folder))
    return [folder / name for name in names if Path(os.path.realpath(folder / name)) != root / name]


def mentions(path: Path, name: str) -> bool:
    """Whether a file contains the fileName of a weight file."""
    if not path.stat().st_size:
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(f"{MODEL_PATH}/{name}".encode()) >= 0
