"""The first step of a build: the original model, rewritten with other programs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING

from miltext.building.compiling.other_files import other_files
from miltext.building.decompiling import Decompiling, strip
from miltext.building.given_weights import GivenFolder, with_folder
from miltext.building.new_model import NewModel, ml_programs, way_to
from miltext.descriptions.changes import around
from miltext.descriptions.counterparts import Version
from miltext.diagnostics import MiltextError, codes, warning
from miltext.files.contents import parse_text
from miltext.files.refusals import refusal
from miltext.files.writing import WITH_DESCRIPTION
from miltext.models.manifest import model_file
from miltext.schema.function_io import interfaces
from miltext.weight_files.model_weights import BlobFolder, blob_values

if TYPE_CHECKING:
    from miltext.building.choices import BuildChoices
    from miltext.building.given_weights import GivenWeights
    from miltext.models.model import Model
    from miltext.schema.proto import Program


def remade(original: Model, programs: Mapping[Model, Program], source: Model, choices: BuildChoices) -> NewModel:
    """Return a model with a description, to be rewritten; `programs`, from the `source`, replace the programs of its
    models, and may name given weight files.
    """
    weights = _given(original, source, choices)
    if original.is_compiled:
        return _compiled(original, programs, weights, choices)
    assert original.spec is not None  # it is not compiled
    package = original.path if original.kind == "mlpackage" else None
    new = NewModel(deepcopy(original.spec), package=package, origin=model_file(package) if package else original.path)
    lacking = _blob_names(*ml_programs(new.spec))
    new.overlays = original.overlays
    new.warnings += new.overlays.problems if new.overlays is not None else ()
    new.around = around(new.spec)
    new.former = {name.partition("/")[2] for name in lacking}
    for chosen, program in programs.items():
        way_to(chosen, original, new.spec)[-1].mlProgram.CopyFrom(program)
    folder = GivenFolder(BlobFolder(original.model_path), weights, programs.values() or ml_programs(new.spec), lacking)
    new.find_files(folder, lacking)
    new.given = folder.taken
    return new


def _compiled(
    original: Model, programs: Mapping[Model, Program], weights: GivenWeights | None, choices: BuildChoices
) -> NewModel:
    """Return a decompiled model."""
    if weights is not None and not programs:
        raise refusal(codes.UNUSED_WEIGHT_FILE, "each model of a compiled pipeline has its own weights", original.name)
    folders = {
        each: GivenFolder(BlobFolder(each.model_path), weights, [program], _blob_names(each.program))
        for each, program in programs.items()
    }
    new = Decompiling(programs, folders, choices.asked).model(original)
    new.around = around(new.spec)
    if others := other_files(original):
        message = f"other files of the compiled model are not kept: {', '.join(others)}"
        new.warnings.append(warning(codes.FILES_NOT_KEPT, message))
    return new


def _blob_names(*programs: Program) -> set[str]:
    """Return the names of the programs' weight files, by fileName."""
    return {held.value.blobFileValue.fileName for each in programs for held in blob_values(each)}


def _given(original: Model, source: Model, choices: BuildChoices) -> GivenWeights | None:
    """Return the weights given for a program: also the weights of its own model, if it is not a text."""
    if source is original or source.kind not in WITH_DESCRIPTION or source.model_path is None:
        return choices.weights
    return with_folder(choices.weights, source.model_path)


# ---- the program of a description


def version_before(chosen: Model, *, is_changed: bool) -> Version:
    """Return the program that belongs to a model's description.

    A program that may have changed in memory is read again; it is unknown if it differs from the first reading.
    """
    program = _read_again(chosen) if is_changed else chosen.program
    if program is None or interfaces(program) != chosen.interfaces:
        return Version(chosen.interfaces, None)
    return Version(chosen.interfaces, strip(deepcopy(program)) if chosen.is_compiled else deepcopy(program))


def _read_again(model: Model) -> Program | None:
    if model.text is not None:
        return parse_text(model.text, model.name)
    with suppress(MiltextError):
        return model.reopen().program if model.reopen else None
    return None
