"""Fixes of a package or an .mlmodel whose description contradicts its program: either follows the other."""

from __future__ import annotations

import os
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.following import follow_descriptions, follow_programs
from miltext.checking.contract.whole import contradictions_in
from miltext.containers.spec import SpecModel
from miltext.descriptions.model_texts import description_text
from miltext.diagnostics import ModelError
from miltext.files.contents import parse_spec, read_file
from miltext.files.writing import write_file
from miltext.models.manifest import model_file
from miltext.pipelines.faults import faults
from miltext.printing.printing import to_text

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.proto import Model as Spec

PROGRAM, DESCRIPTION = "program", "description"
"""The sides that a fix may prefer: the other one follows it."""


_NAMES_ONLY = (
    "the preferred description changes only names in the program: prefer the program, or change it by `miltext "
    "reshape` or `miltext convert-weights`"
)


class ModelFix(NamedTuple):
    """A fix of a model's file: its new message, and the number of contradictions that it solves.

    `losses` are facts that the description loses: without them, the fix is certain. `reason` is why there is no fix.
    """

    file: Path
    spec: Spec
    solved: int
    losses: tuple[str, ...] = ()
    reason: str = ""


def fix_of(model: Model, prefer: str = PROGRAM) -> ModelFix | None:
    """Return the fix of an opened package or .mlmodel; None without contradictions.

    Raise ModelError for a file that cannot be read.
    """
    if model.path is None or model.spec is None or not _contradictions(model.spec):
        return None
    file = model_file(model.path) if model.kind == "mlpackage" else model.path
    spec = parse_spec(read_file(file), str(file))  # without the texts of overlays
    before = _contradictions(spec)
    made, losses = deepcopy(spec), list[str]()
    try:
        if prefer == PROGRAM:
            losses = [loss.message for loss in follow_programs(made)]
        else:
            follow_descriptions(made)
    except ModelError as failure:
        return ModelFix(file, spec, 0, reason=failure.diagnostics[0].message)
    after = _contradictions(made)
    if after - before or after == before:
        way = f"; {_NAMES_ONLY}" if prefer == DESCRIPTION else ""
        return ModelFix(file, spec, 0, reason=f"no certain change makes the description and the program agree{way}")
    if reason := _unwritable(model, file):
        return ModelFix(file, spec, 0, reason=reason)
    return ModelFix(file, made, (before - after).total(), tuple(losses))


def _contradictions(spec: Spec) -> Counter[tuple[str, str]]:
    """Return the contradictions between the programs, the descriptions and the stages of a model."""
    whole = SpecModel("mlmodel", "", None, None, spec)
    found = Counter((each.code, each.message) for each in contradictions_in(whole))
    return found + Counter((fault.code, fault.message) for fault in faults(spec))


def _unwritable(model: Model, file: Path) -> str:
    """Return the reason not to write a model's file; empty if it can be replaced."""
    assert model.path is not None
    folders = [file, *file.parents][: len(file.parts) - len(model.path.parts) + 1]
    if link := next((each for each in folders if each.is_symlink()), None):
        return f"`{link}` is a link, which is not followed; fix the file that it leads to"
    if not os.access(file.parent, os.W_OK):
        return f"`{file.parent}` cannot be written"
    return ""


def write(fix: ModelFix) -> None:
    """Replace a model's file by its fixed message; every other file stays as it is. Raise OSError."""
    write_file(fix.file, [fix.spec.SerializeToString(deterministic=True)])


def texts_of(model: Model, fix: ModelFix) -> tuple[str, str]:
    """Return the description of a model as text, before and after a fix; or its programs, if these are fixed."""
    fixed = SpecModel(model.kind, model.name, None, None, fix.spec)
    before, after = description_text(model), description_text(fixed)
    return (before, after) if before != after else (_programs(model), _programs(fixed))


def _programs(model: Model) -> str:
    return "\n".join(to_text(stage.model.program) for stage in model.programs())
