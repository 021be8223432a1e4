"""Writing models: an `.mlpackage` with its manifest, or an `.mlmodel` with its weights beside it.

The package's form is what coremltools 9.0 writes, `modelpackage/src/ModelPackage.cpp`.
"""

from __future__ import annotations

import json
import os
import uuid
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from miltext.models.building.copying import Progress, copy_file, copy_folder
from miltext.models.building.draft import ml_programs
from miltext.models.building.placing import Subject
from miltext.models.building.refusals import refusal, refusing_depth
from miltext.models.building.storing import write_weights
from miltext.models.building.targets import weight_name
from miltext.models.files import write_new
from miltext.models.manifest import MANIFEST, model_file, whole_manifest
from miltext.models.staging import Staging
from miltext.models.weight_paths import MODEL_PATH as WEIGHTS_PATH
from miltext.models.weight_paths import refusal as weights_refusal
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.walk import values

if TYPE_CHECKING:
    from miltext.models.building.draft import Draft
    from miltext.schema.proto import Model as Spec

DATA = PurePosixPath("Data")
AUTHOR = "com.apple.CoreML"
MODEL_PATH = f"{AUTHOR}/model.mlmodel"
LARGEST = (1 << 31) - 1
"""Bytes that protobuf's readers take in one message."""


def write_model(draft: Draft, output: Path, force: bool, progress: Progress | None) -> None:
    """Write a draft to an `.mlpackage` or `.mlmodel`; what is there is replaced when all is written, if `force`.

    Raise FileExistsError, OSError, WeightsError, and ModelError: MIL402, MIL403, MIL405.
    """
    with Staging(replace=force, parents=True) as staging:
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
        model = Path(os.path.normpath(model_file(draft.package).relative_to(draft.package / DATA)))
        place = PurePosixPath(model.as_posix())
        replaced = [DATA / place, *[DATA / place.parent / name for name in stored]]
        skipped = {draft.package / MANIFEST, *[draft.package / path for path in replaced]}
        copy_folder(draft.package, made, skipped, progress)
    _check_names({*draft.files, *stored}, place.name)
    folder = made / DATA / place.parent
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted({*draft.files, *stored}):
        if name in stored or not (folder / name).exists():
            _write_weights(draft, name, name, folder / name, progress)
        _list_item(manifest, (place.parent / name).as_posix(), (place.parent / name.partition("/")[0]).as_posix())
    write_new(folder / place.name, [serialized(draft.spec)])
    _make_listed_folders(manifest, made / DATA)
    write_new(made / MANIFEST, [(json.dumps(manifest, indent=4, sort_keys=True) + "\n").encode()])


def _write_file(draft: Draft, output: Path, staging: Staging, progress: Progress | None) -> None:
    """Write an `.mlmodel`. Its `@model_path` is the folder that it is in, where its weights are put."""
    stored = {draft.store} if draft.storing else set()
    _check_names({*draft.files, *stored}, output.name)
    names = {name: name for name in sorted({*draft.files, *stored})}
    moved = [name for name in names if name in stored or not _is_file(output.parent / name, draft.files[name])]
    free = {}
    for name in moved:
        names[name], free[name] = weight_name(output, name, [each for old, each in names.items() if old != name])
    _rename_files(draft.spec, names)
    for name in moved:
        made = staging.place(output.parent / names[name], free=free[name])
        _write_weights(draft, name, names[name], made, progress)
    write_new(staging.place(output), [serialized(draft.spec)])


def _is_file(path: Path, other: Path) -> bool:
    return path.exists() and path.samefile(other)


def _rename_files(spec: Spec, names: dict[str, str]) -> None:
    """Have the programs of a model name weight files otherwise."""
    changed = {f"{WEIGHTS_PATH}/{old}": f"{WEIGHTS_PATH}/{new}" for old, new in names.items() if old != new}
    for program in ml_programs(spec) if changed else ():
        for held in values(program):
            name = held.value.blobFileValue.fileName
            if name in changed:
                held.value.blobFileValue.fileName = changed[name]


def _check_names(weights: set[str], model: str) -> None:
    """Refuse a weight file where the model's own file is to be, on a disk that tells no cases apart either."""
    for name in weights:
        if PurePosixPath(name).parts[0].casefold() == model.casefold():
            file_name = f"{WEIGHTS_PATH}/{name}"
            failure = weights_refusal(
                "MIL301", f"the weight file {file_name!r} would be where the model itself is", model
            )
            failure.about = Subject("weight", file_name)
            raise failure


def _write_weights(draft: Draft, name: str, new: str, target: Path, progress: Progress | None) -> None:
    """Write the weight file `name` of a draft to a target, which the model calls `new`."""
    source = draft.files.get(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    if draft.storing and name == draft.store:
        write_weights(draft.storing, new, source, target, progress)
    elif source:
        copy_file(source, target, progress)


def serialized(spec: Spec) -> bytes:
    """Return the bytes of a Model message. Raise ModelError (MIL405) for one that no reader would take."""
    size = spec.ByteSize()
    if size > LARGEST:
        raise refusal(
            "MIL405", f"the model takes {size} bytes without its weight files, but readers take at most 2 GiB"
        )
    if spec.WhichOneof("Type") == PROGRAM:
        return spec.SerializeToString(deterministic=True)
    with refusing_depth():  # a pipeline may stand around a program that is itself as deep as can be
        data = spec.SerializeToString(deterministic=True)
        type(spec).FromString(data)
    return data


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
    if any(PurePosixPath(path).is_relative_to(known) for known in _listed(manifest)):
        return
    name = PurePosixPath(item).name
    manifest["itemInfoEntries"][_identifier(item)] = {
        "author": AUTHOR,
        "description": "CoreML Model Weights",
        "name": name,
        "path": item,
    }


def _listed(manifest: dict[str, Any]) -> list[str]:
    """Return the paths of a manifest's items, each of which has one."""
    return [item["path"] for item in manifest["itemInfoEntries"].values()]


def _make_listed_folders(manifest: dict[str, Any], data: Path) -> None:
    """Make the folders that a manifest lists and that are not there: git keeps no empty ones, and coremltools, which
    lists the folder of weights of every model, opens no package that lacks an item.
    """
    for path in map(PurePosixPath, _listed(manifest)):
        if not path.suffix and not path.is_absolute() and ".." not in path.parts:
            with suppress(OSError, ValueError):  # a file stands there, or no folder can have that name
                (data / path).mkdir(parents=True, exist_ok=True)


def _identifier(path: str) -> str:
    """Return an item's identifier: always the same for a path, so that what is built twice is the same twice."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, path))
