"""The files and models that paths name: a folder means all below it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from miltext.diagnostics import MiltextError, codes
from miltext.files.writing import MODEL_FOLDERS, below

FILES = (".mil", ".mlmodel")
"""The ends of the names of the files found in a folder."""

MODEL_PARTS = (
    "Manifest.json",
    "coremldata.bin",
    "metadata.json",
    "analytics",
    "weights",
    "model0",
    "model.espresso.net",
)
"""Files of a model: a folder that contains any of them is a model, whatever its name. A lone model.mil is a result of
`print -o`.
"""

EMPTY = f"no {', '.join(FILES + MODEL_FOLDERS[:1])} or {MODEL_FOLDERS[1]}"
"""The contents of a folder without a model."""


class Input(NamedTuple):
    """A file or model, either `found` in a folder or named; `-` is standard input."""

    name: str
    found: bool


Excludes: TypeAlias = Callable[[str, "str | None"], bool]
"""Return whether a path is left out; the second argument is the folder that it was found in, None for a named path."""


def named_models(paths: Iterable[str], excludes: Excludes, empty: Callable[[str], object]) -> list[Input]:
    """Return the files and models of the paths, each once; for a plain folder, all below it.

    A file in a package or bundle stands for the whole model. A path that does not exist is an input as well. `empty` is
    called with a folder without any model. Raise OSError for an unreadable folder.
    """
    return distinct(_named(paths, excludes, empty))


def distinct(inputs: Iterable[Input]) -> list[Input]:
    """Return the inputs, each file or model once, under the first of its names: another may lead through a link."""
    each: dict[str, Input] = {}
    for item in inputs:
        each.setdefault(item.name if item.name == "-" else os.path.realpath(item.name), item)
    return list(each.values())


def _named(paths: Iterable[str], excludes: Excludes, empty: Callable[[str], object]) -> Iterator[Input]:
    for path in paths:
        path = path if path == "-" else _whole(path)
        is_folder = path != "-" and is_plain_folder(path)
        for name in _below(path, excludes, empty) if is_folder else [path]:
            if not excludes(name, None):
                yield Input(name, is_folder)


def is_plain_folder(path: str) -> bool:
    """Whether a folder may contain models, but is none itself."""
    from miltext.containers.opening import open_model

    if not os.path.isdir(path) or path.lower().endswith(MODEL_FOLDERS):
        return False
    if not any(os.path.exists(os.path.join(path, part)) for part in MODEL_PARTS):
        return True
    try:
        open_model(path)
    except MiltextError as error:
        return error.diagnostics[0].code == codes.NOT_A_MODEL_FOLDER
    return False


def whole_model(name: str) -> Path:
    """Return the package or bundle that a path names, or the one around it; else the path itself."""
    path = Path(os.path.abspath(name))
    outer = [each for each in (path, *path.parents) if each.suffix.lower() in MODEL_FOLDERS]
    whole = outer[-1] if outer else path
    near = whole if os.path.isabs(name) else Path(os.path.relpath(whole))
    return whole if near.name in ("", "..") else near


def _whole(path: str) -> str:
    """Return the path of the model around a file of it; any other path is as it was written.

    A folder in a compiled pipeline may be a model of it.
    """
    whole = whole_model(path)
    return str(whole) if whole.suffix.lower() in MODEL_FOLDERS and os.path.isfile(path) else path


def _below(folder: str, excludes: Excludes, empty: Callable[[str], object]) -> list[str]:
    """Return every text and model below, except for sidecars, which contain less than their models."""
    from miltext.review.sidecar import is_sidecar

    names = below(folder, FILES, MODEL_FOLDERS)
    if not names:
        empty(folder)
    return [name for name in names if not is_sidecar(name) and not excludes(name, folder)]
