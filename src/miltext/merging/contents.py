"""Weights by what they hold: the same place in all versions for the same contents, and real places in the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from miltext.models.model_weights import BlobFolder, blob_values, resolve
from miltext.models.weights import ALIGNMENT, Blob, BlobFile, BlobWriter, aligned
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.models.files import Progress
    from miltext.models.model import Model
    from miltext.schema.proto import Program

Content = tuple[str, int, int, str]
"""What a record holds: its data type, its size, the bits that are none of an element's, and the digest."""

Place = tuple[str, int]
"""A file's name and an offset, as a program has them."""


class Unplaced(Exception):
    """A weight of the merged program is not in the weight file that the merge leaves there."""


class Contents:
    """The contents of the weights of several versions, each at one place.

    What ours has keeps its place; all else has one behind the end of the file.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._places: dict[Content, Place] = {}
        self._blobs: dict[Place, Blob] = {}
        self._known: dict[tuple[Path, int], Content] = {}
        self._end = ALIGNMENT

    def named_anew(self, model: Model) -> Program:
        """Return the program of a model, whose weights have the places of their contents. Raise WeightsError."""
        program = own_copy(model.program)
        folder = BlobFolder(model.model_path)
        for held in blob_values(program):
            place = held.value.blobFileValue
            blob = folder.blob(held.value)
            place.fileName, place.offset = self._place(blob, place.fileName, place.offset)
        self._end = aligned(max([self._end, *(offset + ALIGNMENT for _, offset in self._blobs)]))
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
        """Return what a record holds; `progress` gets the bytes of one that is read for that."""
        key = blob.path, blob.offset
        if key not in self._known:
            self._known[key] = blob.dtype.name, blob.size, blob.padding_bits, blob.digest(progress)
        return self._known[key]

    def at(self, place: Place) -> Blob:
        """Return a record that has the contents at a place. Raise Unplaced for a place that none has."""
        if place not in self._blobs:
            raise Unplaced(f"there is no record at offset {place[1]} of `{place[0]}`")
        return self._blobs[place]


def compared_work(models: Iterable[Model]) -> int:
    """Return how many bytes of records are told as progress when models are named anew."""
    sizes = dict[tuple[Path, int], int]()
    for model in models:
        folder = BlobFolder(model.model_path)
        for held in blob_values(model.program):
            blob = folder.blob(held.value)
            sizes[blob.path, blob.offset] = blob.size
    return sum(sizes.values())


def weight_files(program: Program) -> list[str]:
    """Return the names of the weight files that a program names."""
    return sorted({held.value.blobFileValue.fileName for held in blob_values(program)})


def file_for(name: str, folder: Path) -> Path:
    """Return where a weight file of a program's name for it is written in a folder, of which its own is made."""
    path = folder / name.partition("/")[2]
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def placed_in(program: Program, contents: Contents, folder: Path, name: str) -> None:
    """Give the weights of a merged program their places in a weight file of a folder. Raise Unplaced, WeightsError."""
    offsets = dict[Content, int]()
    with BlobFile(resolve(name, folder)) as file:
        for blob in file:
            offsets.setdefault(contents.content(blob), blob.offset)
    placed = list[tuple[Any, int]]()
    for held in blob_values(program):
        place = held.value.blobFileValue
        if place.fileName == name:
            content = contents.content(contents.at((name, place.offset)))
            if content not in offsets:
                raise Unplaced(f"the weight `{held.name}` is not in the weight file that git takes from one side")
            placed.append((place, offsets[content]))
    for place, offset in placed:
        place.offset = offset


def written_anew(program: Program, contents: Contents, folder: Path, name: str) -> None:
    """Write a weight file with all that a merged program has in it, and give its weights their places there."""
    written = dict[Content, int]()
    with BlobWriter(file_for(name, folder)) as writer:
        for held in blob_values(program):
            place = held.value.blobFileValue
            if place.fileName == name:
                blob = contents.at((name, place.offset))
                content = contents.content(blob)
                if content not in written:
                    written[content] = writer.copy(blob)
                place.offset = written[content]


def replaced(own: Program, merged: Program, contents: Contents, source: Path, target: Path, name: str) -> None:
    """Write a copy of a weight file in which the records that a program names hold what the merged one has there.

    Both programs are equal but for what their weights hold. Raise Unplaced where a record would have to hold two
    things, or one of another type or size.
    """
    wanted = dict[int, Blob]()
    path = resolve(name, source)
    with BlobFile(path) as file:
        for before, after in _pairs(own, merged, name):
            offset = before.offset
            blob = contents.at((after.fileName, after.offset))
            known = wanted.setdefault(offset, blob)
            record = file.blob(offset)
            same = (blob.dtype, blob.size, blob.padding_bits) == (record.dtype, record.size, record.padding_bits)
            if not same:
                raise Unplaced(f"the record at offset {offset} of `{name}` would need another type or size")
            if contents.content(known) != contents.content(blob):
                raise Unplaced(f"the record at offset {offset} of `{name}` would have to hold two things")
        made = file_for(name, target)
        copyfile(path, made)
        with open(made, "r+b") as copy:
            for offset, blob in wanted.items():
                copy.seek(file.blob(offset).start)
                copy.write(blob.data)


def _pairs(own: Program, merged: Program, name: str) -> Iterator[tuple[Any, Any]]:
    both = zip(blob_values(own), blob_values(merged), strict=True)
    return ((a.value.blobFileValue, b.value.blobFileValue) for a, b in both if a.value.blobFileValue.fileName == name)
