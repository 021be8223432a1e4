"""The sources that functions accept: MIL text, a path, a Program, or a Model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias, Union

from miltext.containers.opening import open_model
from miltext.containers.programs import BareProgram, TextModel
from miltext.models.model import Model
from miltext.schema.proto import Message, Program
from miltext.syntax.programs import FULL_NAME, own_copy

Source: TypeAlias = Union[str, "os.PathLike[str]", Message, Model]
"""A source: MIL text, the path of a model, a Program of any pool, or a Model."""

_TEXT, _PROGRAM = "<text>", "<program>"
"""The names of sources without a file in errors."""

_WAYS = {
    "CoreML.Specification.Model": "pass its `mlProgram`, or save it as an .mlmodel",
    "coremltools.converters.mil": "`miltext.coreml.from_pymil` makes a Model of it",
    "coremltools.models": "save it as an .mlpackage, and pass the path",
}
"""How to pass other objects that hold a model, by the beginning of the name of a message or a module."""


def is_text(words: str) -> bool:
    """Return whether a string is MIL text: it has a line end or a `{`. Any other string is a path."""
    return any(mark in words for mark in "\r\n{")


def model_of(source: Source, folder: Path | None = None) -> Model:
    """Return the model of any type that a source contains, or is; a text finds its files in the `folder`.

    The program of the model is the Program itself, unless it is of another pool. Raise ModelError and OSError as
    `open_model` does, and TypeError for any other object.
    """
    if isinstance(source, Model):
        return source
    if isinstance(source, str) and is_text(source):
        return _of_text(source, folder)
    if isinstance(source, str | os.PathLike):
        return open_model(source)
    require_source(source)
    program = source if isinstance(source, Program) else own_copy(source)
    return BareProgram("pb", program, _PROGRAM, None)


def require_source(source: object) -> None:
    """Raise TypeError for an object that is not a source."""
    if isinstance(source, str | os.PathLike | Model):
        return
    name = getattr(getattr(source, "DESCRIPTOR", None), "full_name", "")
    if name == FULL_NAME:
        return
    made = f"{type(source).__module__}.{type(source).__qualname__}"
    way = next((f": {way}" for start, way in _WAYS.items() if start == name or made.startswith(start)), "")
    raise TypeError(f"expected MIL text, a path, a Program or a Model, not {name or type(source).__name__}{way}")


def _of_text(text: str, folder: Path | None) -> TextModel:
    name = _TEXT if folder is None else str(folder / _TEXT)
    model = TextModel(text.encode("utf-8", "surrogatepass"), name, None)
    model.model_path = folder
    return model
