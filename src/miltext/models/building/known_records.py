"""The records of a weight file that is added to: what it has already is not stored again."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from miltext.models.refusals import WeightsError
from miltext.schema.packing import packed_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.models.weights import BlobFile
    from miltext.schema.dtypes import DType


class _Record(NamedTuple):
    offset: int
    start: int


class KnownRecords:
    """The records of a weight file, by what equal ones have in common before their data is read; none without a file.

    Of a damaged file, these are the records before the damage, which is no matter of what is added.
    """

    def __init__(self, file: BlobFile | None) -> None:
        self._path = file.path if file else None
        self._alike: dict[tuple[DType, int, int], list[_Record]] = defaultdict(list)
        with suppress(WeightsError):
            for blob in file or ():
                self._alike[blob.dtype, blob.count, blob.size].append(_Record(blob.offset, blob.start))

    def find(self, dtype: DType, count: int, pieces: Iterable[bytes]) -> int | None:
        """Return the offset of a record with so many elements of a type, packed as in these pieces; None if none is.

        Pieces are taken as long as there is a record that begins like them.
        """
        alike = self._alike.get((dtype, count, packed_size(count, dtype.bits)), [])
        if not alike or self._path is None:
            return None
        place = 0
        with open(self._path, "rb", buffering=0) as file:
            for piece in pieces:
                alike = [record for record in alike if _read(file, record.start + place, len(piece)) == piece]
                if not alike:
                    return None
                place += len(piece)
        return alike[0].offset


def _read(file: BinaryIO, start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)
