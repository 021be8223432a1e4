"""The contents of values, independent of their files and offsets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING

from miltext.files.refusals import WeightsError
from miltext.schema.proto import Value
from miltext.schema.tensors import literal
from miltext.schema.walk import inner_values
from miltext.syntax.literals import quote
from miltext.weight_files.paths import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.schema.proto import NamedValueType
    from miltext.schema.tensors import Tensor
    from miltext.weight_files.blob_storage import Blob, BlobFile

_SHORT = 128
"""The greatest number of bytes of a value cached by its wire."""


class Keys(defaultdict[Hashable, int]):
    """Integers by object: a new one for a new object, the same for equal objects."""

    def __init__(self) -> None:
        self.fresh = count().__next__  # returns an unused integer
        super().__init__(self.fresh)


class ProgramContents:
    """The values of one program, whose weight files are in the folder `model_path`.

    `keeps` is an object that the folder lasts as long as, such as a temporary folder with the arrays of a draft.
    `weights` are the keys of values in a weight file; `unread` has the reason for each unreadable file, or record of a
    file. `has_files`: at least one weight file named by a value exists, readable or not.
    """

    def __init__(self, keys: Keys, model_path: Path | None, keeps: object = None) -> None:
        self._keys = keys
        self.model_path = model_path
        self.keeps = keeps
        self._known: dict[bytes, int] = {}
        self._files: dict[str, BlobFile | None] = {}
        self.weights: set[int] = set()
        self.unread: dict[str, str] = {}
        self.has_files = False

    def type_key(self, message: NamedValueType | Value) -> int:
        """Return an integer for the ValueType in the field `type` of a message."""
        wire = message.type.SerializeToString(deterministic=True)
        return self._keys[wire or ("type", message.HasField("type"))]

    def key(self, value: Value) -> int:
        """Return an integer for a Value: the same for equal literals, and for weights with equal samples."""
        wire = value.SerializeToString(deterministic=True)
        number = self._known.get(wire)
        if number is None:
            number = self._keys[self._thing(value, wire)]
            if len(wire) <= _SHORT:
                self._known[wire] = number
            if value.HasField("blobFileValue"):
                self.weights.add(number)
        return number

    def _thing(self, value: Value, wire: bytes) -> Hashable:
        blob = self.blob(value)
        if blob is not None:
            return "weight", self.type_key(value), value.docString, blob.dtype.name, blob.size, blob.sample()
        said = self.comparable_wire(value, wire)
        return ("value", said) if len(said) <= _SHORT else ("long value", sha256(said).digest())

    def comparable_wire(self, value: Value, wire: bytes) -> bytes:
        """Return the wire of a Value; a weight inside a list, tuple or dictionary has its digest in place of its
        file name and offset.
        """
        if not any(each.HasField("blobFileValue") for each in inner_values(value)):
            return wire
        made = Value.FromString(wire)
        for each in inner_values(made):
            if blob := self.blob(each):
                each.blobFileValue.CopyFrom(Value.BlobFileValue(fileName=blob.digest()))
        return made.SerializeToString(deterministic=True)

    def blob(self, value: Value) -> Blob | None:
        """Return the record of a weight; None for another value, and for an unreadable weight."""
        if not value.HasField("blobFileValue"):
            return None
        place = value.blobFileValue
        if place.fileName not in self._files:
            self._files[place.fileName] = self._open(place.fileName)
        file = self._files[place.fileName]
        try:
            return file.blob(place.offset) if file else None
        except WeightsError as failure:
            self.unread[f"{quote(place.fileName)} at {place.offset}"] = failure.diagnostics[0].message
            return None

    def tensor(self, value: Value) -> Tensor | None:
        """Return the numbers of a Value, stored or immediate; None for a Value without numbers, or an
        unreadable one.
        """
        return self.blob(value) or literal(value)

    def reads(self, value: Value) -> bool:
        """Return whether every weight inside a Value can be read."""
        return all(self.blob(each) for each in inner_values(value) if each.HasField("blobFileValue"))

    def _open(self, name: str) -> BlobFile | None:
        from miltext.weight_files.blob_storage import BlobFile

        if self.model_path is None:
            self.unread[quote(name)] = "the folder of the model is not known"
            return None
        try:
            file = BlobFile(resolve(name, self.model_path))
        except WeightsError as failure:
            missing = isinstance(failure.__cause__, (FileNotFoundError, NotADirectoryError))
            self.unread[quote(name)] = "the file does not exist" if missing else failure.diagnostics[0].message
            self.has_files |= not missing
            return None
        self.has_files = True
        return file
