"""Inputs from files: `.npy` and `.npz` as numpy writes them, and pictures. Nothing in them is ever unpickled."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.diagnostics import MiltextError, Note, error, refusing
from miltext.evaluation.features import NOTHING_SAID
from miltext.evaluation.pictures import read_picture

if TYPE_CHECKING:
    from miltext.evaluation.features import Feature
    from miltext.evaluation.rules import Array

    Path = str | os.PathLike[str]

ARRAY, ARCHIVE = b"\x93NUMPY", b"PK"
"""How a `.npy` and a `.npz` begin."""


def read_inputs(
    archives: Iterable[Path], named: Mapping[str, Path] | None = None, features: Mapping[str, Feature] | None = None
) -> dict[str, Any]:
    """Return the arrays of `.npz` archives by their names, and those of the files that are `named`, which go first.

    A named file is a `.npy`, or a picture where the feature of that name is an image. Raise MiltextError: MIL836 for
    a file that cannot be read, and a name that two archives have; MIL839 where a picture needs pillow.
    """
    found: dict[str, Any] = {}
    for path in archives:
        arrays = read_archive(path)
        for name in arrays.keys() & found.keys():
            raise _unreadable(path, f"it has the array `{name}`, which another archive has, too")
        found |= arrays
    for name, path in (named or {}).items():
        image = (features or {}).get(name, NOTHING_SAID).image
        is_picture = image is not None and _beginning(path) != ARRAY
        found[name] = read_picture(path, image) if is_picture and image is not None else read_array(path)
    return found


def read_array(path: Path) -> Array:
    """Return the array in a `.npy`. Raise MiltextError (MIL836)."""
    start = _beginning(path)
    if start != ARRAY:
        is_archive = start.startswith(ARCHIVE)
        raise _unreadable(path, "it is an archive, a .npz" if is_archive else "it does not begin like a .npy")
    with refusing(lambda failure: _unreadable(path, str(failure))):
        array: Array = np.load(path, allow_pickle=False)
    return array


def read_archive(path: Path) -> dict[str, Array]:
    """Return the arrays in a `.npz` by name. Raise MiltextError (MIL836)."""
    start = _beginning(path)
    if not start.startswith(ARCHIVE):
        is_array = start == ARRAY
        raise _unreadable(path, "it is a single array without a name, a .npy" if is_array else "it is not a .npz")
    with (
        refusing(lambda failure: _unreadable(path, str(failure))),
        np.load(path, allow_pickle=False) as archive,
    ):
        return {name: _array(path, name, archive[name]) for name in archive.files}


def _array(path: Path, name: str, held: Any) -> Array:
    """Return what an archive has under a name: numpy gives the bytes of a file in it that is not an array."""
    if not isinstance(held, np.ndarray):
        raise _unreadable(path, f"its member `{name}` is not an array")
    return held


def _beginning(path: Path) -> bytes:
    with refusing(lambda failure: _unreadable(path, str(failure))), open(path, "rb") as file:
        return file.read(len(ARRAY))


def _unreadable(path: Path, reason: str) -> MiltextError:
    way = Note("write it again with numpy.save, or numpy.savez for several arrays; pickled objects are never read")
    return MiltextError(
        [error("MIL836", f"this is not an array that can be read: {reason}", None, way)], path=str(path)
    )
