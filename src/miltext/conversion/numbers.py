"""The numbers of a Value, in a program or a file, and their conversion to another type."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from miltext.conversion.halves import FEW, Loss, halves, measured
from miltext.diagnostics import codes
from miltext.files.refusals import refusal
from miltext.schema.tensors import InType, Tensor, tensor_form

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.files.writing import Progress
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import Value
    from miltext.weight_files.model_weights import BlobFolder


class Numbers(InType):
    """The numbers of a Value, in a program or a file, as fp32 or fp16, and the loss of the conversion."""

    def __init__(self, source: Tensor, shape: tuple[int, ...], reading: Progress | None = None) -> None:
        super().__init__(source, source.dtype)
        self._shape = shape
        self._reading = reading

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @cached_property
    def loss(self) -> Loss:
        """The loss of the numbers as fp16; none in a wider type."""
        return measured(self.chunks(), self.is_small) if self.dtype.name == "fp32" else Loss()

    @property
    def is_small(self) -> bool:
        """Whether there are so few that none may become 0."""
        return self.count < FEW

    def views(self) -> Iterator[bytes]:
        """Yield the packed numbers, and report the bytes read."""
        for piece in self.source.pieces():
            yield piece
            if self._reading:
                self._reading(len(piece))

    def pieces(
        self, dtype: DType | None = None, progress: Progress | None = None, folder: Path | None = None
    ) -> Iterator[bytes]:
        for piece in self.source.pieces(None, progress, folder):
            yield piece if dtype in (None, self.dtype) else self._converted(piece, dtype)

    def _converted(self, piece: bytes, dtype: DType) -> bytes:
        values = np.frombuffer(piece, self.dtype.numpy)
        made = halves(values, self.is_small) if dtype.bits < self.dtype.bits else values
        with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
            return made.astype(np.dtype(dtype.numpy)).tobytes()

    def work(self, dtype: DType | None = None) -> int:
        return Tensor.work(self, dtype) + self.source.work() - self.source.size


class NumbersOf:
    """Finds the Numbers of values: in the `folder` of weight files, or among the `arrays` that a text names."""

    def __init__(self, folder: BlobFolder, arrays: dict[str, InType]) -> None:
        self._folder = folder
        self._arrays = arrays
        self._known: dict[tuple[object, ...], Numbers] = {}

    def __call__(self, value: Value, name: str) -> Numbers:
        """Return the numbers of a value, with its displayed name: the same object for the same record.

        Raise WeightsError for a weight file, and ModelError (MIL438) for a value that does not match its type.
        """
        form = tensor_form(value.type)
        source = self._source(value) if form else None
        if form is None or source is None:
            raise refusal(
                codes.UNCONVERTIBLE_VALUE,
                f"the value of `{name}` cannot be converted: its contents do not fit its type",
            )
        made = Numbers(source, form[1], self._folder.progress)
        return self._known.setdefault((*form, *made.identity), made)

    def _source(self, value: Value) -> Tensor | None:
        return self._arrays.get(value.blobFileValue.fileName) or self._folder.tensor(value)
