"""An array in a file whose header was read: its type and shape, and its data in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from miltext.diagnostics import ModelError, refusing
from miltext.models.arrays.converting import Unfit, converted, holds, is_pattern, range_of
from miltext.models.arrays.problems import ArrayProblem
from miltext.models.arrays.regular_files import Stamp, reading, stamp
from miltext.models.refusals import refusal
from miltext.schema.dtypes import BY_NAME, DType
from miltext.schema.packing import pack_array, packed_size

if TYPE_CHECKING:
    import numpy.typing as npt

    from miltext.models.arrays.headers import Header
    from miltext.parsing.lowering.arrays import ArrayReference

PIECE = 1 << 18
"""How many elements are in memory at once; a multiple of 8, so that a piece ends with a byte."""


class StoredArray:
    """An array that a text names, as its file's header describes it; `dtype` is what the text asks for, if it does.

    The file is not open meanwhile: who reads the data finds the same file, or is told that it is another.
    """

    def __init__(self, reference: ArrayReference, path: Path, header: Header, stamp: Stamp) -> None:
        self.reference = reference
        self.path = path
        self.header = header
        self.dtype = BY_NAME[reference.dtype] if reference.dtype else header.dtype
        self._stamp = stamp

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the array, none for a scalar."""
        return self.header.shape

    @property
    def identity(self) -> tuple[object, ...]:
        """What two references have in common if they name the same data, to become the same type."""
        return self._stamp, self.header, self.dtype

    def size(self, dtype: DType | None = None) -> int:
        """Return how many bytes all `pieces` have."""
        return packed_size(self.header.number, (dtype or self.dtype).bits)

    def misfit(self, dtype: DType) -> str | None:
        """Why the array cannot be the value of a type, None if it can; values out of range are not known yet."""
        if holds(dtype, self.dtype):
            return None
        reason = f"{self.reference} has elements of {self.dtype.name}, and the value has those of {dtype.name}"
        return f"{reason}; `{dtype.name} {self.reference._replace(dtype=None)}` converts them"

    def pieces(self, dtype: DType | None = None) -> Iterator[bytes]:
        """Yield the elements in C order, little-endian and packed as in a weight file, in the type given or their own.

        Raise ModelError: MIL412 for a type that does not take them, MIL413 and MIL414 for what became of the file,
        MIL417 for a value that the type does not have, MIL418 where the file is not that of the header.
        """
        dtype = dtype or self.dtype
        if problem := self.misfit(dtype):
            raise refusal("MIL412", problem, self.path)
        with refusing(self._refused), reading(self.path) as file:
            self._require_same(file)
            yield from self._packed(self._stream(file), dtype)
            self._require_same(file)

    def _refused(self, failure: Exception) -> ModelError:
        return unreadable(self.reference, failure, self.path)

    def _require_same(self, file: BinaryIO) -> None:
        if stamp(file) != self._stamp:
            raise ArrayProblem("MIL418", "the file has changed since its header was read")

    def _stream(self, file: BinaryIO) -> BinaryIO:
        file.seek(self.header.start)
        return file

    def _packed(self, stream: BinaryIO, dtype: DType) -> Iterator[bytes]:
        """Yield the bytes of the elements that a stream has in C order."""
        steps = self._steps(dtype)
        last = [self.header.dtype, *(target for _, target in steps)][-1]
        first = 0
        for elements in self._elements(stream):
            made = elements
            for source, target in steps:
                made = self._converted(made, source, target, first)
            yield (
                pack_array(made, last.bits) if last.packed else made.astype(np.dtype(last.numpy), copy=False).tobytes()
            )
            first += len(elements)

    def _steps(self, dtype: DType) -> list[tuple[DType, DType]]:
        """Return the conversions to do, one after the other: that which the text asks for, and to the value's type."""
        types = [self.header.dtype, self.dtype, dtype]
        return [(a, b) for a, b in pairwise(types) if not is_pattern(a, b) and (a != b or a.kind == "bool")]

    def _converted(self, elements: npt.NDArray[Any], source: DType, target: DType, first: int) -> npt.NDArray[Any]:
        try:
            return converted(elements, source, target)
        except Unfit as failure:
            index = [int(place) for place in np.unravel_index(first + failure.place, self.shape)]
            where = f"the element {index}" if index else "the element"
            message = f"{where} of {self.reference} is {failure}, but {target.name} has {range_of(target)}"
            raise refusal("MIL417", message, self.path) from None

    def _elements(self, stream: BinaryIO) -> Iterator[npt.NDArray[Any]]:
        """Yield the elements of a stream, flat, PIECE at a time."""
        kind = np.dtype(self.header.numpy)
        for first in range(0, self.header.number, PIECE):
            count = min(PIECE, self.header.number - first)
            data = stream.read(count * kind.itemsize)
            if len(data) < count * kind.itemsize:
                raise ArrayProblem("MIL418", "the file was shortened while it was read")
            yield np.frombuffer(data, kind)


def unreadable(reference: ArrayReference, failure: Exception, path: Path | None) -> ModelError:
    """Return the error about an array that cannot be read."""
    reason = str(failure) or type(failure).__name__
    code = failure.code if isinstance(failure, ArrayProblem) else "MIL414"
    return refusal(code, f"{reference} cannot be read: {reason}", path)
