"""Writing models: an `.mlpackage` with its manifest, or an `.mlmodel` with its weights beside it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import nullcontext, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from miltext.building.new_model import ml_programs, refusing_depth, rename_files
from miltext.building.overlaying import changed_overlays, own_model
from miltext.building.sibling_weights import is_at, leads_elsewhere, weight_name
from miltext.building.storing import LARGEST
from miltext.diagnostics import ModelError, codes
from miltext.files.contents import parse_spec, read_file
from miltext.files.refusals import BlamedPart, refusal
from miltext.files.staging import Staging
from miltext.files.writing import copy_file, write_new
from miltext.models.manifest import (
    DATA,
    MANIFEST,
    MODEL_FILE,
    contents_of,
    copy_folder,
    list_item,
    manifest_of,
    model_file,
    write_manifest,
)
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.wire import wire_of
from miltext.weight_files.blob_storage import BlobFile, BlobWriter
from miltext.weight_files.known_records import KnownRecords, records_of
from miltext.weight_files.paths import MODEL_PATH

if TYPE_CHECKING:
    from miltext.building.new_model import NewModel, WeightRecord
    from miltext.files.writing import Progress
    from miltext.schema.proto import Model as Spec


def write_model(new: NewModel, output: Path, force: bool, progress: Progress | None) -> None:
    """Write a model to an `.mlpackage` or `.mlmodel`; with `force`, replace an existing one after all files are
    written.

    Raise FileExistsError, OSError, WeightsError, and ModelError: MIL402, MIL403, MIL405.
    """
    with Staging(replace=force, parents=True) as staging:
        if output.suffix.lower() == ".mlpackage":
            _write_package(new, staging.place(output), progress)
            unused = []
        else:
            unused = _write_file(new, output, staging, progress)
        staging.commit()
    for path in unused:
        with suppress(OSError):  # the model is written, and does not need this file
            path.unlink()


def work(new: NewModel, output: Path) -> int:
    """Return the bytes that `write_model` reports as progress."""
    size = new.storing.size if new.storing else 0
    there = output.parent
    if output.suffix.lower() == ".mlpackage":
        there = (new.package or output) / DATA / place_of(new).parent
    if new.package and there != output.parent:
        skipped = _replaced(new, changed_overlays(new))
        size += sum(path.stat().st_size for path in contents_of(new.package) if path.is_file() and path not in skipped)
    size += sum(record.size for records in new.pruned.values() for record in records)
    whole = {name: path for name, path in new.files.items() if name not in new.pruned}
    written = [path for name, path in whole.items() if new.is_stored_in(name) or not is_at(path, there / name)]
    return size + sum(path.stat().st_size for path in written)


def place_of(new: NewModel) -> PurePosixPath:
    """Return the path of the model's own file in the data of its package."""
    if not new.package:
        return PurePosixPath(MODEL_FILE)
    model = os.path.normpath(model_file(new.package).relative_to(new.package / DATA))
    return PurePosixPath(Path(model).as_posix())


def _replaced(new: NewModel, overlays: Iterable[str]) -> set[Path]:
    """Return the rewritten files of the original package of a model; `overlays` are its changed ones."""
    assert new.package
    data = new.package / DATA
    anew = [*new.pruned, *new.given, *[new.store] * bool(new.storing)]
    weights = [data / place_of(new).parent / name for name in anew]
    changed = [data / path for path in overlays]
    return {new.package / MANIFEST, data / place_of(new), *weights, *changed, *new.dropped}


def _write_package(new: NewModel, made: Path, progress: Progress | None) -> None:
    manifest, place, overlays = manifest_of(new.package), place_of(new), changed_overlays(new)
    if new.package:
        copy_folder(new.package, made, _replaced(new, overlays), progress)
    _check_names(new.weight_files, place.name)
    folder = made / DATA / place.parent
    folder.mkdir(parents=True, exist_ok=True)
    for name in new.weight_files:
        if new.is_rewritten(name) or not (folder / name).exists():
            write_weights(new, name, name, folder / name, progress)
    write_new(folder / place.name, [_own_bytes(own_model(new), new)])
    for path, data in overlays.items():
        (made / DATA / path).parent.mkdir(parents=True, exist_ok=True)
        write_new(made / DATA / path, [data])
    for each in new.overlays.read if new.overlays is not None and not new.package else ():
        list_item(manifest, PurePosixPath(each.path), PurePosixPath(each.path), each.use)
    listed = {place.parent / name: place.parent / PurePosixPath(name).parts[0] for name in new.weight_files}
    dropped = [path.relative_to(new.package / DATA) for path in new.dropped] if new.package else []
    write_manifest(manifest, made, listed, dropped)


def _write_file(new: NewModel, output: Path, staging: Staging, progress: Progress | None) -> list[Path]:
    """Write an `.mlmodel`. Its `@model_path` is its own folder, which gets its weights.

    Return the weight files to remove once it is in place.
    """
    _check_names(new.weight_files, output.name)
    names = {name: name for name in new.weight_files}
    read = {*(new.storing.sources if new.storing else ()), *leads_elsewhere(output.parent, new.pruned)}
    moved: dict[str, bool] = {}
    for name in names:
        there = output.parent / name
        if new.is_rewritten(name) or not is_at(new.files[name], there):
            others = [each for old, each in names.items() if old != name]
            names[name], moved[name] = weight_name(output, name, others, read)
    for program in ml_programs(new.spec):
        rename_files(program, names)
    for name, free in moved.items():
        made = staging.place(output.parent / names[name], free=free)
        write_weights(new, name, names[name], made, progress)
    write_new(staging.place(output), [_own_bytes(new.spec, new)])
    written = {output.parent / name for name in names.values()}
    return [path for path in new.dropped if path not in written]


def _check_names(weights: Collection[str], model: str) -> None:
    """Refuse a weight file at the path of the model's own file, also on a disk that ignores case."""
    for name in weights:
        if PurePosixPath(name).parts[0].casefold() == model.casefold():
            file_name = f"{MODEL_PATH}/{name}"
            message = f"the weight file {file_name!r} would be where the model itself is"
            raise refusal(codes.WEIGHT_FILE_OUTSIDE, message, model, about=BlamedPart("weight", file_name))


def write_weights(new: NewModel, name: str, called: str, target: Path, progress: Progress | None) -> None:
    """Write a weight file to a target: its records, and after them the values still to store.

    `name` is the name of the file in `new`, and `called` its name in the written model.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if not new.is_rewritten(name):
        copy_file(new.files[name], target, progress)
        return
    records = new.pruned.get(name)
    source = new.files.get(name) if records is None else None
    with BlobFile(source) if source else nullcontext() as old, BlobWriter(target, progress, after=old) as writer:
        known = records_of(old) if records is None else _copy_records(records, writer)
        if new.storing and new.is_stored_in(name):
            new.storing.write(writer, called, known)


def _own_bytes(spec: Spec, new: NewModel) -> bytes:
    """Return the bytes of a model's message: the bytes of the original's file if the message is unedited."""
    data = serialized(spec)
    return unedited(data, new.origin) or data


def unedited(data: bytes, origin: Path | None) -> bytes | None:
    """Return the bytes of an original's file if it contains the same message as `data`, otherwise None.

    Producers write equal messages as different bytes: entries of maps are in any order. An unreadable file contains no
    message.
    """
    if origin is not None:
        with suppress(ModelError):
            there = read_file(origin)
            if there == data or wire_of(parse_spec(there, str(origin))) == data:
                return there
    return None


def _copy_records(records: Iterable[WeightRecord], writer: BlobWriter) -> KnownRecords[int]:
    """Write records to the new file, and return them by their offsets there."""
    known = KnownRecords[int]()
    for record in records:
        offset = writer.add_stored(record.dtype, record.elements, record.path, record.start)
        assert offset == record.offset
        known.add(offset, record.dtype, record.elements, record.path, record.start)
    return known


def serialized(spec: Spec) -> bytes:
    """Return the bytes of a Model message. Raise ModelError (MIL405) for a message that no reader would accept."""
    size = spec.ByteSize()
    if size > LARGEST:
        message = f"the model takes {size} bytes without its weight files, but readers take at most 2 GiB"
        raise refusal(codes.MODEL_TOO_LARGE, message)
    if spec.WhichOneof("Type") == PROGRAM:
        return spec.SerializeToString(deterministic=True)
    with refusing_depth():  # a pipeline may nest a program of the greatest depth
        data = spec.SerializeToString(deterministic=True)
        type(spec).FromString(data)
    return data
