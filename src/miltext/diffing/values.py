"""Two Values compared: they are the same, or differ in some way."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.spelling import SHOWN, Spelling
from miltext.diffing.structure import (
    EQUAL,
    Change,
    Consequence,
    TensorDistance,
    WeightChange,
    WeightDifference,
    WeightPlace,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from miltext.files.writing import Progress
    from miltext.pairing.contents import ProgramContents
    from miltext.schema.proto import NamedValueType, Value
    from miltext.schema.tensors import Tensor
    from miltext.weight_files.blob_storage import Blob

DIGITS = 12
"""How many digits of a digest are shown."""


class _Verdict(NamedTuple):
    """The result of comparing two Values.

    `apart` is their distance, where it can be measured and they are too long to be shown. `weight`: they are tensors of
    one type, and only the elements differ.
    """

    same: bool
    apart: TensorDistance | None = None
    weight: bool = False


class Values:
    """Compares Values of two programs, and gathers the `changed` weights.

    `progress` gets the number of bytes of each compared weight of the new program.
    """

    def __init__(self, old: ProgramContents, new: ProgramContents, progress: Progress | None = None) -> None:
        self._old = old
        self._new = new
        self._progress = progress
        self.spelling = Spelling()
        self._equal = 0
        self.unread = 0
        self.changed: list[WeightChange] = []
        self.kinds: list[str] = []  # of the changed weights: `argument`, `attribute`, or empty for another form

    def weights(self) -> WeightDifference:
        """Return the differences between the weights that were compared."""
        return WeightDifference(tuple(self.changed), self._equal, self.unread)

    def change(self, kind: str, name: str, a: Value, b: Value, where: tuple[str, str]) -> list[Change]:
        """Return the change from one Value to another, if any; a weight's change is added to `changed` instead.

        `where` is the function, and the operation.
        """
        verdict = self._compare(a, b)
        if verdict.same:
            return []
        if verdict.weight:
            text = self.spelling.type(a)
            self.kinds.append(kind)
            self.changed.append(WeightChange(*where, name, text, _place(a), _place(b), verdict.apart))
            return []
        spell = self.spelling.literal if self._alike(a, b) else self.spelling.value
        old, new = spell(a), spell(b)
        if old == new:  # of long literals only the number of elements is spelled, and of weights the place
            old, new = f"{old}, {_held(self._old, a)}", f"{new}, {_held(self._new, b)}"
        is_equal = verdict.apart is not None and not verdict.apart.changed and self._alike(a, b)
        follows = Consequence("weight", EQUAL) if is_equal else None  # stored in another place
        return [Change(kind, name, old, new, verdict.apart, follows=follows)]

    def decompressed(
        self, where: tuple[str, str], forms: tuple[str, str], tensors: Sequence[Tensor | str], output: NamedValueType
    ) -> None:
        """Note a weight in another form, by the decompressed numbers, or by the reason why they are not known."""
        from miltext.diffing.measures import measure

        old, new = tensors
        problem = next((each for each in tensors if isinstance(each, str)), "")
        apart = None if isinstance(old, str) or isinstance(new, str) else measure(old, new)
        self.kinds.append("")
        is_equal = apart is not None and not apart.changed
        follows = Consequence("weight", EQUAL) if is_equal else None
        type_text = self.spelling.type(output)
        self.changed.append(WeightChange(*where, "val", type_text, None, None, apart, *forms, problem, follows))

    def same(self, a: Value, b: Value) -> bool:
        """Return whether two Values have the same contents."""
        return self._compare(a, b).same

    def is_equal(self, a: Value, b: Value) -> bool:
        """Return whether two Values have the same contents, which were read."""
        return self._old.reads(a) and self._new.reads(b) and self.same(a, b)

    def _alike(self, a: Value, b: Value) -> bool:
        return (a.docString, self._old.type_key(a)) == (b.docString, self._new.type_key(b))

    def _compare(self, a: Value, b: Value) -> _Verdict:
        in_files = a.HasField("blobFileValue"), b.HasField("blobFileValue")
        if all(in_files):
            verdict = self._compare_weights(a, b)
            self._equal += verdict.same
            return verdict
        if not any(in_files) and self._old.key(a) == self._new.key(b):
            return _Verdict(True)
        if a == b and not any(in_files) and not (self._old.reads(a) and self._new.reads(b)):
            return _Verdict(True)  # weights inside them are in the same places, and one cannot be read
        tensors = self._tensors(a, b)
        if tensors is None or (tensors[0].count <= SHOWN and not any(in_files)):
            return _Verdict(False)
        return _Verdict(False, _apart(*tensors), not any(in_files) and self._alike(a, b))

    def _compare_weights(self, a: Value, b: Value) -> _Verdict:
        """Compare by content, in any place; where it cannot be read, by place."""
        alike = self._alike(a, b)
        old, new = self._old.blob(a), self._new.blob(b)
        if old is None or new is None:
            self.unread += 1
            return _Verdict(alike and a.blobFileValue == b.blobFileValue, weight=alike)
        if alike and (_is_one_record(old, new) or old.equals(new)):
            if self._progress:
                self._progress(new.size)
            return _Verdict(True)
        tensors = self._tensors(a, b)
        apart = None if tensors is None else _apart(*tensors, self._progress)
        if apart is None:
            return _Verdict(False)
        return _Verdict(alike and old.dtype == new.dtype and not apart.changed, apart, alike)

    def _tensors(self, a: Value, b: Value) -> tuple[Tensor, Tensor] | None:
        """Return two tensors whose distance can be measured: both have the same number of elements, at least one."""
        old, new = self._old.tensor(a), self._new.tensor(b)
        return None if old is None or new is None or old.count != new.count or not old.count else (old, new)


def _apart(old: Tensor, new: Tensor, progress: Progress | None = None) -> TensorDistance | None:
    """Return the distance between two tensors."""
    from miltext.diffing.measures import measure

    return measure(old, new, progress)


def _place(value: Value) -> WeightPlace | None:
    blob = value.blobFileValue
    return WeightPlace(blob.fileName, blob.offset) if value.HasField("blobFileValue") else None


def _held(contents: ProgramContents, value: Value) -> str:
    """Return the number, type and digest of a value's record in a weight file; for another value, its digest."""
    blob = contents.blob(value)
    if blob is not None:
        return f"{blob.count} elements of {blob.dtype.name}, sha256:{blob.digest()[:DIGITS]}"
    data = contents.comparable_wire(value, value.SerializeToString(deterministic=True))
    return f"sha256:{sha256(data).hexdigest()[:DIGITS]}"


def _is_one_record(old: Blob, new: Blob) -> bool:
    """Return whether two records are one record of one file, which may have two names."""
    return old.offset == new.offset and _is_one_file(old.path, new.path)


@lru_cache(maxsize=16)
def _is_one_file(old: Path, new: Path) -> bool:
    with suppress(OSError):
        return old == new or os.path.samefile(old, new)
    return False
