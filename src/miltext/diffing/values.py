"""Two Values side by side: the same, or how they differ."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.diffing.measures import elements, measure
from miltext.diffing.spelling import SHOWN, Spelling
from miltext.diffing.structure import Change, Measure, Place, WeightChange
from miltext.models.weights import CHUNK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miltext.models.pairing.contents import Contents
    from miltext.models.weights import Blob, Progress

_DIGITS = 12
"""How many digits of a digest tell two long literals apart."""

Found = Change | WeightChange
"""What is different between two Values."""


class _Verdict(NamedTuple):
    """What came of comparing two Values.

    `apart` is how far they are, where that can be said and they are too long to be shown. `weight`: of two tensors of
    one type, only the elements differ.
    """

    same: bool
    apart: Measure | None = None
    weight: bool = False


class Values:
    """Compares Values of two programs.

    Of their weights, `equal` counts those that are, and `unread` those that could not be read, so that only their
    places were compared. `progress` is told how many bytes of the new ones were compared.
    """

    def __init__(self, old: Contents, new: Contents, spelling: Spelling, progress: Progress | None = None) -> None:
        self._old = old
        self._new = new
        self._progress = progress
        self.spelling = spelling
        self.equal = 0
        self.unread = 0

    def change(self, kind: str, name: str, a: Any, b: Any, where: tuple[str, str]) -> Found | None:
        """Return the change from one Value to another, if there is one; `where` is the function, and the operation."""
        verdict = self._compare(a, b)
        if verdict.same:
            return None
        if verdict.weight:
            text = self.spelling.type(a)
            return WeightChange(*where, name, text, _place(a), _place(b), verdict.apart)
        spell = self.spelling.literal if self._alike(a, b) else self.spelling.value
        old, new = spell(a), spell(b)
        if old == new:  # of long literals only the number of elements is spelled
            old, new = f"{old}, {_digest(self._old, a)}", f"{new}, {_digest(self._new, b)}"
        return Change(kind, name, old, new, verdict.apart)

    def same(self, a: Any, b: Any) -> bool:
        """Whether two Values hold the same."""
        return self._compare(a, b).same

    def changes(self, kind: str, old: Mapping[str, Any], new: Mapping[str, Any], where: tuple[str, str]) -> list[Found]:
        """Return the changes between Values by name."""
        found: list[Found] = []
        for name in sorted({*old, *new}):
            if name not in new:
                found.append(Change(kind, name, self.spelling.value(old[name]), None))
            elif name not in old:
                found.append(Change(kind, name, None, self.spelling.value(new[name])))
            elif change := self.change(kind, name, old[name], new[name], where):
                found.append(change)
        return found

    def _alike(self, a: Any, b: Any) -> bool:
        return (a.docString, self._old.type_key(a)) == (b.docString, self._new.type_key(b))

    def _compare(self, a: Any, b: Any) -> _Verdict:
        in_files = a.HasField("blobFileValue"), b.HasField("blobFileValue")
        if all(in_files):
            verdict = self._compare_weights(a, b)
            self.equal += verdict.same
            return verdict
        if not any(in_files) and (self._old.key(a) == self._new.key(b) or self._alike_unread(a, b)):
            return _Verdict(True)
        apart = measure(elements(a, self._old.blob(a)), elements(b, self._new.blob(b)))
        if apart is None or (apart.count <= SHOWN and not any(in_files)):
            return _Verdict(False)
        return _Verdict(False, apart, not any(in_files) and self._alike(a, b))

    def _alike_unread(self, a: Any, b: Any) -> bool:
        """Whether two Values have weights inside them in the same places, of which one cannot be read."""
        return bool(a == b) and not (self._old.reads(a) and self._new.reads(b))

    def _compare_weights(self, a: Any, b: Any) -> _Verdict:
        """By content, wherever that is kept; where it cannot be read, by the place."""
        alike = self._alike(a, b)
        old, new = self._old.blob(a), self._new.blob(b)
        if old is None or new is None:
            self.unread += 1
            return _Verdict(alike and a.blobFileValue == b.blobFileValue, weight=alike)
        if alike and ((old.path, old.offset) == (new.path, new.offset) or _same_content(old, new)):
            if self._progress:
                self._progress(new.size)
            return _Verdict(True)
        apart = measure(elements(a, old), elements(b, new), self._progress)
        if apart is None:
            return _Verdict(False)
        return _Verdict(alike and old.dtype == new.dtype and not apart.changed, apart, alike)


def _place(value: Any) -> Place | None:
    blob = value.blobFileValue
    return Place(blob.fileName, blob.offset) if value.HasField("blobFileValue") else None


def _digest(contents: Contents, value: Any) -> str:
    said = contents.said(value, value.SerializeToString(deterministic=True))
    return f"sha256:{sha256(said).hexdigest()[:_DIGITS]}"


def _same_content(old: Blob, new: Blob) -> bool:
    if (old.dtype, old.size) != (new.dtype, new.size):
        return False
    pieces = [slice(start, start + CHUNK) for start in range(0, old.size, CHUNK)]
    return all(bytes(old.data[piece]) == bytes(new.data[piece]) for piece in pieces)
