"""The facts about an array in a file's header, and the data types common to arrays and MIL."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from miltext.arrays.problems import ArrayProblem
from miltext.diagnostics import codes
from miltext.schema.dtypes import DTYPES, DType

LARGEST = (1 << 63) - 1
"""The largest size of a dimension, and the greatest number of bytes of an array or a file."""

_BY_NUMPY: dict[str, DType] = {
    np.dtype(dtype.numpy).str: dtype
    for dtype in DTYPES
    if dtype.bits == 8 * np.dtype(dtype.numpy).itemsize
    and (dtype.kind == "float") == (np.dtype(dtype.numpy).kind == "f")
}
"""The types of MIL that numpy supports, by numpy's name."""


class Header(NamedTuple):
    """An array in a file: its type, and the place and order of its data.

    `numpy` is the numpy type of an element in the file, for bf16 and fp8 the type of their bit patterns. The data
    starts `start` bytes after the start of the file, or of its `member` if it is an archive. In `fortran` order, the
    first index changes fastest.
    """

    dtype: DType
    numpy: str
    shape: tuple[int, ...]
    start: int
    fortran: bool = False
    member: str | None = None

    @property
    def number(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """The number of bytes of the data in the file."""
        return self.number * int(np.dtype(self.numpy).itemsize)


Headers: TypeAlias = Mapping[str | None, Header | ArrayProblem]
"""The arrays of a file by their keys, None for the array of a `.npy`."""


def dtype_of(found: np.dtype[np.generic]) -> DType:
    """Return the data type for a numpy type, in either byte order. Raise ArrayProblem (MIL415)."""
    if found.hasobject:
        raise ArrayProblem(codes.UNKNOWN_ARRAY_TYPE, "its elements are pickled Python objects, which are never loaded")
    dtype = _BY_NUMPY.get(found.newbyteorder("<").str) if found.names is None and found.subdtype is None else None
    if dtype is None:
        raise ArrayProblem(
            codes.UNKNOWN_ARRAY_TYPE, f"MIL has no data type for its elements, which are {_shown(found)}"
        )
    return dtype


def _shown(found: np.dtype[np.generic]) -> str:
    if found.kind != "V":
        return str(found.name)
    if found.names is not None:
        return "structures"
    return f"{found.itemsize} bytes of an unknown type each; save bf16 or fp8 as bit patterns of unsigned integers"


def check_shape(shape: tuple[Any, ...], itemsize: int) -> None:
    """Refuse an impossible shape, and a shape without elements. Raise ArrayProblem (MIL414)."""
    if not all(type(size) is int and 0 <= size <= LARGEST for size in shape) or prod(shape) * itemsize > LARGEST:
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, f"its header declares a shape that no array has: {_cut(shape)}")
    if 0 in shape:
        raise ArrayProblem(
            codes.UNREADABLE_ARRAY_FILE,
            f"it has no elements: its shape is {_cut([*shape])}, and a weight has at least one",
        )


def check_size(header: Header, there: int) -> Header:
    """Return a header if the size of its data matches the file. Raise ArrayProblem (MIL414) for another size."""
    if header.size != there:
        declared = f"its header declares {header.size} bytes of data ({header.dtype.name}, {_cut(list(header.shape))})"
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, f"{declared}, but there are {there}")
    return header


def _cut(shape: object, most: int = 60) -> str:
    text = repr(shape)
    return text if len(text) <= most else f"{text[:most]}..."
