"""The numbers of a Value, in a program or a file, and their conversion to another type."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from miltext.conversion.halves import FEW, Loss, halves, measured
from miltext.schema.packing import pack
from miltext.schema.tensors import InType, Tensor

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.files.writing import Progress
    from miltext.schema.dtypes import DType
    from miltext.schema.packing import Array


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
        pieces = self.source.pieces(None, progress, folder)
        if dtype in (None, self.dtype):
            return pieces
        return (self._converted(values, dtype) for values in self.chunks(pieces))

    def _converted(self, values: Array, dtype: DType) -> bytes:
        made = halves(values, self.is_small) if dtype.bits < self.dtype.bits else values
        with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
            return pack(made, dtype)

    def work(self, dtype: DType | None = None) -> int:
        return Tensor.work(self, dtype) + self.source.work() - self.source.size
