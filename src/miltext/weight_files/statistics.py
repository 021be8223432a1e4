"""Statistics of the values of a weight: the least, the greatest, the mean and the share of zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from miltext.files.writing import Progress
    from miltext.schema.tensors import Tensor


MOST_BYTES = 1 << 24
"""The most bytes of a weight read for a summary; a multiple of every element's size."""


class Statistics(NamedTuple):
    """The least, the greatest and the mean value, and the share of zeros, of so many `elements`.

    Least and greatest are int for integer types.
    """

    minimum: float
    maximum: float
    mean: float
    zeros: float
    elements: int


def statistics(tensor: Tensor, progress: Progress | None = None, most: int | None = None) -> Statistics | None:
    """Return the Statistics of a tensor's values, None if it has none; a NaN among them makes the first three NaN.

    The tensor is read in chunks, up to `most` elements; sums of floats are in double precision, sums of integers exact.
    `progress` is called with the number of bytes of each chunk.
    """
    import numpy as np

    from miltext.schema.dtypes import packed_size
    from miltext.schema.packing import decode

    left = wanted = tensor.count if most is None else min(most, tensor.count)
    if not wanted:
        return None
    wide = np.float64 if tensor.dtype.kind == "float" else np.int64
    each = []
    for chunk in tensor.chunks():
        with np.errstate(all="ignore"):
            part = decode(chunk[:left], tensor.dtype)
            each.append((part.min(), part.max(), part.sum(dtype=wide).item(), part.size - np.count_nonzero(part)))
        left -= part.size
        if progress:
            progress(packed_size(part.size, tensor.dtype.bits))
        if not left:
            break
    least, greatest, sums, zeros = zip(*each, strict=True)
    share = sum(map(int, zeros)) / wanted
    return Statistics(np.min(least).item(), np.max(greatest).item(), sum(sums) / wanted, share, wanted)
