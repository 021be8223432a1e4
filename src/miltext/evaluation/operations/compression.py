"""Rules for compressed constants and quantized tensors.

Integers are converted to floats before a subtraction, so that no integer wraps. Tables, scales and offsets for blocks
of elements meet those blocks in an array with two dimensions for each: the block, and the place in it.
"""

from __future__ import annotations

from itertools import chain
from math import prod

import numpy as np

from miltext.evaluation.rules import Array, Held, Ints, UnfitValues, rule
from miltext.schema.dtypes import BY_NAME, packed_size
from miltext.schema.packing import unpack_array
from miltext.schema.types import show

# ---- one scale, or one for each place along an axis


@rule("constexpr_cast")
def cast(source_val: Held) -> Held:
    """Return `source_val`, in the data type of the output."""
    return source_val


@rule("constexpr_affine_dequantize")
def affine_dequantize(quantized_data: Held, zero_point: Held, scale: Array, axis: int) -> Array:
    """Return scale * (quantized_data - zero_point)."""
    return _dequantized(quantized_data, scale, zero_point, axis)


@rule("dequantize")
def dequantize(input: Held, zero_point: Held | None, scale: Array, axis: int | None) -> Array:
    """Return scale * (input - zero_point)."""
    return _dequantized(input, scale, zero_point, axis)


def _dequantized(data: Held, scale: Array, zero_point: Held | None, axis: int | None) -> Array:
    made = data.astype(scale.dtype)
    if zero_point is not None:
        made -= _along(zero_point, data.ndim, axis).astype(scale.dtype)
    made *= _along(scale, data.ndim, axis)
    return made


@rule("quantize")
def quantize(input: Array, zero_point: Held | None, scale: Array, axis: int | None, output_dtype: str) -> Array:
    """Return round(input / scale) + zero_point, halves rounded to even, clipped to the range of `output_dtype`."""
    made = np.rint(input / _along(scale, input.ndim, axis))
    if zero_point is not None:
        made = made + _along(zero_point, input.ndim, axis)
    dtype = BY_NAME[output_dtype]
    return made.clip(dtype.minimum, dtype.maximum)


def _along(vector: Array, rank: int, axis: int | None) -> Array:
    """Return a vector as a tensor that broadcasts along an axis of a tensor of this rank; a scalar as it is."""
    if not vector.ndim or axis is None:
        return vector
    return vector.reshape([-1 if place == axis % rank else 1 for place in range(rank)])


# ---- a scale for each block


@rule("constexpr_blockwise_shift_scale")
def blockwise_shift_scale(data: Held, scale: Array, offset: Held | None) -> Array:
    """Return scale * (data - offset), where each element of `scale` and `offset` is for a block of `data`."""
    blocks = _in_blocks(data, scale.shape).astype(scale.dtype)
    if offset is not None:
        blocks -= _of_blocks(offset).astype(scale.dtype)
    blocks *= _of_blocks(scale)
    return blocks.reshape(data.shape)


@rule("constexpr_sparse_blockwise_shift_scale")
def sparse_blockwise_shift_scale(
    data_mask: Held, nonzero_data: Held, scale: Array, offset: Held | None
) -> tuple[Held, Array]:
    """Return the mask, and scale * (data - offset) of the data where it has ones."""
    dense = _dense(nonzero_data, data_mask, "data_mask")
    return data_mask, blockwise_shift_scale(dense, scale, offset)[data_mask != 0]


def _in_blocks(array: Array, counts: Ints) -> Array:
    """Return an array with two dimensions for each: the block, of `counts` blocks, and the element in it."""
    sizes = ((count, size // count if count else 0) for count, size in zip(counts, array.shape, strict=True))
    return array.reshape(list(chain.from_iterable(sizes)))


def _of_blocks(array: Array) -> Array:
    """Return an array that broadcasts over the contents of the blocks to which its elements belong."""
    return array.reshape([size for count in array.shape for size in (count, 1)])


# ---- look-up tables


@rule("constexpr_lut_to_dense")
def lut_to_dense(indices: Held, lut: Held, shape: Ints | None, vector_axis: int | None) -> Held:
    """Return the entries of `lut` that `indices` name.

    ios16: `indices` are packed in bytes, with as many bits for each as the entries of `lut` need, the least first;
    `shape` is the shape of the result. Some writers give each of them a whole byte. ios18: each block of `indices` has
    a table of its own, lut[block]; vector entries lie along `vector_axis`.
    """
    if shape is None:
        return _looked_up(indices, lut, vector_axis)
    bits = len(lut).bit_length() - 1
    whole = indices.size == prod(shape) != packed_size(prod(shape), bits)
    unpacked = indices.reshape(shape) if whole else _unpacked(indices, bits, shape)
    return _looked_up(unpacked, lut.reshape([1] * len(shape) + [-1, 1]), None)


@rule("constexpr_lut_to_sparse")
def lut_to_sparse(
    indices_mask: Held, indices_nonzero_data: Held, lut: Held, vector_axis: int | None
) -> tuple[Held, Held]:
    """Return the mask, widened by the entries of `lut`, and the entries for the indices where the mask has ones."""
    indices, size = _dense(indices_nonzero_data, indices_mask, "indices_mask"), lut.shape[-1]
    mask = indices_mask if size == 1 else indices_mask.repeat(size, vector_axis)
    return mask, _looked_up(indices, lut, vector_axis)[mask != 0]


MOST = 1 << 20
"""The number of elements looked up at once, for their indices take more memory than the elements."""


def _looked_up(indices: Held, lut: Held, vector_axis: int | None) -> Held:
    """Return the entries of tables for blocks; entries of more than one element widen `vector_axis`."""
    *counts, entries, size = lut.shape
    tables = _of_blocks(np.arange(prod(counts)).reshape(counts) * entries)
    blocks = _in_blocks(indices, tuple(counts))
    rows, tables = indices.reshape(len(indices), *blocks.shape[2:]), tables[:, 0].repeat(blocks.shape[1], axis=0)
    found = np.empty((*rows.shape, size), lut.dtype)
    step = max(1, MOST * len(rows) // max(1, rows.size))
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        found[part] = lut.reshape(-1, size)[tables[part] + rows[part]]
    found = found.reshape(*indices.shape, size)
    if vector_axis is None:
        return np.squeeze(found, -1)
    axis, shape = vector_axis % indices.ndim, list(indices.shape)
    shape[axis] *= size
    return np.reshape(np.moveaxis(found, -1, axis + 1), shape)


# ---- sparse data


@rule("constexpr_sparse_to_dense")
def sparse_to_dense(nonzero_data: Held, mask: Held, shape: Ints | None) -> Held:
    """Return zeros, with `nonzero_data` in row-major order where `mask` has ones.

    ios16: the ones are bits packed in bytes, the least first, and `shape` is the shape of the result.
    """
    return _dense(nonzero_data, mask if shape is None else _unpacked(mask, 1, shape), "mask")


def _dense(data: Held, mask: Held, name: str) -> Held:
    made = np.zeros(mask.shape, data.dtype)
    ones = mask != 0
    if np.count_nonzero(ones) != data.size:
        raise UnfitValues(f"`{name}` has {np.count_nonzero(ones)} ones, for {data.size} elements")
    made[ones] = data
    return made


def _unpacked(octets: Held, bits: int, shape: Ints) -> Held:
    """Return numbers of so many bits each as an array of `shape`, a byte for each."""
    count = prod(shape)
    if octets.size != packed_size(count, bits):
        needed = f"{count} numbers of {bits} bits take {packed_size(count, bits)} bytes"
        raise UnfitValues(f"`shape` is {show(shape)}: {needed}, not {octets.size}")
    return unpack_array(octets.tobytes(), bits, count, signed=False).reshape(shape)
