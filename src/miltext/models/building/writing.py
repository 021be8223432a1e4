"""Writing models: an `.mlpackage` with its manifest, or an `.mlmodel` with its weights beside it.

The package's form is what coremltools 9.0 writes, `modelpackage/src/ModelPackage.cpp`.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import uuid
from collections.abc import Collection, Iterator
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from miltext.models.building.known_records import records_of
from miltext.models.building.new_model import ml_programs, refusing_depth, rename_files
from miltext.models.building.placing import Subject
from miltext.models.building.storing import LARGEST
from miltext.models.files import copy_file, write_new
from miltext.models.manifest import MANIFEST, Manifest, model_file, whole_manifest
from miltext.models.model_weights import MODEL_PATH
from miltext.models.refusals import refusal
from miltext.models.staging import Staging
from miltext.models.weights import BlobFile, BlobWriter
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.models.building.new_model import NewModel
    from miltext.models.files import Progress
    from miltext.schema.proto import Model as Spec

DATA = PurePosixPath("Data")
AUTHOR = "com.apple.CoreML"
MODEL_FILE = f"{AUTHOR}/model.mlmodel"
NAMING = (".mlmodel", ".mil", ".pb", ".txtpb")
"""The endings of files that name weights in the folder that they are in."""


def write_model(new: NewModel, output: Path, force: bool, progress: Progress | None) -> None:
    """Write a model to an `.mlpackage` or `.mlmodel`; what is there is replaced when all is written, if `force`.

    Raise FileExistsError, OSError, WeightsError, and ModelError: MIL402, MIL403, MIL405.
    """
    with Staging(replace=force, parents=True) as staging:
        if output.suffix.lower() == ".mlpackage":
            _write_package(new, staging.place(output), progress)
        else:
            _write_file(new, output, staging, progress)
        staging.commit()


def work(new: NewModel, output: Path) -> int:
    """Return how many bytes `write_model` tells as progress."""
    size = new.storing.size if new.storing else 0
    there = output.parent
    if output.suffix.lower() == ".mlpackage":
        there = (new.package or output) / DATA / _place(new).parent
    if new.package and there != output.parent:
        skipped = _replaced(new)
        size += sum(path.stat().st_size for path in contents_of(new.package) if path.is_file() and path not in skipped)
    written = [path for name, path in new.files.items() if new.is_stored_in(name) or not _is_at(path, there / name)]
    return size + sum(path.stat().st_size for path in written)


def _place(new: NewModel) -> PurePosixPath:
    """Return the path of the model's own file in the data of its package."""
    if not new.package:
        return PurePosixPath(MODEL_FILE)
    model = os.path.normpath(model_file(new.package).relative_to(new.package / DATA))
    return PurePosixPath(Path(model).as_posix())


def _replaced(new: NewModel) -> set[Path]:
    """Return the files of the package that a model comes from which are written anew."""
    assert new.package
    data = new.package / DATA
    replaced = {new.package / MANIFEST, data / _place(new)}
    return replaced | {data / _place(new).parent / new.store} if new.storing else replaced


def _is_at(path: Path, there: Path) -> bool:
    return there.exists() and there.samefile(path)


def _write_package(new: NewModel, made: Path, progress: Progress | None) -> None:
    manifest, place = _new_manifest(), _place(new)
    if new.package:
        manifest = whole_manifest(new.package)
        copy_folder(new.package, made, _replaced(new), progress)
    _check_names(new.weight_files, place.name)
    folder = made / DATA / place.parent
    folder.mkdir(parents=True, exist_ok=True)
    for name in new.weight_files:
        if new.is_stored_in(name) or not (folder / name).exists():
            _write_weights(new, name, name, folder / name, progress)
        _list_item(manifest, place.parent / name, place.parent / PurePosixPath(name).parts[0])
    write_new(folder / place.name, [serialized(new.spec)])
    _make_listed_folders(manifest, made / DATA)
    write_new(made / MANIFEST, [(json.dumps(manifest, indent=4, sort_keys=True) + "\n").encode()])


def _write_file(new: NewModel, output: Path, staging: Staging, progress: Progress | None) -> None:
    """Write an `.mlmodel`. Its `@model_path` is the folder that it is in, where its weights are put."""
    _check_names(new.weight_files, output.name)
    names = {name: name for name in new.weight_files}
    read = new.storing.sources if new.storing else ()
    moved: dict[str, bool] = {}
    for name in names:
        there = output.parent / name
        if new.is_stored_in(name) or not _is_at(new.files[name], there):
            others = [each for old, each in names.items() if old != name]
            names[name], moved[name] = weight_name(output, name, others, read)
    for program in ml_programs(new.spec):
        rename_files(program, names)
    for name, free in moved.items():
        made = staging.place(output.parent / names[name], free=free)
        _write_weights(new, name, names[name], made, progress)
    write_new(staging.place(output), [serialized(new.spec)])


def _check_names(weights: Collection[str], model: str) -> None:
    """Refuse a weight file where the model's own file is to be, also on a disk that ignores case."""
    for name in weights:
        if PurePosixPath(name).parts[0].casefold() == model.casefold():
            file_name = f"{MODEL_PATH}/{name}"
            message = f"the weight file {file_name!r} would be where the model itself is"
            raise refusal("MIL301", message, model, about=Subject("weight", file_name))


def _write_weights(new: NewModel, name: str, called: str, target: Path, progress: Progress | None) -> None:
    """Write a weight file to a target: its records, and after them the values that are still to be stored in it.

    `name` is what the file is known by, and `called` what the model to write calls it.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if not (new.storing and new.is_stored_in(name)):
        copy_file(new.files[name], target, progress)
        return
    source = new.files.get(name)
    with BlobFile(source) if source else nullcontext() as old, BlobWriter(target, progress, after=old) as writer:
        new.storing.write(writer, called, records_of(old))


def serialized(spec: Spec) -> bytes:
    """Return the bytes of a Model message. Raise ModelError (MIL405) for one that no reader would take."""
    size = spec.ByteSize()
    if size > LARGEST:
        message = f"the model takes {size} bytes without its weight files, but readers take at most 2 GiB"
        raise refusal("MIL405", message)
    if spec.WhichOneof("Type") == PROGRAM:
        return spec.SerializeToString(deterministic=True)
    with refusing_depth():  # a pipeline may stand around a program that is itself as deep as can be
        data = spec.SerializeToString(deterministic=True)
        type(spec).FromString(data)
    return data


# ---- copies of packages


def copy_folder(source: Path, target: Path, skipped: set[Path], progress: Progress | None = None) -> None:
    """Copy a folder with all that is in it, empty folders too, except for the files `skipped`, which are paths in it.

    Raise OSError, and ModelError (MIL403) for links that lead outside or to folders, and for anything that is neither
    a file nor a folder.
    """
    target.mkdir(parents=True)
    for path in contents_of(source):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir()
        elif path not in skipped:
            copy_file(Path(os.path.realpath(path)), copy, progress)


def contents_of(folder: Path) -> list[Path]:
    """Return the folders and files below a folder, each folder before what is in it. Raise as `copy_folder` does."""
    root = Path(os.path.realpath(folder))
    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted([*folders, *names]):
            path = Path(parent, name)
            is_file = path.is_file() and Path(os.path.realpath(path)).is_relative_to(root)
            if not is_file and (path.is_symlink() or not path.is_dir()):
                message = f"{str(path.relative_to(folder))!r} leads outside, or is not a file"
                raise refusal("MIL403", message, folder)
            found.append(path)
    return found


def _raise(failure: OSError) -> None:
    raise failure


# ---- manifests


def _new_manifest() -> Manifest:
    root = _identifier(MODEL_FILE)
    entries = {root: _entry(MODEL_FILE, "CoreML Model Specification")}
    return {"fileFormatVersion": "1.0.0", "itemInfoEntries": entries, "rootModelIdentifier": root}


def _entry(path: str, description: str) -> dict[str, str]:
    return {"author": AUTHOR, "description": description, "name": PurePosixPath(path).name, "path": path}


def _list_item(manifest: Manifest, path: PurePosixPath, item: PurePosixPath) -> None:
    """List an item of the package, unless the path is in one that is listed."""
    if not any(path.is_relative_to(known) for known in _listed(manifest)):
        manifest["itemInfoEntries"][_identifier(str(item))] = _entry(str(item), "CoreML Model Weights")


def _listed(manifest: Manifest) -> list[str]:
    """Return the paths of a manifest's items, each of which has one."""
    return [item["path"] for item in manifest["itemInfoEntries"].values()]


def _make_listed_folders(manifest: Manifest, data: Path) -> None:
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


# ---- weight files beside an .mlmodel


def weight_name(output: Path, name: str, taken: Collection[str], read: Collection[Path] = ()) -> tuple[str, bool]:
    """Return the name, below the folder of the `.mlmodel` to write, of the weight file that would be called `name`; and
    whether nothing is there.

    It is another one where that file is there and not this model's alone, so that no other model loses its weights,
    or is among those that are `read`.
    """
    names = ((each, not os.path.lexists(output.parent / each)) for each in _names(output, name) if each not in taken)
    return next((each, free) for each, free in names if free or _is_own(output, each, read))


def _names(output: Path, name: str) -> Iterator[str]:
    yield name
    stem, path = re.sub(r"[^\w.-]", "_", output.stem)[:64], PurePosixPath(name)
    yield str(path.with_name(f"{stem}-{path.name}"))
    yield from (str(path.with_name(f"{stem}-{number}-{path.name}")) for number in count(1))


def _is_own(output: Path, name: str, read: Collection[Path]) -> bool:
    """Whether what is there is what the model that is replaced has for itself, and none of the files that are read."""
    if any(_is_at(path, output.parent / name) for path in read) or not (output.is_file() and _mentions(output, name)):
        return False
    beside = [path for path in output.parent.iterdir() if path.suffix.lower() in NAMING and path.is_file()]
    return not any(_mentions(path, name) for path in beside if not path.samefile(output))


def _mentions(path: Path, name: str) -> bool:
    """Whether a file has the fileName of a weight file in it."""
    if not path.stat().st_size:
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(f"{MODEL_PATH}/{name}".encode()) >= 0
