"""Where a model is written: what may be replaced there, and the names of weight files that no other model uses."""

from __future__ import annotations

import errno
import mmap
import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from miltext.models.building.refusals import refusal
from miltext.models.staging import THERE
from miltext.models.weight_paths import MODEL_PATH

if TYPE_CHECKING:
    from miltext.models.model import Model

PACKAGE_SIGN = "Manifest.json"
NAMING = (".mlmodel", ".mil", ".pb", ".txtpb")
"""The endings of files that name weights in the folder that they are in."""

PROGRAMS = ("mil", "pb", "txtpb")
"""The kinds of input that a model does not take the place of."""


def check_target(output: Path, force: bool, read: Iterable[Model]) -> None:
    """Refuse a target that may not be written, when the models `read` are what it is made from.

    Raise FileExistsError for one that is there, unless `force`; ModelError (MIL402) for one that is not replaced even
    then: a folder that is not a package, anything but a file for a file, and what holds an input or is inside one.
    """
    real = Path(os.path.realpath(output))
    inputs = {Path(os.path.realpath(model.path)): model.kind for model in read if model.path}
    if any(path.is_dir() and path in real.parents for path in inputs):
        raise refusal("MIL402", "this is inside the input model", str(output))
    if not os.path.lexists(real):
        return
    if not force:
        raise FileExistsError(errno.EEXIST, THERE, str(output))
    wants_folder = output.suffix.lower() == ".mlpackage"
    is_ours = (real / PACKAGE_SIGN).is_file() or (wants_folder and real.is_dir() and not any(real.iterdir()))
    if not (is_ours if wants_folder else real.is_file()):
        raise refusal(
            "MIL402", f"this is not a {'package' if wants_folder else 'file'}, and is not replaced", str(output)
        )
    for path, kind in inputs.items():
        if real in path.parents or (real == path and kind in PROGRAMS):
            raise refusal("MIL402", f"this contains the input {path.name!r}, and is not replaced", str(output))


def weight_name(output: Path, name: str, taken: Collection[str]) -> tuple[str, bool]:
    """Return the name, below the folder of the `.mlmodel` to write, of the weight file that would be called `name`; and
    whether nothing is there.

    It is another one where that file is there and not this model's alone, so that no other model loses its weights.
    """
    names = ((each, not os.path.lexists(output.parent / each)) for each in _names(output, name) if each not in taken)
    return next((each, free) for each, free in names if free or _is_own(output, each))


def _names(output: Path, name: str) -> Iterator[str]:
    yield name
    stem, path = re.sub(r"[^\w.-]", "_", output.stem)[:64], PurePosixPath(name)
    yield str(path.with_name(f"{stem}-{path.name}"))
    number = 1
    while True:
        yield str(path.with_name(f"{stem}-{number}-{path.name}"))
        number += 1


def _is_own(output: Path, name: str) -> bool:
    """Whether what is there is what the model that is replaced has for itself."""
    if not (output.is_file() and _mentions(output, name)):
        return False
    beside = [path for path in output.parent.iterdir() if path.suffix.lower() in NAMING and path.is_file()]
    return not any(_mentions(path, name) for path in beside if not path.samefile(output))


def _mentions(path: Path, name: str) -> bool:
    """Whether a file has the fileName of a weight file in it."""
    if not path.stat().st_size:
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(f"{MODEL_PATH}/{name}".encode()) >= 0
