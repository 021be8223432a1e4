"""Records that a new weight file has: what equals one of them is not stored again."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Generic, TypeVar

from miltext.models.refusals import WeightsError
from miltext.schema.packing import packed_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from miltext.models.weights import BlobFile
    from miltext.schema.dtypes import DType

HEAD = 1 << 12
"""Bytes at the beginning of a record that tell most records of one type and size apart."""


Known = TypeVar("Known")


@dataclass(frozen=True)
class _Record(Generic[Known]):
    known: Known
    path: Path
    start: int


class KnownRecords(Generic[Known]):
    """Records by what equal ones have in common: type, number of elements, and then the beginning of their data.

    With each goes what is known of it, such as its offset in the new file, and where its data can be read.
    """

    def __init__(self) -> None:
        self._new: dict[tuple[DType, int], list[_Record[Known]]] = defaultdict(list)
        self._alike: dict[tuple[DType, int, int], list[_Record[Known]]] = defaultdict(list)

    def add(self, known: Known, dtype: DType, count: int, path: Path, start: int, data: bytes | None = None) -> None:
        """Add a record of so many elements, whose data starts at a place of a file, and is `data`, if that is known."""
        kind, record = (dtype, count), _Record(known, path, start)
        if data is None:
            self._new[kind].append(record)
        else:
            self._sort(kind)
            self._alike[dtype, count, hash(data[:HEAD])].append(record)

    def find(self, dtype: DType, count: int, pieces: Iterable[bytes]) -> Known | None:
        """Return what is known of a record with so many elements of a type, packed as in these pieces; None if none is.

        Pieces are taken as long as there is a record that begins like them.
        """
        kind = dtype, count
        if kind not in self._new:
            return None
        self._sort(kind)
        head, pieces = _headed(iter(pieces), min(HEAD, packed_size(count, dtype.bits)))
        return _equal(self._alike.get((*kind, hash(head)), []), pieces)

    def _sort(self, kind: tuple[DType, int]) -> None:
        """Find what those of a kind begin with that were added since the last time."""
        dtype, count = kind
        for record in self._new[kind]:
            with open(record.path, "rb", buffering=0) as file:
                head = _read(file, record.start, min(HEAD, packed_size(count, dtype.bits)))
            self._alike[dtype, count, hash(head)].append(record)
        self._new[kind].clear()


def records_of(file: BlobFile | None) -> KnownRecords[int]:
    """Return the records of a weight file that is added to, by their offsets; none without one.

    Of a damaged file, these are the records before the damage, which does not concern what is added.
    """
    known = KnownRecords[int]()
    with suppress(WeightsError):
        for blob in file or ():
            known.add(blob.offset, blob.dtype, blob.count, blob.path, blob.start)
    return known


def _headed(pieces: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes of pieces, and all of the pieces."""
    taken: list[bytes] = []
    while sum(map(len, taken)) < size:
        taken.append(next(pieces))
    return b"".join(taken)[:size], chain(taken, pieces)


def _equal(alike: list[_Record[Known]], pieces: Iterable[bytes]) -> Known | None:
    """Return what is known of the first record whose data is that of the pieces."""
    place = 0
    for piece in pieces if alike else ():
        alike = [record for record in alike if _has(record, place, piece)]
        if not alike:
            break
        place += len(piece)
    return alike[0].known if alike else None


def _has(record: _Record[Known], place: int, piece: bytes) -> bool:
    with open(record.path, "rb", buffering=0) as file:
        return _read(file, record.start + place, len(piece)) == piece


def _read(file: BinaryIO, start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)
