"""The other files in a compiled model, or in a package, besides its known parts."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.compiled.analytics import FILE_NAME as ANALYTICS
from miltext.compiled.coremldata import FILE_NAME, NAMES, TEXT
from miltext.compiled.metadata_json import FILE_NAME as METADATA_JSON
from miltext.models.manifest import DATA, MANIFEST, WEIGHTS, items, model_file
from miltext.models.overlays import FEATURES, METADATA
from miltext.schema.proto.kinds import PROGRAM
from miltext.weight_files.model_weights import blob_values

if TYPE_CHECKING:
    from miltext.building.new_model import NewModel
    from miltext.models.manifest import PackageItem
    from miltext.models.model import Model

KNOWN = (TEXT, FILE_NAME, METADATA_JSON, ANALYTICS, NAMES)
"""The parts of a compiled model, or of a stage, beside weights."""


def weight_paths(model: Model) -> set[str]:
    """Return the weight files that the program of a model names, by their paths below `@model_path`."""
    blobs = [held.value.blobFileValue for held in blob_values(model.program)] if model.type == PROGRAM else []
    return {blob.fileName.partition("/")[2] for blob in blobs}


def other_files(bundle: Model) -> list[str]:
    """Return the other files in the folder of a compiled model, stages included, besides its known parts."""
    assert bundle.model_path is not None
    known = set[str]()
    for model in (bundle, *(stage.model for stage in bundle.stages())):
        assert model.model_path is not None
        place = model.model_path.relative_to(bundle.model_path)
        known |= {(place / name).as_posix() for name in (*KNOWN, *weight_paths(model))}
    return files_below(bundle.model_path, known)


def other_items(package: Model) -> list[PackageItem]:
    """Return the items of a package whose use is unknown: neither its model, nor its overlays, nor its weights."""
    assert package.path is not None
    assert package.model_path is not None
    known = (WEIGHTS, METADATA, FEATURES)
    unknown = [item for item in items(package.path) if not item.is_model and item.use not in known]
    if not unknown:
        return []
    place = package.model_path.relative_to(package.path / DATA)
    programs = [package, *(stage.model for stage in package.stages())]
    weights = [Path(os.path.normpath(place / name)) for each in programs for name in weight_paths(each)]
    return [item for item in unknown if not any(path.is_relative_to(os.path.normpath(item.path)) for path in weights)]


def files_beside(new: NewModel) -> list[str]:
    """Return the other files in the original package of a model, besides that model and its weights."""
    assert new.package is not None
    known = {new.package / MANIFEST, *([new.origin] if new.origin is not None else [])}
    data = model_file(new.package).parent
    known |= {data / name for name in (*new.former, *new.files)}
    known |= {each.file for each in new.overlays.read if not each.unknown} if new.overlays is not None else set()
    places = {os.path.realpath(path) for path in (*known, *new.files.values(), *new.dropped)}
    return [name for name in files_below(new.package, ()) if os.path.realpath(new.package / name) not in places]


def files_below(folder: Path, known: Collection[str]) -> list[str]:
    """Return the files and links below a folder, without `known` ones, by their paths in it, sorted."""
    found: list[str] = []
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        found += [Path(parent, name).relative_to(folder).as_posix() for name in (*names, *links)]
    return sorted({*found} - {*known})
