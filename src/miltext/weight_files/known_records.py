"""The records of a new weight file: equal data is not stored again."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Generic, TypeVar

from miltext.files.refusals import WeightsError
from miltext.schema.dtypes import packed_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from miltext.schema.dtypes import DType
    from miltext.weight_files.blob_storage import BlobFile

HEAD = 1 << 12
"""The bytes at the beginning of a record that distinguish most records of one type and size."""


Known = TypeVar("Known")


@dataclass(frozen=True)
class _Record(Generic[Known]):
    known: Known
    path: Path
    start: int


class KnownRecords(Generic[Known]):
    """Records by the properties that equal ones share: type, number of elements, and the beginning of their data.

    Each has a `known` value, such as its offset in the new file, and the place of its data.
    """

    def __init__(self) -> None:
        self._new: dict[tuple[DType, int], list[_Record[Known]]] = defaultdict(list)
        self._alike: dict[tuple[DType, int, int], list[_Record[Known]]] = defaultdict(list)

    def add(self, known: Known, dtype: DType, count: int, path: Path, start: int) -> None:
        """Add a record by its number of elements, and the place of its data in a file."""
        self._new[dtype, count].append(_Record(known, path, start))

    def find(self, dtype: DType, count: int, pieces: Iterable[bytes]) -> Known | None:
        """Return the known value of a record equal to these packed pieces; None if there is none.

        Pieces are read as long as a record begins with them.
        """
        kind = dtype, count
        if kind not in self._new:
            return None
        self._sort(kind)
        head, pieces = _headed(iter(pieces), min(HEAD, packed_size(count, dtype.bits)))
        return _equal(self._alike.get((*kind, hash(head)), []), pieces)

    def _sort(self, kind: tuple[DType, int]) -> None:
        """Read the beginnings of a kind's newly added records."""
        dtype, count = kind
        for record in self._new[kind]:
            with open(record.path, "rb", buffering=0) as file:
                head = _read(file, record.start, min(HEAD, packed_size(count, dtype.bits)))
            self._alike[dtype, count, hash(head)].append(record)
        self._new[kind].clear()


def records_of(file: BlobFile | None) -> KnownRecords[int]:
    """Return the records of a growing weight file, by their offsets; none without a file.

    In a damaged file, these are the records before the damage, which does not affect additions.
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
    """Return the known value of the first record whose data equals the pieces."""
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
