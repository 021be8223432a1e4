"""Models from files, folders and bytes."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diagnostics import codes
from miltext.diagnostics.arguments import checked
from miltext.files.contents import kind_of_data, parse_spec, read_file
from miltext.files.foreign import refuse_foreign
from miltext.files.refusals import refusal
from miltext.models.manifest import MANIFEST

if TYPE_CHECKING:
    from miltext.models.model import Model

_KINDS = {".mil": "mil", ".mlmodel": "mlmodel", ".txtpb": "txtpb"}
"""The endings that determine the kind of a file; for any other name, also `.pb`, the content determines it."""


@checked()
def load(path: str | os.PathLike[str], model: int | str | None = None) -> Model:
    """Return the ML Program in a `.mil`, `.mlmodel`, `.mlpackage`, `.mlmodelc`, `.pb` or `.txtpb`.

    Text is parsed at the first use of `program`.

    Args:
        path: The file or folder.
        model: The model in a pipeline: an index or a name, or a path of them such as `"1/0"`.

    Returns:
        The model.

    Raises:
        ModelError: MIL25x for any other file or folder, a damaged one, or one without an ML Program.
        OSError: The file cannot be read.

    Example:
        model = miltext.load("Model.mlpackage")
    """
    chosen = open_model(path).select(model)
    _ = chosen.text  # raises the error of a bundle without its text
    return chosen


def read(data: bytes, name: str, model: int | str | None = None) -> Model:
    """Return the ML Program in the bytes of a file, as from standard input; `name` is its name in errors.

    The bytes themselves show the kind of file. `model` and the errors are as in `load`.
    """
    return read_model(data, name).select(model)


def read_model(data: bytes, name: str, path: str | None = None) -> Model:
    """Return the model of any type in the bytes of a file; otherwise as `read`.

    With a `path` for the bytes, its ending determines the kind as in `load`, and its folder, or the folder of the model
    at that path, is used for weights. The file itself is not read, and need not exist.
    """
    if path is None:
        return _from_bytes(data, kind_of_data(data), name, None)
    model = _from_bytes(data, _KINDS.get(Path(path).suffix.lower()) or kind_of_data(data), name, None)
    model.model_path = open_model(path).model_path if os.path.isdir(path) else Path(path).parent
    return model


@checked()
def open_model(path: str | os.PathLike[str]) -> Model:
    """Return the model of any type in a file or folder: also pipelines, and other models than ML Programs.

    Args:
        path: The file or folder.

    Returns:
        The model: `type` is its kind, and `models` are the models of a pipeline.

    Raises:
        ModelError: MIL25x for any other file or folder, or a damaged one.
        OSError: The file cannot be read.

    Example:
        kind = miltext.open_model("Model.mlpackage").type
    """
    if not os.fspath(path):
        raise refusal(codes.UNREADABLE_FILE, "the name of the file or folder is empty")
    path = Path(path)
    if os.path.isdir(path):
        model = _open_folder(path, str(path))
    else:
        data = read_file(path)
        model = _from_bytes(data, _KINDS.get(path.suffix.lower()) or kind_of_data(data), str(path), path)
    model.reopen = partial(open_model, path)
    return model


def _open_folder(folder: Path, name: str) -> Model:
    if _is_package(folder):
        from miltext.containers.spec import open_package

        return open_package(folder, name)
    if is_bundle(folder):
        from miltext.containers.bundle import open_bundle

        return open_bundle(folder, name)
    raise refusal(codes.NOT_A_MODEL_FOLDER, "this folder is neither an .mlpackage nor an .mlmodelc", folder)


def _is_package(folder: Path) -> bool:
    return folder.suffix.lower() == ".mlpackage" or os.path.exists(folder / MANIFEST)


def is_bundle(folder: Path) -> bool:
    """Return whether a path is a folder to open as a compiled model."""
    from miltext.compiled.coremldata import TEXT
    from miltext.containers.bundle import SIGNS

    if not os.path.isdir(folder) or _is_package(folder):
        return False
    return folder.suffix.lower() == ".mlmodelc" or any(os.path.exists(folder / sign) for sign in (TEXT, *SIGNS))


def _from_bytes(data: bytes, kind: str, name: str, path: Path | None) -> Model:
    refuse_foreign(data, name)
    if kind == "mlmodel":
        from miltext.containers.spec import SpecModel

        return SpecModel(kind, name, path, path.parent if path else None, parse_spec(data, name))
    from miltext.containers.programs import BareProgram, TextModel

    return TextModel(data, name, path) if kind == "mil" else BareProgram.read(kind, data, name, path)
