"""Inputs from files: numpy's `.npy` and `.npz`, and pictures. Files are never unpickled."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.arrays.npy import ENDING
from miltext.diagnostics import MiltextError, codes, error
from miltext.evaluation.features import NOTHING_SAID
from miltext.evaluation.pictures import read_picture
from miltext.evaluation.value_files import read_archive, read_array

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried
    from miltext.evaluation.features import Feature

    Name = str | os.PathLike[str]


def read_inputs(
    archives: Iterable[Name], named: Mapping[str, Name] | None = None, features: Mapping[str, Feature] | None = None
) -> dict[str, Carried]:
    """Return the arrays of `.npz` archives and of the `named` files by name; a named file takes precedence.

    A named file is a `.npy`, or a picture if its feature is an image. Raise MiltextError: MIL836 for an unreadable
    file, and a name in two archives; MIL839 for a picture without pillow.
    """
    found: dict[str, Carried] = {}
    for path in map(Path, archives):
        arrays = read_archive(path)
        for name in sorted(arrays.keys() & found.keys()):
            message = f"this has the array `{name}`, which another archive has, too"
            raise MiltextError([error(codes.UNREADABLE_INPUT_FILE, message)], path=str(path))
        found |= arrays
    for name, path in {name: Path(path) for name, path in (named or {}).items()}.items():
        image = (features or {}).get(name, NOTHING_SAID).image
        is_picture = image is not None and path.suffix.lower() != ENDING
        found[name] = read_picture(path, image) if is_picture and image is not None else read_array(path)
    return found
