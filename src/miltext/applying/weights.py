"""The weights of an edited model: records of the old weight files, and new ones, found by their digests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.storing import stored_once
from miltext.diagnostics import codes
from miltext.files.refusals import WeightsError, refusal
from miltext.pairing.contents import Keys, ProgramContents
from miltext.schema.walk import inner_values
from miltext.weight_files.blob_storage import BlobFile, BlobWriter
from miltext.weight_files.known_records import KnownRecords, records_of
from miltext.weight_files.model_weights import BlobFolder, blob_values
from miltext.weight_files.paths import MODEL_PATH, resolve

if TYPE_CHECKING:
    from miltext.diagnostics import ModelError
    from miltext.models.model import Model
    from miltext.schema.proto import Program, Value
    from miltext.weight_files.blob_storage import Blob

DIGITS = 12
"""The number of shown digits of a digest."""


class NewWeight(NamedTuple):
    """A weight of the new program: its value there, and the contents that were compared.

    `has_files`: the old or the new program has a weight file.
    """

    value: Value
    contents: ProgramContents
    has_files: bool


class NewWeights:
    """The weights of the new program that edits take over.

    Until they are stored, their values name a file that no program has, with their numbers as offsets.
    """

    def __init__(self, programs: Iterable[Program]) -> None:
        self._names = {held.value.blobFileValue.fileName for each in programs for held in blob_values(each)}
        self._mark = "new"
        while self._mark in self._names:
            self._mark += "'"
        self._found: list[NewWeight] = []

    def take(self, value: Value, contents: ProgramContents, has_files: bool) -> Value:
        """Return a new literal as the result has it: weights in files are noted, `has_files` as in a NewWeight."""
        if not is_stored(value):
            return value
        made = type(value)()
        made.CopyFrom(value)
        for each in (made, *inner_values(made)):
            if each.HasField("blobFileValue"):
                self._mark_one(each, contents, has_files)
        return made

    def take_all(self, program: Program, folder: Path | None) -> None:
        """Note all weights of a new program whose weight files are in a folder."""
        contents = ProgramContents(Keys(), folder)
        for held in blob_values(program):
            self._mark_one(held.value, contents, True)

    def _mark_one(self, value: Value, contents: ProgramContents, has_files: bool) -> None:
        stated = type(value)()
        stated.CopyFrom(value)
        value.blobFileValue.fileName, value.blobFileValue.offset = self._mark, len(self._found)
        self._found.append(NewWeight(stated, contents, has_files))

    def _noted(self, programs: Iterable[Program]) -> Iterator[tuple[Value.BlobFileValue, NewWeight]]:
        """Yield the places of new weights in the edited programs."""
        for program in programs:
            for held in blob_values(program):
                place = held.value.blobFileValue
                if place.fileName == self._mark:
                    yield place, self._found[place.offset]

    def store(
        self, programs: list[Program], folder: Path | None, sources: WeightSources, name: str
    ) -> TemporaryDirectory[str] | None:
        """Give the new weights of edited programs their places; return the folder of the weight files, None for the
        same as before.

        `folder` has the old weight files, `name` is the model, for errors. Raise ModelError for a missing weight.
        """
        noted = [*self._noted(programs)]
        wanted: dict[str, list[tuple[Value.BlobFileValue, Blob]]] = {}
        for place, weight in noted:
            stated = weight.value.blobFileValue
            blob = sources.find(weight, name)
            file = stated.fileName if blob is None else self._file(stated.fileName, folder)
            place.fileName, place.offset = file, stated.offset
            if blob is not None:
                wanted.setdefault(file, []).append((place, blob))
        return self._written(wanted, folder) if wanted else None

    def _file(self, name: str, folder: Path | None) -> str:
        """Return the name of the file for a new weight: another one if the old program names a missing file, whose
        offsets would lead into a new file.
        """
        while name in self._names and _existing(name, folder) is None:
            stem, dot, ending = name.rpartition(".")
            name = f"{stem}_new{dot}{ending}" if dot else f"{ending}_new"
        return name

    def _written(
        self, wanted: dict[str, list[tuple[Value.BlobFileValue, Blob]]], folder: Path | None
    ) -> TemporaryDirectory[str]:
        made = TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True)  # Windows keeps mapped files
        for name in sorted(self._names - wanted.keys()):
            with suppress(WeightsError):  # the old model lacks it, too
                if folder is not None:
                    _link(resolve(name, folder), _target(name, Path(made.name)))
        for name, several in wanted.items():
            _append(several, _existing(name, folder), _target(name, Path(made.name)))
        return made


class WeightSources:
    """The files in which new weights are searched: the files of the new model or, if given, of another one."""

    def __init__(self, given: Model | None) -> None:
        self._given = given
        self._records: dict[Path, list[Blob]] = {}

    def find(self, weight: NewWeight, name: str) -> Blob | None:
        """Return the record with the contents of a new weight.

        None if neither model had weight files, so that places were compared. Raise ModelError if there is none.
        """
        stated = weight.contents.blob(weight.value)
        if stated is None:
            return self._unread(weight, name)
        for path in self._paths(stated):
            for blob in self._all(path):
                if blob.count == stated.count and blob.equals(stated):
                    return blob
        digest = f"sha256:{stated.digest()[:DIGITS]}"
        raise _missing(weight.value, f"no record of {stated.count} {stated.dtype.name} with {digest} was found", name)

    def _unread(self, weight: NewWeight, name: str) -> Blob | None:
        """Return the record at the place of a weight that was not read in the comparison."""
        if self._given is not None:
            return BlobFolder(self._given.model_path).blob(weight.value)
        if not weight.has_files:
            return None
        raise _missing(weight.value, "it was not read when the models were compared", name)

    def _paths(self, stated: Blob) -> Iterator[Path]:
        if self._given is None:
            yield stated.path
            return
        names = {
            held.value.blobFileValue.fileName
            for stage in self._given.programs()
            for held in blob_values(stage.model.program)
        }
        for file in sorted(names):
            with suppress(WeightsError):
                if self._given.model_path is not None:
                    yield resolve(file, self._given.model_path)

    def _all(self, path: Path) -> list[Blob]:
        """Return the records of a file; those before the damage of a damaged one, none of a missing one."""
        if path not in self._records:
            self._records[path] = []
            with suppress(WeightsError, OSError):
                self._records[path] += BlobFile(path)
        return self._records[path]


def is_stored(value: Value) -> bool:
    """Return whether a value, or one inside it, is in a weight file."""
    return any(each.HasField("blobFileValue") for each in (value, *inner_values(value)))


def without_folder(value: Value, name: str) -> ModelError:
    """Return the error about a new weight in a temporary folder, such as an array of a draft, for a Program that has no
    folder to keep it in.
    """
    why = "it is in an array file or a temporary folder, and a Program has no folder for it; apply to a path or a Model"
    stored = next(each for each in (value, *inner_values(value)) if each.HasField("blobFileValue"))
    return _missing(stored, why, name)


def _missing(value: Value, why: str, name: str) -> ModelError:
    place = value.blobFileValue
    message = f"the new weight at {place.offset} of `{place.fileName}` is missing: {why}"
    return refusal(codes.NEW_WEIGHT_NOT_FOUND, message, name)


def _target(name: str, folder: Path) -> Path:
    path = folder / name.removeprefix(f"{MODEL_PATH}/")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _link(source: Path, target: Path) -> None:
    """Link to a file or, on another disk, copy it."""
    if target.exists():
        return
    try:
        os.link(source, target)
    except OSError:
        copy2(source, target)


def _existing(name: str, folder: Path | None) -> BlobFile | None:
    try:
        return None if folder is None else BlobFile(resolve(name, folder))
    except WeightsError:
        return None


def _append(several: list[tuple[Value.BlobFileValue, Blob]], before: BlobFile | None, target: Path) -> None:
    """Write a weight file with the records that were there and new ones, equal data once, and set their places."""
    known, added = records_of(before), KnownRecords[int]()
    with BlobWriter(target, after=before) as writer:
        for place, blob in several:
            place.offset = stored_once(blob, writer, known, added)
