"""Weights by contents: equal contents have the same place in all versions until the merged file has its own places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from posixpath import normpath
from shutil import copyfile
from typing import TYPE_CHECKING

from miltext.diagnostics import PrintError, codes
from miltext.files.refusals import WeightsError
from miltext.syntax.programs import own_copy
from miltext.weight_files.blob_storage import ALIGNMENT, Blob, BlobFile, BlobWriter, aligned
from miltext.weight_files.model_weights import BlobFolder, blob_values
from miltext.weight_files.paths import resolve

if TYPE_CHECKING:
    from miltext.files.writing import Progress
    from miltext.models.model import Model
    from miltext.schema.proto import Program, Value
    from miltext.schema.walk import Held

Content = tuple[str, int, str]
"""The contents of a record: its data type, the number of its elements, and the digest."""

Place = tuple[str, int]
"""A file's name and an offset, as a program has them."""


class Unplaced(Exception):
    """A weight of the merged program is not in the weight file that the merge leaves there."""


class WeightContents:
    """The contents of the weights in several versions, each at one place.

    The contents in ours keep their places; others get a place after the end of the file.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._places: dict[Content, Place] = {}
        self._blobs: dict[Place, Blob] = {}
        self._known: dict[tuple[object, ...], Content] = {}
        self._end = ALIGNMENT

    def named_anew(self, models: Iterable[Model]) -> dict[Model, Program]:
        """Return the programs of a version's models, in which weights of equal contents have one file name
        and offset.

        Raise WeightsError, and PrintError for a program with fields that the schema lacks.
        """
        named = {model: self._named_anew(model) for model in models}
        self._end = aligned(max([self._end, *(offset + ALIGNMENT for _, offset in self._blobs)]))
        return named

    def _named_anew(self, model: Model) -> Program:
        try:
            program = own_copy(model.program)
        except PrintError as failure:
            failure.path = failure.path or model.name
            raise
        folder = BlobFolder(model.model_path)
        for held in blob_values(program):
            place = held.value.blobFileValue
            blob = folder.blob(held.value)
            place.fileName, place.offset = self._place(blob, *_place_of(place))
        return program

    def _place(self, blob: Blob, name: str, offset: int) -> Place:
        content = self.content(blob, self._progress)
        if content not in self._places:
            if (name, offset) in self._blobs or self._end > ALIGNMENT:
                offset = self._end
                self._end = aligned(self._end + ALIGNMENT)
            self._places[content] = name, offset
            self._blobs[name, offset] = blob
        return self._places[content]

    def content(self, blob: Blob, progress: Progress | None = None) -> Content:
        """Return the contents of a record; `progress` receives the number of bytes read."""
        if blob.identity not in self._known:
            self._known[blob.identity] = blob.dtype.name, blob.count, blob.digest(progress)
        return self._known[blob.identity]

    def at(self, place: Place) -> Blob:
        """Return a record that has the contents at a place. Raise Unplaced for a place without contents."""
        if place not in self._blobs:
            raise Unplaced(f"there is no record at offset {place[1]} of `{place[0]}`")
        return self._blobs[place]


def compared_work(models: Iterable[Model]) -> int:
    """Return the number of bytes of records that `progress` receives when the programs of models are named anew."""
    sizes = dict[tuple[object, ...], int]()
    for stage in (stage for model in models for stage in model.programs()):
        folder = BlobFolder(stage.model.model_path)
        for held in blob_values(stage.model.program):
            blob = folder.blob(held.value)
            sizes[blob.identity] = blob.size
    return sum(sizes.values())


def _place_of(place: Value.BlobFileValue) -> Place:
    """Return the place in a value, with the normalized name of its file."""
    return normpath(place.fileName), place.offset


def programs_of(model: Model) -> list[Program]:
    """Return the programs of a model or of the models in a pipeline; none for a model of another kind."""
    return [stage.model.program for stage in model.programs()]


def weight_files(programs: Iterable[Program]) -> list[str]:
    """Return the names of the weight files that programs name."""
    return sorted({_place_of(held.value.blobFileValue)[0] for held in _values(programs)})


def _values(programs: Iterable[Program]) -> Iterator[Held]:
    return (held for program in programs for held in blob_values(program))


def _values_in(name: str, programs: Iterable[Program]) -> Iterator[Held]:
    """Yield the values in a weight file."""
    return (held for held in _values(programs) if _place_of(held.value.blobFileValue)[0] == name)


def file_for(name: str, folder: Path) -> Path:
    """Return the path of a program's weight file in a folder, and create its parent folder."""
    path = folder / name.partition("/")[2]
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def placed_in(programs: Sequence[Program], contents: WeightContents, folder: Path, name: str) -> None:
    """Give the weights of merged programs their places in a weight file of a folder. Raise Unplaced, WeightsError."""
    offsets = dict[Content, int]()
    with BlobFile(_left(name, folder)) as file:
        for blob in file:
            offsets.setdefault(contents.content(blob), blob.offset)
    placed: list[tuple[Value.BlobFileValue, int]] = []
    for held in _values_in(name, programs):
        place = held.value.blobFileValue
        content = contents.content(contents.at(_place_of(place)))
        if content not in offsets:
            raise Unplaced(f"the weight `{held.name}` is not in the weight file that git takes from one side")
        placed.append((place, offsets[content]))
    for place, offset in placed:
        place.offset = offset


def _left(name: str, folder: Path) -> Path:
    """Return the path of a weight file that the merge leaves in a folder. Raise Unplaced if it leaves none."""
    try:
        return resolve(name, folder)
    except WeightsError as failure:
        if failure.diagnostics[0].code != codes.MISSING_WEIGHT_FILE:
            raise
        raise Unplaced(f"the merge leaves no weight file `{name}`, and the merged program names it") from failure


def written_anew(programs: Sequence[Program], contents: WeightContents, folder: Path, name: str) -> None:
    """Write a weight file with the weights of merged programs, and set their places in it."""
    written = dict[Content, int]()
    with BlobWriter(file_for(name, folder)) as writer:
        for held in _values_in(name, programs):
            place = held.value.blobFileValue
            blob = contents.at(_place_of(place))
            content = contents.content(blob)
            if content not in written:
                written[content] = writer.copy(blob)
            place.offset = written[content]


def replaced(
    own: Sequence[Program], merged: Sequence[Program], contents: WeightContents, source: Path, target: Path, name: str
) -> None:
    """Write a copy of a weight file in which the named records have the contents of the merged programs' records.

    The programs are equal but for the contents of their weights. Raise Unplaced where a record would need two contents,
    or another type or size.
    """
    wanted = dict[int, Blob]()
    path = resolve(name, source)
    with BlobFile(path) as file:
        for before, after in _pairs(own, merged, name):
            offset = before.offset
            blob = contents.at(_place_of(after))
            known = wanted.setdefault(offset, blob)
            record = file.blob(offset)
            if (blob.dtype, blob.count) != (record.dtype, record.count):
                raise Unplaced(f"the record at offset {offset} of `{name}` would need another type or size")
            if contents.content(known) != contents.content(blob):
                raise Unplaced(f"the record at offset {offset} of `{name}` would need two contents")
        made = file_for(name, target)
        copyfile(path, made)
        with open(made, "r+b") as copy:
            for offset, blob in wanted.items():
                copy.seek(file.blob(offset).start)
                copy.write(blob.data)


def require_fit(programs: Sequence[Program], folder: Path, name: str) -> None:
    """Raise Unplaced for a weight of programs that does not fit its record in a weight file of a folder."""
    opened = BlobFolder(folder)
    try:
        for held in _values_in(name, programs):
            opened.blob(held.value)
    except WeightsError as failure:
        reason = f"the weight `{held.name}` does not fit the weight file that the merge leaves"
        raise Unplaced(f"{reason}: {failure.diagnostics[0].message}") from failure
    opened.close()


def _pairs(
    own: Sequence[Program], merged: Sequence[Program], name: str
) -> Iterator[tuple[Value.BlobFileValue, Value.BlobFileValue]]:
    both = zip(_values(own), _values(merged), strict=True)
    places = ((a.value.blobFileValue, b.value.blobFileValue) for a, b in both)
    return ((before, after) for before, after in places if _place_of(before)[0] == name)
