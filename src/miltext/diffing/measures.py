"""How far two tensors are apart, wherever their elements are kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.diffing.structure import Measure
from miltext.printing.tensors import field_data
from miltext.schema.dtypes import BY_NUMBER, DType

if TYPE_CHECKING:
    import numpy.typing as npt

    from miltext.models.weights import Blob, Progress

_PIECE = 1 << 16
"""How many elements are worked on at once: what is made of them stays in the processor's cache."""


class Elements(NamedTuple):
    """The elements of a tensor: their type, their number, and where they are."""

    dtype: DType
    number: int
    source: Blob | Any

    def chunks(self) -> Iterator[npt.NDArray[Any]]:
        """Yield the elements as flat arrays, in pieces, as `packing.unpack` gives them."""
        from miltext.models.weights import CHUNK, Blob

        if isinstance(self.source, Blob):
            yield from self.source.chunks()
            return
        array = _array(self.source, self.dtype, self.number)
        for start in range(0, self.number, CHUNK):
            yield array[start : start + CHUNK]


def elements(value: Any, blob: Blob | None) -> Elements | None:
    """Return the numbers or truth values of a tensor, in this record or else in the Value itself; None where there are
    none.

    Of values in the program, only those are read that stand in the usual field of their type, and fill its shape.
    """
    if blob is not None:
        return Elements(blob.dtype, blob.count, blob)
    tensor = value.immediateValue.tensor
    dtype = BY_NUMBER.get(value.type.tensorType.dataType)
    dimensions = value.type.tensorType.dimensions
    if dtype is None or dtype.kind == "string" or tensor.WhichOneof("value") != dtype.field:
        return None
    count = prod([dimension.constant.size for dimension in dimensions])
    held = getattr(tensor, dtype.field).values
    full = -(-count * dtype.bits // 8) if dtype.field == "bytes" else count
    return Elements(dtype, count, tensor) if count and len(held) == full else None


def _array(tensor: Any, dtype: DType, count: int) -> npt.NDArray[Any]:
    import numpy as np

    from miltext.schema.packing import unpack

    data = field_data(tensor, dtype.field)
    if isinstance(data, bytes):
        return unpack(data, dtype, count)
    wide = np.array(data, np.bool_ if dtype.kind == "bool" else np.int64)
    return wide.view(np.uint64) if dtype.name == "uint64" else wide


def measure(old: Elements | None, new: Elements | None, progress: Progress | None = None) -> Measure | None:
    """How far two tensors are apart; None where they have not as many elements, or no numbers.

    Elements of one type are the same if their bits are; else if their values are, or both are NaN. `progress` is told
    how many bytes of the new one each piece has.
    """
    if old is None or new is None or old.number != new.number:
        return None
    from miltext.schema.packing import packed_size

    sums = _Sums()
    for chunk, other in zip(old.chunks(), new.chunks(), strict=True):
        for start in range(0, len(chunk), _PIECE):
            piece = slice(start, start + _PIECE)
            sums.add(chunk[piece], old.dtype, other[piece], new.dtype)
        if progress:
            progress(packed_size(len(other), new.dtype.bits))
    if "bool" in (old.dtype.kind, new.dtype.kind):
        return Measure(old.number, sums.changed)
    return Measure(old.number, sums.changed, sums.maximum, sums.total / old.number, _decibel(sums.signal, sums.noise))


class _Sums:
    def __init__(self) -> None:
        self.changed = 0
        self.maximum = self.total = self.signal = self.noise = 0.0

    def add(self, old: npt.NDArray[Any], dtype: DType, new: npt.NDArray[Any], other: DType) -> None:
        import numpy as np

        from miltext.schema.packing import decode

        with np.errstate(all="ignore"):
            values, others = decode(old, dtype), decode(new, other)
            wide, other_wide = values.astype(np.float64), others.astype(np.float64)
            if dtype == other:
                unlike = _bits(old) != _bits(new)
            else:
                unlike = (wide != other_wide) & ~(np.isnan(wide) & np.isnan(other_wide))
            self.signal += _sum_of_squares(wide)
            self.changed += (changed := int(np.count_nonzero(unlike)))
            if changed:
                exact = dtype == other and dtype.field == "longInts"
                apart = _exact_distances(values, others) if exact else _distances(wide, other_wide, unlike)
                self.maximum = max(self.maximum, float(apart.max()))
                self.total += float(apart.sum())
                self.noise += float(np.einsum("i,i", apart, apart))


def _sum_of_squares(values: npt.NDArray[Any]) -> float:
    """Return the sum of the squares of the finite values."""
    import numpy as np

    total = float(np.einsum("i,i", values, values))
    if math.isfinite(total):
        return total
    finite = values[np.isfinite(values)]
    return float(np.einsum("i,i", finite, finite))


def _bits(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    bits: npt.NDArray[Any] = array.view(f"u{array.itemsize}") if array.dtype.kind == "f" else array
    return bits


def _exact_distances(old: npt.NDArray[Any], new: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Absolute differences of integers of 64 bits: of the greater and the lesser, modulo 2**64."""
    import numpy as np

    apart: npt.NDArray[Any] = np.maximum(old, new).astype(np.uint64) - np.minimum(old, new).astype(np.uint64)
    return apart.astype(np.float64)


def _distances(old: npt.NDArray[Any], new: npt.NDArray[Any], unlike: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Absolute differences; infinite from or to what is not finite, from NaN to NaN 0."""
    import numpy as np

    apart: npt.NDArray[Any] = np.abs(old - new)
    if not np.isfinite(apart).all():
        apart[np.isnan(apart)] = np.inf
        apart[~unlike | (np.isnan(old) & np.isnan(new))] = 0
    return apart


def _decibel(signal: float, noise: float) -> float:
    if noise == 0:
        return math.inf
    if signal == 0 or math.isinf(noise):
        return -math.inf
    return 10 * math.log10(signal / noise) if math.isfinite(signal) else math.inf
