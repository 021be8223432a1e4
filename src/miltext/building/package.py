"""Writing models: an `.mlpackage` with its manifest, or an `.mlmodel` with its weights beside it.

The package's form is what coremltools 9.0 writes, `modelpackage/src/ModelPackage.cpp`.
"""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from miltext.building.copying import Progress, copy_file, copy_folder
from miltext.building.refusals import refusal, refusing_depth
from miltext.building.staging import Staging
from miltext.building.storing import write_weights
from miltext.models.model import PROGRAM
from miltext.models.package import MANIFEST, model_file, whole_manifest

if TYPE_CHECKING:
    from miltext.building.draft import Draft
    from miltext.proto import Model as Spec

DATA = "Data"
AUTHOR = "com.apple.CoreML"
MODEL_PATH = f"{AUTHOR}/model.mlmodel"
LARGEST = (1 << 31) - 1
"""Bytes that protobuf's readers take in one message."""


def write_model(draft: Draft, output: Path, force: bool, progress: Progress | None) -> None:
    """Write a draft to an `.mlpackage` or `.mlmodel`; what is there is replaced when all is written, if `force`.

    Raises FileExistsError, OSError, WeightsError, and ModelError: MIL402, MIL403, MIL405.
    """
    with Staging(force) as staging:
        if output.suffix.lower() == ".mlpackage":
            _write_package(draft, staging.place(output), progress)
        else:
            _write_file(draft, output, staging, progress)
        staging.commit()


def _write_package(draft: Draft, made: Path, progress: Progress | None) -> None:
    manifest, place = _new_manifest(), PurePosixPath(MODEL_PATH)
    stored = {draft.store} if draft.storing else set()
    if draft.package:
        manifest = whole_manifest(draft.package)
        place = PurePosixPath(model_file(draft.package).relative_to(draft.package / DATA).as_posix())
        replaced = [draft.package / MANIFEST, draft.package / DATA / place]
        replaced += [draft.package / DATA / place.parent / name for name in stored]
        copy_folder(draft.package, made, {Path(os.path.realpath(path)) for path in replaced}, progress)
    folder = made / DATA / place.parent
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted({*draft.files, *stored}):
        if name in stored or not (folder / name).exists():
            _write_weights(draft, name, folder / name, progress)
        _list_item(manifest, (place.parent / name).as_posix(), (place.parent / name.partition("/")[0]).as_posix())
    _write(folder / place.name, serialized(draft.spec))
    _write(made / MANIFEST, (json.dumps(manifest, indent=4, sort_keys=True) + "\n").encode())


def _write_file(draft: Draft, output: Path, staging: Staging, progress: Progress | None) -> None:
    """An `.mlmodel`, for which `@model_path` is the folder that it is in: its weights are put there."""
    stored = {draft.store} if draft.storing else set()
    for name in sorted({*draft.files, *stored}):
        target, source = output.parent / name, draft.files.get(name)
        if name in stored or source is None or not (target.exists() and target.samefile(source)):
            _write_weights(draft, name, staging.place(target), progress)
    _write(staging.place(output), serialized(draft.spec))


def _write_weights(draft: Draft, name: str, target: Path, progress: Progress | None) -> None:
    source = draft.files.get(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    if draft.storing and name == draft.store:
        write_weights(draft.storing, name, source, target, progress)
    elif source:
        copy_file(source, target, progress)


def serialized(spec: Spec) -> bytes:
    """The bytes of a Model message. Raises ModelError (MIL405) for one that no reader would take."""
    size = spec.ByteSize()
    if size > LARGEST:
        raise refusal(
            "MIL405", f"the model takes {size} bytes without its weight files, and readers no more than 2 GiB"
        )
    if spec.WhichOneof("Type") == PROGRAM:
        return spec.SerializeToString(deterministic=True)
    with refusing_depth():  # a pipeline may stand around a program that is itself as deep as can be
        data = spec.SerializeToString(deterministic=True)
        type(spec).FromString(data)
    return data


def _write(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


# ---- manifests


def _new_manifest() -> dict[str, Any]:
    root = _identifier(MODEL_PATH)
    entry = {
        "author": AUTHOR,
        "description": "CoreML Model Specification",
        "name": "model.mlmodel",
        "path": MODEL_PATH,
    }
    return {"fileFormatVersion": "1.0.0", "itemInfoEntries": {root: entry}, "rootModelIdentifier": root}


def _list_item(manifest: dict[str, Any], path: str, item: str) -> None:
    """List an item of the package, unless the path is in one that is listed."""
    entries = manifest["itemInfoEntries"]
    if any(PurePosixPath(path).is_relative_to(entry["path"]) for entry in entries.values()):
        return
    name = PurePosixPath(item).name
    entries[_identifier(item)] = {"author": AUTHOR, "description": "CoreML Model Weights", "name": name, "path": item}


def _identifier(path: str) -> str:
    """An item's identifier: always the same for a path, so that what is built twice is the same twice."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, path))
