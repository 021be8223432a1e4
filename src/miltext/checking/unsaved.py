"""Unwritten models in memory, for the findings of `check`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from miltext.building.build import assemble
from miltext.building.choices import BuildChoices
from miltext.building.new_model import rename_files
from miltext.containers.spec import SpecModel
from miltext.diagnostics import MiltextError
from miltext.files.contents import parse_text
from miltext.files.writing import WITH_DESCRIPTION
from miltext.schema.function_io import interfaces
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.building.new_model import NewModel
    from miltext.models.model import Model
    from miltext.schema.proto import Program


def unsaved(new: NewModel, original: Model) -> SpecModel:
    """Return a model to write, made from an original, with the original's weight files."""
    kind = "mlmodel" if original.is_compiled else original.kind
    whole = SpecModel(kind, original.name, None, original.model_path, new.spec)
    whole.overlays = new.overlays
    _find_weights(whole, original, new)
    return whole


def _find_weights(whole: SpecModel, original: Model, new: NewModel) -> None:
    """Let the programs of a model find their weights where the original's models have them, under their names there.

    Each model in a compiled pipeline has its own folder.
    """
    for stage, before in zip(whole.programs(), original.programs(), strict=True):
        folder = stage.model.model_path = before.model.model_path
        if original.is_compiled and folder is not None:
            own = {name: path for name, path in new.files.items() if path.is_relative_to(folder)}
            rename_files(stage.model.program, {name: path.relative_to(folder).as_posix() for name, path in own.items()})


def as_saved(model: Model) -> Model | Program:
    """Return the model that `save` would write of a model changed in memory, with the program as it is in memory.

    Return an unchanged model itself. The result is the changed program alone if the model has no description, or if a
    compiled model cannot be saved.
    """
    if not _is_changed(model):
        return model
    if model.kind not in WITH_DESCRIPTION:
        return model.program
    try:
        saved = unsaved(assemble(model, BuildChoices(check=False)), model)
    except MiltextError:
        return model.program if model.is_compiled else model
    saved.program = model.program
    saved.path = model.path if model.kind == "mlpackage" else None  # whose manifest and other files are kept
    return saved


def _is_changed(model: Model) -> bool:
    """Return whether the program or the description of a model differs from its source.

    Without a source to read again, only changes of inputs, outputs and states are known. An unreadable description was
    not changed.
    """
    description = None
    with suppress(MiltextError):
        description = model.description
    if model.is_pipeline or ("program" not in vars(model) and description is None):
        return False
    if model.kind == "mil":
        return wire_of(parse_text(model.text or "", model.name)) != wire_of(model.program)
    with suppress(MiltextError, OSError):
        if model.reopen is not None:
            again = model.reopen()
            is_same = "program" not in vars(model) or wire_of(again.program) == wire_of(model.program)
            return not is_same or (description is not None and again.description != description)
    return "program" in vars(model) and bool(model.interfaces) and interfaces(model.program) != model.interfaces
