"""The numbers of a Value at any place, and the same numbers in another type, to be stored."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.conversion.halves import FEW, Loss, halves, measured
from miltext.diagnostics import codes
from miltext.files.refusals import refusal
from miltext.schema.packing import packed_size
from miltext.weights.tensors import literal, tensor_dtype, tensor_shape, tensor_value

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from miltext.building.filling import Array
    from miltext.files.writing import Progress
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import Value
    from miltext.weights.blob_storage import Blob
    from miltext.weights.model_weights import BlobFolder


class Numbers:
    """The numbers of a Value: of a record in a weight file, of an array beside the text, or of the program itself.

    Nothing is read before it is needed, and no more than a chunk of a file is in memory.
    """

    def __init__(
        self, dtype: DType, shape: tuple[int, ...], source: Blob | Array | bytes, reading: Progress | None = None
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self._source = source
        self._reading = reading

    @property
    def count(self) -> int:
        """How many there are."""
        return prod(self.shape)

    @cached_property
    def loss(self) -> Loss:
        """The loss of the numbers as fp16; none in a wider type."""
        return measured(self.chunks(), self.is_small) if self.dtype.name == "fp32" else Loss()

    @property
    def is_small(self) -> bool:
        """Whether they are so few that none may become 0."""
        return self.count < FEW

    @property
    def identity(self) -> tuple[object, ...]:
        """A key, equal for equal sources of numbers."""
        source = self._source
        if isinstance(source, bytes):
            return ("immediate", source)
        return source.stored.identity if isinstance(source, tuple) else (source.path, source.offset)

    @property
    def path(self) -> Path | None:
        """The file of an array beside the text, which belongs to its owner; None for the model's own numbers."""
        return self._source.stored.path if isinstance(self._source, tuple) else None

    def chunks(self) -> Iterator[npt.NDArray[Any]]:
        """Yield the numbers as flat arrays, and report the bytes read."""
        for piece in self.pieces(self.dtype):
            yield np.frombuffer(piece, self.dtype.numpy)
            if self._reading:
                self._reading(len(piece))

    def pieces(self, dtype: DType, progress: Progress | None = None, folder: Path | None = None) -> Iterator[bytes]:
        """Yield the bytes, packed as in a weight file, in their own type or as fp16 or fp32. Raise as reading does.

        `progress` and `folder` are used for an array that has to be put into C order first.
        """
        for piece in self._own_pieces(progress, folder):
            yield piece if dtype == self.dtype else self._converted(piece, dtype)

    def _converted(self, piece: bytes, dtype: DType) -> bytes:
        values = np.frombuffer(piece, self.dtype.numpy)
        made = halves(values, self.is_small) if dtype.bits < self.dtype.bits else values
        with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
            return made.astype(np.dtype(dtype.numpy)).tobytes()

    def _own_pieces(self, progress: Progress | None, folder: Path | None) -> Iterator[bytes]:
        source = self._source
        if isinstance(source, tuple):
            yield from source.stored.pieces(source.dtype, progress, folder)
            return
        yield from [source] if isinstance(source, bytes) else source.pieces()

    def size(self, dtype: DType) -> int:
        """Return the number of bytes of the numbers in a type."""
        return packed_size(self.count, dtype.bits)

    def work(self, dtype: DType) -> int:
        """Return the bytes of progress for storing the numbers."""
        extra = self._source.stored.work(self.dtype) - self.size(self.dtype) if isinstance(self._source, tuple) else 0
        return self.size(dtype) + extra


class NumbersOf:
    """Finds the Numbers of values: in the `folder` of weight files, or among the `arrays` that a text names."""

    def __init__(self, folder: BlobFolder, arrays: dict[str, Array]) -> None:
        self._folder = folder
        self._arrays = arrays
        self._known: dict[tuple[object, ...], Numbers] = {}

    def __call__(self, value: Value, name: str) -> Numbers:
        """Return the numbers of a value, under its name for people: the same object for the same record.

        Raise WeightsError for a weight file, and ModelError (MIL438) for a value that does not match its type.
        """
        dtype, shape = tensor_dtype(value.type), tensor_shape(value.type)
        source = self._source(value) if dtype is not None and shape is not None else None
        if dtype is None or shape is None or source is None:
            raise refusal(
                codes.UNCONVERTIBLE_VALUE,
                f"the value of `{name}` cannot be converted: it does not hold what its type says",
            )
        made = Numbers(dtype, shape, source, self._folder.progress)
        return self._known.setdefault((dtype, shape, *made.identity), made)

    def _source(self, value: Value) -> Blob | Array | bytes | None:
        if value.WhichOneof("value") == "blobFileValue":
            array = self._arrays.get(value.blobFileValue.fileName)
            return array or self._folder.blob(value)
        found = literal(value)
        return None if found is None else found.data


def put_into(value: Value, numbers: Numbers, dtype: DType) -> None:
    """Make numbers in a type the immediate content of a value."""
    value.immediateValue.tensor.CopyFrom(tensor_value(dtype, b"".join(numbers.pieces(dtype))))
