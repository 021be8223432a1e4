"""Packing: the bits of sub-byte elements and of the floats that numpy lacks."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miltext.schema.dtypes import BY_NAME, DTYPES, DType, packed_size
from miltext.schema.packing import PackingError, decode, pack, pack_array, unpack, unpack_array

PACKED = [dtype for dtype in DTYPES if dtype.packed]
INTEGERS = [dtype for dtype in DTYPES if dtype.kind in ("int", "uint")]

# What coremltools 9.0 makes of these values.
VECTORS = [
    ("int4", [-8, -1, 0, 7, 3], "f87003"),
    ("uint3", [1, 2, 3, 4, 5], "d158"),
    ("uint6", [1, 2, 3, 63, 5], "8130fc05"),
    ("uint2", [1, 2, 3, 0, 1], "3901"),
    ("uint1", [1, 0, 1, 1, 0, 0, 0, 0, 1], "0d01"),
]


def packed_by_definition(values: list[int], bits: int) -> bytes:
    number = sum((value & (1 << bits) - 1) << place * bits for place, value in enumerate(values))
    return number.to_bytes(packed_size(len(values), bits), "little")


@st.composite
def integers(draw: st.DrawFn, dtypes: list[DType]) -> tuple[DType, list[int]]:
    dtype = draw(st.sampled_from(dtypes))
    return dtype, draw(st.lists(st.integers(dtype.minimum, dtype.maximum), max_size=70))


@pytest.mark.parametrize(("name", "values", "packed"), VECTORS)
def test_vectors(name: str, values: list[int], packed: str) -> None:
    dtype = BY_NAME[name]
    assert pack(np.array(values), dtype).hex() == packed
    assert unpack(bytes.fromhex(packed), dtype, len(values)).tolist() == values


@given(integers(PACKED))
def test_sub_byte_elements_lie_as_defined(case: tuple[DType, list[int]]) -> None:
    dtype, values = case
    assert pack(np.array(values, np.int64), dtype) == packed_by_definition(values, dtype.bits)


@given(st.integers(1, 8), st.lists(st.integers(0, 255), max_size=70))
def test_every_width_up_to_a_byte(bits: int, values: list[int]) -> None:
    kept = [value & (1 << bits) - 1 for value in values]
    packed = pack_array(np.array(values, np.uint8), bits)
    assert packed == packed_by_definition(kept, bits)
    assert unpack_array(packed, bits, len(values), signed=False).tolist() == kept


@given(integers(INTEGERS))
def test_integers_come_back(case: tuple[DType, list[int]]) -> None:
    dtype, values = case
    array = np.array(values, "u8" if dtype.name == "uint64" else "i8")
    back = unpack(pack(array, dtype), dtype, len(values))
    assert back.tolist() == values
    assert back.dtype == np.dtype(dtype.numpy)


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.name)
def test_numbers_outside_an_integer_type_are_refused(dtype: DType) -> None:
    beyond = [dtype.minimum - 1] + [dtype.maximum + 1] * (dtype.bits < 64)
    for value in beyond if dtype.name != "int64" else [1 << 63]:
        with pytest.raises(PackingError, match=dtype.name):
            pack(np.array([value], "u8" if value > 0 else "i8"), dtype)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        *[("f4", "fp16"), ("f8", "fp32"), ("f4", "int8"), ("i4", "fp32"), ("f2", "bf16"), ("u1", "bf16")],
        *[("f4", "int4"), ("?", "int8"), ("?", "uint1"), ("u1", "bool"), ("i1", "fp8e5m2"), ("O", "string")],
    ],
)
def test_no_silent_conversion(given: str, name: str) -> None:
    with pytest.raises(PackingError, match=name):
        pack(np.ones(3, given), BY_NAME[name])


def test_floats_that_fit_are_widened_and_byte_order_is_formats() -> None:
    assert pack(np.array([1.5], ">f2"), BY_NAME["fp32"]) == struct.pack("<f", 1.5)
    assert pack(np.array([1.5], ">f8"), BY_NAME["fp64"]) == struct.pack("<d", 1.5)
    assert pack(np.array([0x1234], ">u2"), BY_NAME["bf16"]) == b"\x34\x12"
    assert pack(np.array([True, False]), BY_NAME["bool"]) == b"\1\0"


@pytest.mark.parametrize(("name", "count", "length"), [("fp16", 3, 5), ("int4", 3, 1), ("int4", 3, 3), ("uint3", 0, 1)])
def test_bytes_of_another_length_are_refused(name: str, count: int, length: int) -> None:
    with pytest.raises(PackingError, match=f"{count} elements"):
        unpack(bytes(length), BY_NAME[name], count)


def test_whole_bytes_are_not_copied() -> None:
    data = bytearray(8)
    array = unpack(data, BY_NAME["fp16"], 4)
    data[1] = 0x3C
    assert array[0] == 1


def float_by_definition(pattern: int, exponent_bits: int, mantissa_bits: int) -> float:
    """IEEE 754's rule for a small float, infinities and NaN aside."""
    bias = (1 << exponent_bits - 1) - 1
    exponent = pattern >> mantissa_bits & (1 << exponent_bits) - 1
    fraction = (pattern & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    sign = -1.0 if pattern >> exponent_bits + mantissa_bits else 1.0
    return sign * (math.ldexp(1 + fraction, exponent - bias) if exponent else math.ldexp(fraction, 1 - bias))


def test_fp8e4m3fn_values() -> None:
    values = decode(np.arange(256, dtype=np.uint8), BY_NAME["fp8e4m3fn"])
    assert np.flatnonzero(np.isnan(values)).tolist() == [0x7F, 0xFF]
    finite = [pattern for pattern in range(256) if pattern & 0x7F != 0x7F]
    assert values[finite].tolist() == [float_by_definition(pattern, 4, 3) for pattern in finite]
    assert values[0x7E] == 448


def test_fp8e5m2_values() -> None:
    values = decode(np.arange(256, dtype=np.uint8), BY_NAME["fp8e5m2"])
    assert values[[0x7C, 0xFC]].tolist() == [math.inf, -math.inf]
    assert np.flatnonzero(np.isnan(values)).tolist() == [0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]
    finite = [pattern for pattern in range(256) if pattern & 0x7F < 0x7C]
    assert values[finite].tolist() == [float_by_definition(pattern, 5, 2) for pattern in finite]


@given(st.integers(0, 0xFFFF).filter(lambda pattern: pattern & 0x7F80 != 0x7F80))
def test_bf16_values(pattern: int) -> None:
    value = decode(np.array([pattern], np.uint16), BY_NAME["bf16"])[0]
    assert value == float_by_definition(pattern, 8, 7)
    assert math.copysign(1, value) == (-1 if pattern >> 15 else 1)


@pytest.mark.parametrize(("dtype", "pattern"), [("bf16", 0x3FC0), ("fp8e4m3fn", 0x3C), ("fp8e5m2", 0x3E)])
def test_a_scalar_is_an_array_too(dtype: str, pattern: int) -> None:
    value = decode(np.array(pattern, BY_NAME[dtype].numpy), BY_NAME[dtype])
    assert value.shape == ()
    assert value.item() == 1.5


def test_other_arrays_are_their_values_already() -> None:
    array = np.arange(3, dtype=np.int8)
    assert decode(array, BY_NAME["int4"]) is array


@settings(max_examples=200)
@given(st.data())
def test_pieces_are_the_elements_in_order_however_an_array_lies(data: st.DataObject) -> None:
    from miltext.schema import packing

    shape = data.draw(st.lists(st.integers(0, 21), max_size=4))
    array = np.arange(int(np.prod(shape, dtype=int)), dtype=np.int32).reshape(shape)
    array = array.transpose(data.draw(st.permutations(range(array.ndim))))
    for axis in data.draw(st.sets(st.integers(0, 3))):
        if axis < array.ndim:
            array = array[(slice(None),) * axis + (slice(None, None, data.draw(st.sampled_from([1, 2, -1]))),)]
    sizes = {"ROWS": 8, "COLUMNS": 3, "MOST": data.draw(st.sampled_from([1, 100, 1 << 20]))}
    with pytest.MonkeyPatch.context() as patched:
        for name, size in sizes.items():
            patched.setattr(packing, name, size)
        pieces = [piece.copy() for piece in packing.pieces_in_order(array, 16)]
    assert [each for piece in pieces for each in piece] == [*array.reshape(-1)]
    assert all(piece.size % 8 == 0 for piece in pieces[:-1])
    assert all(piece.ndim == 1 for piece in pieces)
