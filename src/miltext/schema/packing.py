"""The bits of arrays: elements narrower than a byte, and the floats that numpy lacks.

Sub-byte elements are stored with the least significant bits first and may extend over bytes (3 and 6 bits do); the last
byte is filled with zero bits. Weight files and the `bytes` of a `TensorValue` have the same form, as coremltools 9.0
writes both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from miltext.schema.dtypes import group, packed_size

if TYPE_CHECKING:
    from miltext.schema.dtypes import DType


Array: TypeAlias = npt.NDArray[Any]
Bytes: TypeAlias = bytes | bytearray | memoryview


class PackingError(ValueError):
    """An array that a type cannot hold, or bytes for another number of elements."""


def pack(array: Array, dtype: DType) -> bytes:
    """Return the elements of an array, in C order, as the little-endian, packed bytes of `dtype` (any but string).

    An integer type accepts arrays of any integer type with values in its range, a float type arrays of floats that need
    no rounding; bf16 and fp8 are passed as bit patterns (uint16, uint8). Raise PackingError for anything else.
    """
    problem = misfit(array, dtype)
    if problem:
        raise PackingError(problem)
    return packed(array, dtype)


def packed(array: Array, dtype: DType) -> bytes:
    """Return the bytes of `pack`, for an array that the type can hold."""
    return pack_array(array, dtype.bits) if dtype.packed else array.astype(np.dtype(dtype.numpy), copy=False).tobytes()


ROWS, COLUMNS = 128, 64
"""The rows and columns of an array to copy into C order at once: more would not fit in a processor's cache."""

MOST = 1 << 25
"""The greatest number of elements of an array in memory at once."""


def pieces_in_order(array: Array, size: int) -> Iterator[Array]:
    """Yield the elements of an array in C order, in flat pieces, each but the last of a multiple of 8 elements.

    They have `size` elements; for an array in another order, whole rows that fit into memory, because adjacent elements
    in C order would be far from each other in memory.
    """
    if array.flags.c_contiguous or array[:ROWS].size > MOST:
        flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
        yield from (flat[first : first + size] for first in range(0, array.size, size))
        return
    rows = max(ROWS, size // array[0].size // 8 * 8)
    yield from (_in_order(array[first : first + rows]).reshape(-1) for first in range(0, len(array), rows))


def _in_order(rows: Array) -> Array:
    """Return a copy in C order, made tile by tile along the longest axis except the first."""
    made = np.empty(rows.shape, rows.dtype)
    axis = 1 + max(range(rows.ndim - 1), key=lambda axis: rows.shape[1 + axis]) if rows.ndim > 1 else 0
    for first in range(0, rows.shape[axis], COLUMNS):
        tile = (slice(None),) * axis + (slice(first, first + COLUMNS),)
        made[tile] = rows[tile]
    return made


def misfit(array: Array, dtype: DType) -> str | None:
    """Return the reason why a type cannot hold an array, None if it can."""
    target = np.dtype(dtype.numpy)
    if dtype.kind in ("int", "uint") and array.dtype.kind in "iu":
        least, greatest = (int(array.min()), int(array.max())) if array.size else (0, 0)
        if dtype.minimum <= least and greatest <= dtype.maximum:
            return None
        return f"values from {least} to {greatest} do not fit {dtype.name}, {dtype.minimum} to {dtype.maximum}"
    floats = array.dtype.kind == target.kind == "f"
    if dtype.kind != "string" and np.can_cast(array.dtype, target, "safe" if floats else "equiv"):
        return None
    return f"an array of {array.dtype.name} cannot be stored as {dtype.name}, which is {target.name} in numpy"


def unpack(data: Bytes, dtype: DType, count: int) -> Array:
    """Return `count` elements of `dtype` (any but string) as a flat array; for types of whole bytes, it is a view of
    `data`.

    Raise PackingError for `data` of another length.
    """
    if dtype.packed:
        return unpack_array(data, dtype.bits, count, signed=dtype.kind == "int")
    _check_size(data, dtype.bits, count)
    # `frombuffer` keeps the buffer it was given alive; the constructor of `ndarray` looks through a memoryview.
    return np.frombuffer(data, np.dtype(dtype.numpy)) if count else np.empty(0, np.dtype(dtype.numpy))


def pack_array(array: Array, bits: int) -> bytes:
    """Return the elements of an integer array, in C order, packed at `bits` (1 to 8) bits each.

    Only the low `bits` bits of each element are packed: the caller must ensure that they contain its value.
    """
    each, wide = group(bits)
    elements = np.zeros((-(-array.size // each), each), np.uint8)
    elements.reshape(-1)[: array.size] = array.astype(np.uint8).reshape(-1) & np.uint8((1 << bits) - 1)
    words = np.zeros(len(elements), _word(wide))
    for place in range(each):
        words |= elements[:, place].astype(words.dtype) << words.dtype.type(bits * place)
    octets = words.view(np.uint8).reshape(len(words), words.itemsize)[:, :wide]
    return octets.tobytes()[: packed_size(array.size, bits)]


def unpack_array(data: Bytes, bits: int, count: int, signed: bool) -> Array:
    """Return `count` elements of `bits` (1 to 8) bits each as a flat int8 (`signed`) or uint8 array.

    Raise PackingError for `data` of another length than `count` elements.
    """
    _check_size(data, bits, count)
    each, wide = group(bits)
    groups = -(-count // each)
    octets = np.zeros(groups * wide, np.uint8)
    octets[: len(data)] = np.frombuffer(data, np.uint8) if count else 0
    words = np.zeros(groups, _word(wide))
    words.view(np.uint8).reshape(groups, words.itemsize)[:, :wide] = octets.reshape(groups, wide)
    elements = np.empty((groups, each), np.uint8)
    for place in range(each):
        elements[:, place] = words >> words.dtype.type(bits * place)
    flat = elements.reshape(-1)[:count]
    flat &= np.uint8((1 << bits) - 1)
    if not signed:
        return flat
    sign = np.uint8(1 << bits - 1)
    flat ^= sign
    flat -= sign
    return flat.view(np.int8)


def _check_size(data: Bytes, bits: int, count: int) -> None:
    if len(data) != packed_size(count, bits):
        raise PackingError(f"{count} elements of {bits} bits take {packed_size(count, bits)} bytes, not {len(data)}")


def _word(wide: int) -> str:
    """Return the numpy type of a little-endian integer that has room for `wide` bytes."""
    return "<u1" if wide == 1 else "<u4" if wide <= 4 else "<u8"


def decode(patterns: Array, dtype: DType) -> Array:
    """Return the values of an array from `unpack`: floats that numpy lacks as fp32, any other array unchanged.

    The bits of such a float, moved to the upper end of an fp32, are a number smaller by a power of two.
    """
    if dtype.kind != "float" or patterns.dtype.kind == "f":
        return patterns
    sign, flat = 1 << dtype.bits - 1, patterns.reshape(-1)  # of a scalar, the results would be no arrays
    magnitude = flat & flat.dtype.type(sign - 1)
    values = (magnitude.astype(np.uint32) << np.uint32(23 - dtype.mantissa)).view(np.float32)
    with np.errstate(invalid="ignore"):  # the bits of a bf16's NaN may be a signalling NaN's
        values *= np.float32(2.0 ** (128 - (1 << dtype.bits - 2 - dtype.mantissa)))
    greatest = sign - (1 << dtype.mantissa) if dtype.infinite else sign - 2
    values[magnitude > greatest] = np.nan
    if dtype.infinite:
        values[magnitude == greatest] = np.inf
    signed: npt.NDArray[np.float32] = np.where(flat & flat.dtype.type(sign), -values, values)
    return signed.reshape(patterns.shape)


def encode(values: Array, dtype: DType) -> Array:
    """Return the bit patterns of numbers as a float that numpy lacks, in `dtype.numpy`; the inverse of `decode`.

    They are rounded once, to the nearest, ties to even. An infinity or a number out of range becomes an infinity, or
    the NaN of a type without an infinity.
    """
    wide = _to_double(values)
    magnitude = np.where(np.isfinite(wide), np.abs(wide), 0)
    least = 2 - (1 << dtype.bits - 2 - dtype.mantissa)  # the exponent of the least normal number
    exponent = np.where(magnitude > 0, np.maximum(np.frexp(magnitude)[1] - 1, least), least)
    fraction = np.rint(np.ldexp(magnitude, dtype.mantissa - exponent))
    patterns = fraction + (exponent - least) * (1 << dtype.mantissa)  # a fraction rounded up may carry
    sign = 1 << dtype.bits - 1
    beyond = sign - (1 << dtype.mantissa) if dtype.infinite else sign - 1
    patterns = np.where(np.isinf(wide) | (patterns > beyond), beyond, patterns)
    patterns[np.isnan(wide)] = sign - 1
    made: Array = (patterns + sign * np.signbit(wide)).astype(np.dtype(dtype.numpy))
    return made


def _to_double(values: Array) -> npt.NDArray[np.float64]:
    """Return numbers as fp64, where large integers keep a bit for the part beyond its precision, so that narrower
    floats are rounded as from the integers.
    """
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        low = values & values.dtype.type(2047)
        odd = (values - low) | ((low != 0).astype(values.dtype) << values.dtype.type(11))
        near = np.abs(values.astype(np.float64)) < 2.0**53
        values = np.where(near, values, odd)
    return values.astype(np.float64)
