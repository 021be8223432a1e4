"""Recipes for constants stored in quantized form, as tables or sparse."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from miltext.generation.recipes.table import recipe
from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from miltext.generation.calls import Call


def a_shape(call: Call) -> tuple[int, ...]:
    """Choose the shape of a small weight."""
    return tuple(2 * call.choices.integer(1, 2) for _ in range(call.choices.integer(1, 4)))


def parts_of(call: Call, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Choose the number of blocks along each dimension."""
    return tuple(call.choices.pick([1, size]) for size in shape)


def scale_and_offset(call: Call, shape: tuple[int, ...], data: str) -> None:
    """Generate a scale for each block, and perhaps an offset of the type of the data."""
    parts = parts_of(call, shape)
    call.filled("scale", parts, positive=True)
    if call.choices.flag():
        call.filled("offset", parts, dtype=call.type(data).dtype)
    call.leave_out("offset")


def mask_of(call: Call, name: str, shape: tuple[int, ...]) -> int:
    """Generate a mask of single bits, some of them ones, and return the number of ones."""
    count = prod(shape)
    seed = call.choices.integer(1, 3)
    bits = [int(place % (seed + 1) == 0) for place in range(count)]
    call.number(name, *bits, shape=shape, dtype="uint1")
    return sum(bits)


@recipe("constexpr_affine_dequantize")
def affine_dequantize(call: Call) -> None:
    """Generate a scale and a zero point for all, or for each place along an axis."""
    shape = a_shape(call)
    axis = call.choices.integer(0, len(shape) - 1)
    sizes = (shape[axis],) if call.choices.flag() else ()
    call.filled("quantized_data", shape)
    call.filled("zero_point", sizes, dtype=call.choices.pick([call.type("quantized_data").dtype, "fp32"]))
    call.filled("scale", sizes, positive=True)
    call.number("axis", axis)


@recipe("constexpr_blockwise_shift_scale")
def blockwise_shift_scale(call: Call) -> None:
    """Generate a scale for each block, and perhaps an offset."""
    shape = a_shape(call)
    call.filled("data", shape)
    scale_and_offset(call, shape, "data")


@recipe("constexpr_sparse_blockwise_shift_scale")
def sparse_blockwise_shift_scale(call: Call) -> None:
    """Generate as many numbers as the mask has ones, and a scale for each block."""
    shape = a_shape(call)
    ones = mask_of(call, "data_mask", shape)
    call.filled("nonzero_data", (ones,))
    scale_and_offset(call, shape, "nonzero_data")


@recipe("constexpr_cast")
def cast(call: Call) -> None:
    """Generate a tensor of halves."""
    call.filled("source_val", a_shape(call))


@recipe("constexpr_lut_to_dense")
def lut_to_dense(call: Call) -> None:
    """Generate a table, and indices that it has entries for."""
    shape = a_shape(call)
    if call.has("shape"):
        _old_lut(call, shape)
        return
    dtype = call.dtype("indices")
    _indices(call, "indices", shape, dtype)
    _table(call, shape, 1 << BY_NAME[dtype].bits)


def _table(call: Call, shape: tuple[int, ...], entries: int) -> None:
    """Generate a table for each block, of numbers or of vectors."""
    parts = tuple(call.choices.pick([1, size]) if entries < 16 else 1 for size in shape)
    size = call.choices.pick([1, 2]) if entries < 16 else 1
    call.filled("lut", (*parts, entries, size))
    if size > 1:
        call.number("vector_axis", call.choices.integer(0, len(shape) - 1))
    call.leave_out("vector_axis")


def _indices(call: Call, name: str, shape: tuple[int, ...], dtype: str) -> None:
    count, entries = prod(shape), 1 << BY_NAME[dtype].bits
    step = call.choices.integer(0, 3)
    call.number(name, *(place * step % entries for place in range(count)), shape=shape, dtype=dtype)


def _old_lut(call: Call, shape: tuple[int, ...]) -> None:
    """Generate indices packed into bytes, and the shape of the unpacked indices (iOS16/constexpr_ops.py)."""
    count = prod(shape)
    entries = call.choices.pick([2, 4, 16, 64, 256])
    octets = -(-count * (entries.bit_length() - 1) // 8)
    call.number("indices", *(place * 5 % 256 if entries == 256 else 0 for place in range(octets)), shape=(octets,))
    call.filled("lut", (entries,))
    call.vector("shape", list(shape), "uint32")


@recipe("constexpr_lut_to_sparse")
def lut_to_sparse(call: Call) -> None:
    """Generate a mask, and as many indices as that has ones."""
    shape = a_shape(call)
    ones = mask_of(call, "indices_mask", shape)
    dtype = call.dtype("indices_nonzero_data")
    _indices(call, "indices_nonzero_data", (ones,), dtype)
    entries = 1 << BY_NAME[dtype].bits
    call.filled("lut", (*[1] * len(shape), entries, 1))
    if call.choices.rarely():
        call.number("vector_axis", 0)
    call.leave_out("vector_axis")


@recipe("constexpr_sparse_to_dense")
def sparse_to_dense(call: Call) -> None:
    """Generate a mask, and as many numbers as that has ones."""
    shape = a_shape(call)
    if call.has("shape"):
        _old_mask(call, shape)
    else:
        call.filled("nonzero_data", (mask_of(call, "mask", shape),))


def _old_mask(call: Call, shape: tuple[int, ...]) -> None:
    """Generate a mask packed into bytes, and the shape of the unpacked mask (iOS16/constexpr_ops.py)."""
    count = prod(shape)
    bits = [int(place % 2 == 0) for place in range(count)]
    octets = [sum(bit << place for place, bit in enumerate(bits[start : start + 8])) for start in range(0, count, 8)]
    call.vector("mask", octets)
    call.filled("nonzero_data", (sum(bits),))
    call.vector("shape", list(shape), "uint32")
