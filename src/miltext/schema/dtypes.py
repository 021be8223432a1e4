"""The table of MIL's data types, from which all other modules derive.

Names, numbers and the `TensorValue` field of each type are facts of Apple's `MIL.proto` and of coremltools 9.0's files;
blob numbers are from its blob storage format, version 2. The floats are laid out as in IEEE 754, except for bfloat16
and OCP's 8-bit floats; E4M3 has no infinity, and a NaN only where all bits are set.
"""

from __future__ import annotations

from math import lcm
from typing import NamedTuple


class DType(NamedTuple):
    """One scalar type.

    `bits` is the width of one element (0 for a string), `kind` is `bool`, `string`, `float`, `int` or `uint`, `numpy`
    the dtype whose bytes hold one element (sub-byte types use a whole byte each, bf16 and fp8 their bit pattern),
    `field` the usual member of `TensorValue` for the values, and `blob` the number of the type in a weight file, if it
    is allowed there. A float has `mantissa` stored bits of the fraction; unless it is `infinite`, it has no infinity,
    and a single magnitude for NaN.
    """

    name: str
    number: int
    proto_name: str
    bits: int
    kind: str
    numpy: str
    field: str
    blob: int | None
    mantissa: int = 0
    infinite: bool = True

    @property
    def packed(self) -> bool:
        """Whether elements share bytes."""
        return 0 < self.bits < 8 and self.kind in ("int", "uint")

    @property
    def minimum(self) -> int:
        """The least value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def maximum(self) -> int:
        """The greatest value of an integer type."""
        return (1 << (self.bits - (self.kind == "int"))) - 1


DTYPES: tuple[DType, ...] = (
    DType("bool", 1, "BOOL", 8, "bool", "?", "bools", None),
    DType("string", 2, "STRING", 0, "string", "O", "strings", None),
    DType("fp8e4m3fn", 40, "FLOAT8E4M3FN", 8, "float", "<u1", "bytes", 16, mantissa=3, infinite=False),
    DType("fp8e5m2", 41, "FLOAT8E5M2", 8, "float", "<u1", "bytes", 17, mantissa=2),
    DType("fp16", 10, "FLOAT16", 16, "float", "<f2", "bytes", 1, mantissa=10),
    DType("bf16", 13, "BFLOAT16", 16, "float", "<u2", "bytes", 5, mantissa=7),
    DType("fp32", 11, "FLOAT32", 32, "float", "<f4", "floats", 2, mantissa=23),
    DType("fp64", 12, "FLOAT64", 64, "float", "<f8", "doubles", None, mantissa=52),
    DType("int4", 25, "INT4", 4, "int", "<i1", "bytes", 8),
    DType("int8", 21, "INT8", 8, "int", "<i1", "bytes", 4),
    DType("int16", 22, "INT16", 16, "int", "<i2", "ints", 6),
    DType("int32", 23, "INT32", 32, "int", "<i4", "ints", 14),
    DType("int64", 24, "INT64", 64, "int", "<i8", "longInts", None),
    DType("uint1", 37, "UINT1", 1, "uint", "<u1", "bytes", 9),
    DType("uint2", 36, "UINT2", 2, "uint", "<u1", "bytes", 10),
    DType("uint3", 39, "UINT3", 3, "uint", "<u1", "bytes", 12),
    DType("uint4", 35, "UINT4", 4, "uint", "<u1", "bytes", 11),
    DType("uint6", 38, "UINT6", 6, "uint", "<u1", "bytes", 13),
    DType("uint8", 31, "UINT8", 8, "uint", "<u1", "bytes", 3),
    DType("uint16", 32, "UINT16", 16, "uint", "<u2", "ints", 7),
    DType("uint32", 33, "UINT32", 32, "uint", "<u4", "bytes", 15),
    DType("uint64", 34, "UINT64", 64, "uint", "<u8", "longInts", None),
)

GREATEST_HALF = 65504.0
"""The greatest number of fp16."""

LEAST_HALF, LEAST_NORMAL_HALF = 2.0**-24, 2.0**-14
"""The least positive number of fp16, and the least one with all of its bits."""

BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in DTYPES}
BY_NUMBER: dict[int, DType] = {dtype.number: dtype for dtype in DTYPES}
BY_BLOB: dict[int, DType] = {dtype.blob: dtype for dtype in DTYPES if dtype.blob is not None}

FIELD_DTYPES: dict[str, DType] = {
    "floats": BY_NAME["fp32"],
    "ints": BY_NAME["int32"],
    "bools": BY_NAME["bool"],
    "strings": BY_NAME["string"],
    "longInts": BY_NAME["int64"],
    "doubles": BY_NAME["fp64"],
}
"""The spelling of a `TensorValue` member's elements in a text with the member's name, such as `$ints([1, 2])`."""

AMBIGUOUS = frozenset(["float", "int", "long"])
"""The names in ELSEWHERE with different sizes in different languages: `float` has 64 bits in Python, 32 in C."""

ELSEWHERE: dict[str, str] = {dtype.proto_name.lower(): dtype.name for dtype in DTYPES} | {
    "half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "int": "int32",
    "long": "int64",
    "str": "string",
    "i1": "bool",
    **{f"f{bits}": f"fp{bits}" for bits in (16, 32, 64)},
    **{
        f"{sign}{bits}": f"{kind}{bits}"
        for sign, kind in (("i", "int"), ("u", "uint"), ("ui", "uint"))
        for bits in (8, 16, 32, 64)
    },
}
"""Data types by their names in the schema, NumPy, C, Rust and MLIR."""


def packed_size(count: int, bits: int) -> int:
    """Return the number of bytes of `count` elements of `bits` bits."""
    return -(-count * bits // 8)


# A group is the least number of codes that fills whole bytes. The first of each group, the second of each, and so on
# are columns, which long integers shift and mask as one.


def group(bits: int) -> tuple[int, int]:
    """Return the number of codes of `bits` bits in a group, and the number of bytes (at most 7)."""
    return lcm(bits, 8) // bits, lcm(bits, 8) // 8


def pack_codes(codes: bytes, bits: int) -> bytes:
    """Return codes of `bits` bits, given in a byte each, side by side from the least significant bit on."""
    if bits == 8:
        return codes
    count, size = group(bits)
    packed, groups, number = packed_size(len(codes), bits), -(-len(codes) // count), 0
    codes += bytes(groups * count - len(codes))
    for nth in range(count):
        column = bytearray(groups * size)
        column[::size] = codes[nth::count]
        number |= int.from_bytes(column, "little") << bits * nth
    return number.to_bytes(groups * size, "little")[:packed]


def unpack_codes(data: bytes, bits: int, most: int) -> bytes:
    """Return at most `most` codes of `bits` bits (1 to 8) in a byte each: the reverse of `pack_codes`."""
    if bits == 8:
        return data
    count, size = group(bits)
    groups = -(-len(data) // size)
    number = int.from_bytes(data, "little")
    mask = int.from_bytes(((1 << bits) - 1).to_bytes(size, "little") * groups, "little")
    codes = bytearray(groups * count)
    for nth in range(count):
        codes[nth::count] = (number >> bits * nth & mask).to_bytes(groups * size, "little")[::size]
    return bytes(codes)[:most]
