"""An array in a file with a known header: its type and shape, and its data in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from itertools import pairwise, product
from math import prod
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, BinaryIO, TypeAlias
from zipfile import ZipFile

import numpy as np

from miltext.arrays.converting import UnfitElement, converted, converts, holds, is_pattern, range_of
from miltext.arrays.npz import member_data
from miltext.arrays.problems import ArrayProblem
from miltext.arrays.regular_files import Stamp, reading, stamp
from miltext.diagnostics import ModelError, codes, refusing
from miltext.files.refusals import refusal
from miltext.schema.dtypes import BY_NAME, DType
from miltext.schema.packing import packed
from miltext.schema.tensors import Tensor
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.arrays.headers import Header
    from miltext.files.writing import Progress
    from miltext.parsing.lowering.arrays import ArrayReference
    from miltext.schema.packing import Array

PIECE = 1 << 18
"""The most elements in memory at once; a multiple of 8, so that a piece ends with a byte."""

LONGEST_REASON = 360
"""The greatest length of a library's message, which may repeat the file's contents."""


class StoredArray(Tensor):
    """An array in a text, described by the header of its file; `dtype` is the type requested by the text, if any.

    The file is not kept open: a later read checks that the file is unchanged.
    """

    def __init__(self, reference: ArrayReference, path: Path, header: Header, stamp: Stamp) -> None:
        self.reference = reference
        self.path = path
        self.header = header
        self._stamp = stamp

    @property
    def dtype(self) -> DType:
        return BY_NAME[self.reference.dtype] if self.reference.dtype else self.header.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the array, none for a scalar."""
        return self.header.shape

    @property
    def identity(self) -> tuple[object, ...]:
        """The properties shared by two references to the same data, with the same type."""
        return self._stamp, self.header, self.dtype

    @property
    def origin(self) -> Path:
        return self.path

    def misfit(self, dtype: DType) -> str | None:
        """Return the reason why the array cannot be the value of a type, else None; values out of range are found
        later.
        """
        if holds(dtype, self.dtype):
            return None
        reason = f"`{self.reference}` has elements of {self.dtype.name}, and the value has those of {dtype.name}"
        if not converts(dtype, self.header.dtype):
            return reason
        return f"{reason}; `{dtype.name} {self.reference._replace(dtype=None)}` converts them"

    def work(self, dtype: DType | None = None) -> int:
        """Return the number of bytes that `pieces` reports as progress: the bytes of its results, and of a copy in C
        order.
        """
        return super().work(dtype) + (self.header.size if self.header.fortran else 0)

    def pieces(
        self, dtype: DType | None = None, progress: Progress | None = None, folder: Path | None = None
    ) -> Iterator[bytes]:
        """Yield the elements in C order, little-endian and packed as in a weight file, in the given type or their own.

        An array in Fortran order is copied first, to a file without a name in `folder` unless it is small; `progress`
        is called with the size of each of its parts. Raise OSError for that copy, and ModelError: MIL412 for a type
        that does not accept the elements, MIL413 and MIL414 for a missing or damaged file, MIL417 for a value out of
        the type's range, MIL418 for a file that does not match the header.
        """
        dtype = dtype or self.dtype
        if problem := self.misfit(dtype):
            raise refusal(codes.MISFIT_ARRAY, problem, self.path)
        with ExitStack() as stack:
            with refusing(self._refused):
                file = stack.enter_context(reading(self.path))
                self._require_same(file)
                data = self._data(file, stack)
            if self.header.fortran:
                data = stack.enter_context(self._turned(data, progress or (lambda _: None), folder))
            yield from self._packed(data, dtype)
            with refusing(self._refused):
                self._require_same(file)

    def _refused(self, failure: Exception) -> ModelError:
        return unreadable(self.reference, failure, self.path)

    def _require_same(self, file: BinaryIO) -> None:
        if stamp(file) != self._stamp:
            raise ArrayProblem(codes.ARRAY_FILE_CHANGED, "the file has changed since its header was read")

    def _data(self, file: BinaryIO, stack: ExitStack) -> IO[bytes]:
        """Return the array's data as a stream."""
        if self.header.member is None:
            file.seek(self.header.start)
            return file
        return stack.enter_context(member_data(stack.enter_context(ZipFile(file)), self.header))

    @contextmanager
    def _turned(self, data: IO[bytes], progress: Progress, folder: Path | None) -> Iterator[IO[bytes]]:
        """Copy data in Fortran order into C order, for a `with` block."""
        with ExitStack() as stack:
            if self.header.member is not None:  # a member of an archive is read from its start to its end
                copy = stack.enter_context(self._workspace(folder))
                for piece in self._read(data, self.header.size):
                    copy.write(piece)
                data, start = copy, 0
            else:
                start = self.header.start
            target = stack.enter_context(self._workspace(folder))
            item = np.dtype(self.header.numpy).itemsize
            for size in turn_round(self._filling(data, start), self.shape, item, target):
                progress(size)
            target.seek(0)
            yield target

    def _workspace(self, folder: Path | None) -> IO[bytes]:
        """Return a file for a copy of the data, in memory if it is small."""
        return TemporaryFile(dir=folder) if self.header.size > BOX else BytesIO()

    def _filling(self, data: IO[bytes], start: int) -> Callable[[int, memoryview], None]:
        def fill(place: int, view: memoryview) -> None:
            data.seek(start + place)
            view[:] = self._exactly(data, len(view))

        return fill

    def _packed(self, data: IO[bytes], dtype: DType) -> Iterator[bytes]:
        """Yield the bytes of the elements of data in C order, in a type."""
        kind = np.dtype(self.header.numpy)
        steps = self._steps(dtype)
        first = 0
        for piece in self._read(data, self.header.size, PIECE * kind.itemsize):
            elements = np.frombuffer(piece, kind)
            for source, target in steps:
                elements = self._converted(elements, source, target, first)
            yield packed(elements, dtype)
            first += len(elements)

    def _read(self, data: IO[bytes], size: int, most: int = PIECE) -> Iterator[bytes]:
        for first in range(0, size, most):
            yield self._exactly(data, min(most, size - first))

    def _exactly(self, data: IO[bytes], size: int) -> bytes:
        """Return the next bytes of the data, exactly as many as requested."""
        with refusing(self._refused):
            piece = data.read(size)
            if len(piece) < size:
                raise ArrayProblem(codes.ARRAY_FILE_CHANGED, "the file was shortened while it was read")
            return piece

    def _steps(self, dtype: DType) -> list[tuple[DType, DType]]:
        """Return the successive conversions: the one requested by the text, and the one to the value's type."""
        types = [self.header.dtype, self.dtype, dtype]
        steps = [(a, b) for a, b in pairwise(types) if a != b and not is_pattern(a, b)]
        return [(types[0], types[0]), *steps] if types[0].kind == "bool" else steps  # whose bytes may be neither

    def _converted(self, elements: Array, source: DType, target: DType, first: int) -> Array:
        try:
            return converted(elements, source, target)
        except UnfitElement as failure:
            index = index_of(first + failure.place, self.shape)
            where = f"the element {index}" if index else "the element"
            message = f"{where} of `{self.reference}` is {failure}, but {target.name} has {range_of(target)}"
            raise refusal(codes.ARRAY_VALUE_OUT_OF_RANGE, message, self.path) from None


def index_of(place: int, shape: tuple[int, ...]) -> list[int]:
    """Return the index of the element at a place in C order."""
    steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return [place // step % size for step, size in zip(steps, shape, strict=True)]


def unreadable(reference: ArrayReference, failure: Exception, path: Path | None) -> ModelError:
    """Return the error about an unreadable array."""
    reason = shown(str(failure) or type(failure).__name__, LONGEST_REASON)
    code = failure.code if isinstance(failure, ArrayProblem) else codes.UNREADABLE_ARRAY_FILE
    return refusal(code, f"`{reference}` cannot be read: {reason}", path)


# ---- Fortran order: a box of the array is read, turned and written to a file in C order, and then the next box. A box
# is long in the first axes, whose elements lie together in the source, and in the last ones, whose elements lie
# together in the result; so each of its runs is long, whatever the shape.


BOX = 1 << 23
"""The greatest number of bytes transposed at once; the result needs the same memory again."""

Read: TypeAlias = Callable[[int, memoryview], object]
"""A function that fills a view with the array's bytes from an offset on."""


def turn_round(read: Read, shape: Sequence[int], item: int, target: IO[bytes]) -> Iterator[int]:
    """Write the elements of an array, which `read` returns in Fortran order, to a file in C order; `item` bytes each.

    Yield the number of bytes of each finished box.
    """
    shape = [size for size in shape if size > 1]  # numpy's arrays have a few dozen axes at most
    most = sides_of_box(shape, BOX // item)
    data = bytearray(prod(most) * item)
    for corner in product(*(range(0, size, side) for size, side in zip(shape, most, strict=True))):
        sides = [min(side, size - first) for side, size, first in zip(most, shape, corner, strict=True)]
        view = memoryview(data)[: prod(sides) * item]
        done = 0
        for start, count in runs(corner, sides, shape):
            read(start * item, view[done : done + count * item])
            done += count * item
        box = np.frombuffer(view, f"u{item}").reshape(sides[::-1]).T
        turned = np.ascontiguousarray(box).data.cast("B")
        done = 0
        for start, count in runs(corner[::-1], sides[::-1], shape[::-1]):
            target.seek(start * item)
            target.write(turned[done : done + count * item])
            done += count * item
        yield done


def sides_of_box(shape: Sequence[int], most: int) -> list[int]:
    """Return the sides of a box of limited size: the first axes and the last are doubled in turn."""
    sides = [1] * len(shape)
    while True:
        for axes in (range(len(shape)), reversed(range(len(shape)))):
            axis = next((axis for axis in axes if sides[axis] < shape[axis]), None)
            if axis is None or 2 * prod(sides) > most:
                return sides
            sides[axis] = min(2 * sides[axis], shape[axis])


def runs(corner: Sequence[int], sides: Sequence[int], shape: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the start and the length of each run of adjacent elements of a box, in an array whose first axis is
    fastest.
    """
    whole = next((axis for axis, size in enumerate(shape) if sides[axis] < size), len(shape) - 1)
    steps = [prod(shape[:axis]) for axis in range(len(shape))]
    first = sum(place * step for place, step in zip(corner[: whole + 1], steps, strict=False))
    places = [
        range(corner[axis] * steps[axis], (corner[axis] + sides[axis]) * steps[axis], steps[axis])
        for axis in reversed(range(whole + 1, len(shape)))
    ]
    count = prod(sides[: whole + 1])
    return ((first + sum(outer), count) for outer in product(*places))
