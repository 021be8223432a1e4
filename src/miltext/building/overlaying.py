"""The overlays of a written package, with the texts of the description."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from miltext.models.overlays import written
from miltext.schema.function_io import SIDES
from miltext.schema.proto import Model as Spec

if TYPE_CHECKING:
    from miltext.building.new_model import NewModel


def own_model(new: NewModel) -> Spec:
    """Return the message of a model for the model's own file, without the texts of overlays."""
    if new.overlays is None or not new.overlays.read:
        return new.spec
    own, _ = new.overlays.split(new.spec.description, _renames(new))
    made = Spec()
    made.CopyFrom(new.spec)
    made.ClearField("description")
    if own.ByteSize():
        made.description.CopyFrom(own)
    return made


def changed_overlays(new: NewModel) -> dict[str, bytes]:
    """Return the new contents of changed overlays, by their paths below `Data`; without an original package, the
    contents of all overlays.
    """
    if new.overlays is None:
        return {}
    if new.package is None:
        return {os.path.normpath(each.path): written(each.table) for each in new.overlays.read}
    _, files = new.overlays.split(new.spec.description, _renames(new))
    return {os.path.normpath(path): data for path, data in files.items()}


def _renames(new: NewModel) -> Mapping[str, Mapping[str, str]]:
    """Return the new names of the outermost model's features by their old names, by side; for several functions, of the
    default function's features.

    Training inputs have the names of inputs.
    """
    default = new.spec.description.defaultFunctionName
    found: dict[str, dict[str, str]] = {side: {} for side in SIDES}
    for each in new.changes:
        if each.kind in SIDES and not each.model and each.old_name and each.function in ("", default):
            found[each.kind][each.old_name] = each.name
    return {**found, "trainingInput": found["input"]}
