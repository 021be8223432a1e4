"""Rules for quantization, and for constants stored in quantized form, as tables or sparse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from miltext.checking.inference.elementwise import named
from miltext.checking.inference.operands import Arguments, InputConflict, Unknown, count
from miltext.checking.inference.rules import linear, replaced, rule
from miltext.diagnostics import codes
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import Dimension, Shape, TensorType, Type, compatible, show

# ---- one scale, or one for each place along an axis


@rule("quantize")
def quantize(op: Arguments) -> Sequence[Type]:
    """Return the shape of `input` in the data type of `output_dtype`, which must be the type of `zero_point`."""
    dtype = named(op.scalar("output_dtype", str))
    if op.has("zero_point") and (other := op.tensor("zero_point").dtype) != dtype:
        clause = f"names {dtype}, but `zero_point` is {other}: they must be of one data type"
        raise InputConflict(clause, "output_dtype", "zero_point", code=codes.DTYPES_DIFFER)
    scale = op.all("scale")[0].value
    if not any(scale if isinstance(scale, tuple) else (scale is None or scale,)):
        raise InputConflict("is a divisor, and must not be 0", "scale", code=codes.VALUE_OUT_OF_RANGE)
    _hold_axis(op)
    _hold_scales(op, "input")
    return [TensorType(dtype, op.shape("input"))]


@rule("dequantize")
def dequantize(op: Arguments) -> Sequence[Type]:
    """Return the shape of `input`, of the data type of `scale`."""
    _hold_axis(op)
    _hold_scales(op, "input")
    return [TensorType(op.tensor("scale").dtype, op.shape("input"))]


@rule("constexpr_affine_dequantize")
def affine_dequantize(op: Arguments) -> Sequence[Type]:
    """Return the shape of `quantized_data`, of the data type of `scale`."""
    _hold_scales(op, "quantized_data")
    return [TensorType(op.tensor("scale").dtype, op.shape("quantized_data"))]


def _hold_axis(op: Arguments) -> None:
    """Require `axis` if and only if `scale` is a vector. Raise InputConflict."""
    if op.has("axis") and not op.shape("scale"):
        raise InputConflict("must be left out where `scale` is a scalar", "axis", "scale")
    if op.shape("scale") and not op.has("axis"):
        raise InputConflict("is a vector, so `axis` must give its dimension of `input`", "scale")


def _hold_scales(op: Arguments, data: str) -> None:
    """Require vectors of scales and of zero points to have the size of the data along `axis`. Raise InputConflict."""
    shape = op.shape(data)
    with suppress(Unknown):
        for name in filter(op.has, ("scale", "zero_point")):
            if sizes := op.shape(name):
                axis = op.axis(len(shape))
                if not compatible(sizes[0], shape[axis]):
                    clause = (
                        f"must be of shape [{shape[axis]}], not {show(sizes)}: the size of `{data}` at `axis` {axis}"
                    )
                    raise InputConflict(clause, name, data, code=codes.WRONG_ARGUMENT_SHAPE)


# ---- a scale for each block


@rule("constexpr_blockwise_shift_scale")
def blockwise_shift_scale(op: Arguments) -> Sequence[Type]:
    """Return the shape of `data`, of the data type of `scale`."""
    data = op.tensor("data")
    _hold_blocks(op, data.shape, "data")
    _hold_offset(op, "data")
    return [TensorType(op.tensor("scale").dtype, data.shape)]


@rule("constexpr_sparse_blockwise_shift_scale")
def sparse_blockwise_shift_scale(op: Arguments) -> Sequence[Type]:
    """Return the unchanged mask, and the data in the data type of `scale`."""
    _hold_entries(op, "nonzero_data", "data_mask")
    _hold_blocks(op, op.shape("data_mask"), "data_mask")
    _hold_offset(op, "nonzero_data")
    return [op.type("data_mask"), TensorType(op.tensor("scale").dtype, op.shape("nonzero_data"))]


def _hold_blocks(op: Arguments, shape: Shape, data: str) -> None:
    scale = op.shape("scale")
    if len(scale) != len(shape):
        clause = f"must be of rank {len(shape)}, as `{data}` is, not {len(scale)}"
        raise InputConflict(clause, "scale", data, code=codes.WRONG_ARGUMENT_RANK)
    _hold_factors("scale", scale, data, shape)


def _hold_offset(op: Arguments, data: str) -> None:
    """Require an integer `offset`, subtracted from the data, to have its data type. Raise InputConflict."""
    if op.has("offset"):
        offset, dtype = op.tensor("offset").dtype, op.tensor(data).dtype
        if BY_NAME[offset].kind != "float" and offset != dtype:
            clause = f"is {offset}, but `{data}` is {dtype}: they must be of one data type, or `offset` a float"
            raise InputConflict(clause, "offset", data, code=codes.DTYPES_DIFFER)


def _hold_factors(name: str, parts: Shape, data: str, shape: Shape) -> None:
    """Require the number of parts along each dimension to divide its size. Raise InputConflict."""
    for axis, (part, size) in enumerate(zip(parts, shape, strict=True)):
        if size is not None and part is not None and (size % part if part else size):
            clause = f"has {part} at axis {axis}, which does not divide the {size} of `{data}`"
            raise InputConflict(clause, name, data, code=codes.WRONG_ARGUMENT_SHAPE)


# ---- look-up tables


@rule("constexpr_lut_to_dense")
def lut_to_dense(op: Arguments) -> Sequence[Type]:
    """Return the given shape (ios16), or the indices' shape times the table's vectors (ios18), of its data type."""
    if op.has("shape"):
        shape = op.sizes("shape")
        [entries] = op.shape("lut", 1)
        if entries:
            _hold_bytes(op, "indices", shape, entries.bit_length() - 1)
    else:
        shape = _looked_up(op, "indices", op.tensor("indices"))
    return [TensorType(op.tensor("lut").dtype, shape)]


@rule("constexpr_lut_to_sparse")
def lut_to_sparse(op: Arguments) -> Sequence[Type]:
    """Return the mask and the data, each times the table's vectors."""
    mask, indices = op.tensor("indices_mask"), op.tensor("indices_nonzero_data")
    _hold_entries(op, "indices_nonzero_data", "indices_mask")
    shape = _looked_up(op, "indices_mask", TensorType(indices.dtype, mask.shape))
    [entries], size = op.shape("indices_nonzero_data", 1), op.shape("lut")[-1] or 0
    return [TensorType(mask.dtype, shape), TensorType(op.tensor("lut").dtype, (linear(entries, size),))]


def _looked_up(op: Arguments, name: str, indices: TensorType) -> Shape:
    """Return the shape with the axis of the table's vectors times their size, which is the table's last dimension."""
    *tables, entries, size = op.shape("lut", least=2)
    _hold_tables(name, indices, tables, entries)
    if size is None:
        raise Unknown
    if size == 1:
        return indices.shape
    if not op.has("vector_axis"):
        clause = f"has vectors of {size}, so `vector_axis` must give their dimension of `{name}`"
        raise InputConflict(clause, "lut")
    axis = op.axis(len(indices.shape), name="vector_axis")
    return replaced(indices.shape, axis, linear(indices.shape[axis], size))


def _hold_tables(name: str, indices: TensorType, tables: Sequence[Dimension], entries: Dimension) -> None:
    """Require a table, or tables for blocks, that match the indices. Raise InputConflict."""
    rank = len(indices.shape)
    if len(tables) != rank:
        clause = f"must be of rank {rank + 2}, two more than `{name}`, not {len(tables) + 2}"
        raise InputConflict(clause, "lut", name, code=codes.WRONG_ARGUMENT_RANK)
    _hold_factors("lut", tuple(tables), name, indices.shape)
    bits = BY_NAME[indices.dtype].bits
    if entries is not None and entries != 1 << bits:
        clause = f"has {entries} entries, its last size but one, and {indices.dtype} indices count {1 << bits}"
        raise InputConflict(clause, "lut", name, code=codes.WRONG_ARGUMENT_SHAPE)


# ---- sparse data


@rule("constexpr_sparse_to_dense")
def sparse_to_dense(op: Arguments) -> Sequence[Type]:
    """Return the given shape (ios16) or the shape of the mask (ios18), with the data type of the data."""
    shape = op.sizes("shape") if op.has("shape") else op.shape("mask")
    if op.has("shape"):
        _hold_bytes(op, "mask", shape, 1)
        _hold_last_bits(op, shape)
    _hold_entries(op, "nonzero_data", "mask")
    return [TensorType(op.tensor("nonzero_data").dtype, shape)]


def _hold_bytes(op: Arguments, name: str, shape: Shape, bits: int) -> None:
    """Require the number of bytes for elements of a number of bits in `shape`; some writers use a byte for each
    index.
    """
    total, [given] = count(shape), op.shape(name, 1)
    if total is None or given is None or (name == "indices" and given == total):
        return
    if given != (needed := math.ceil(total * bits / 8)):
        bits_each = "a bit" if bits == 1 else f"{bits} bits"
        clause = f"must be of shape [{needed}], not [{given}]: {bits_each} for each element of `shape`, {show(shape)}"
        raise InputConflict(clause, name, "shape", code=codes.WRONG_ARGUMENT_SHAPE)


def _hold_last_bits(op: Arguments, shape: Shape) -> None:
    """Require zeros for the bits of the last byte after the last element. Raise InputConflict."""
    total, bits = count(shape), _whole_numbers(op, "mask")
    if total is not None and bits and total % 8 and bits[-1] >> total % 8:
        clause = f"has set bits after the {total} elements of `shape`"
        raise InputConflict(clause, "mask", "shape", code=codes.VALUE_OUT_OF_RANGE)


def _hold_entries(op: Arguments, data: str, mask: str) -> None:
    """Require as many nonzero elements as the mask has ones. Raise InputConflict."""
    [entries] = op.shape(data, 1)
    size, bits = count(op.shape(mask)), _whole_numbers(op, mask)
    most = None if size is None else size * BY_NAME[op.tensor(mask).dtype].bits
    if entries is None:
        return
    if bits is not None and entries != (ones := sum(number.bit_count() for number in bits)):
        clause = f"must be of shape [{ones}], not [{entries}]: as many as `{mask}` has ones"
        raise InputConflict(clause, data, mask, code=codes.WRONG_ARGUMENT_SHAPE)
    if most is not None and entries > most:
        clause = f"must be of shape [{most}] at most, not [{entries}]: as many as `{mask}` has bits"
        raise InputConflict(clause, data, mask, code=codes.WRONG_ARGUMENT_SHAPE)


def _whole_numbers(op: Arguments, name: str) -> list[int] | None:
    """Return the elements of a constant, if they are all known."""
    value = op.all(name)[0].value
    if not isinstance(value, tuple):
        return None
    numbers = [element for element in value if isinstance(element, int)]
    return numbers if len(numbers) == len(value) else None
