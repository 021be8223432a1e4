"""Statistics of the values of a weight: the least, the greatest and the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from miltext.files.writing import Progress
    from miltext.schema.tensors import Tensor


class Statistics(NamedTuple):
    """The least, the greatest and the mean value; int for integer types, except for the mean."""

    minimum: float
    maximum: float
    mean: float


def statistics(tensor: Tensor, progress: Progress | None = None) -> Statistics | None:
    """Return the Statistics of a tensor's values, None if it has none; a NaN among them makes all three NaN.

    The tensor is read in chunks; sums of floats are in double precision, sums of integers exact. `progress` is called
    with the number of bytes of each chunk.
    """
    import numpy as np

    from miltext.schema.dtypes import packed_size
    from miltext.schema.packing import decode

    if not tensor.count:
        return None
    wide = np.float64 if tensor.dtype.kind == "float" else np.int64
    each = []
    for chunk in tensor.chunks():
        with np.errstate(all="ignore"):
            part = decode(chunk, tensor.dtype)
            each.append((part.min(), part.max(), part.sum(dtype=wide).item()))
        if progress:
            progress(packed_size(len(chunk), tensor.dtype.bits))
    least, greatest, sums = zip(*each, strict=True)
    return Statistics(np.min(least).item(), np.max(greatest).item(), sum(sums) / tensor.count)
