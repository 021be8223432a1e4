"""Encoding: integers, bools and packed elements, and long lists from their text to their bytes and back."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from miltext.schema.dtypes import BY_NAME, DTYPES, DType
from miltext.schema.packing import pack_array
from miltext.syntax.encoding import _codes, decode, encode, encode_list, padding_is_clear
from miltext.syntax.literals import LiteralError, elements, locate, nest

PACKED = [dtype.name for dtype in DTYPES if dtype.packed]
INTEGERS = [dtype.name for dtype in DTYPES if dtype.kind in ("int", "uint")]

# ---- integers and bools


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_to_the_ends_of_their_range(name: str) -> None:
    dtype = BY_NAME[name]
    texts = [str(value) for value in sorted({dtype.minimum, 0, 1, dtype.maximum})]
    assert decode(encode(texts, dtype), dtype, len(texts)) == texts
    assert encode(["+1", "-0", "001", "0" * 100_000 + "1"], dtype) == encode(["1", "0", "1", "1"], dtype)
    for text in (str(dtype.minimum - 1), str(dtype.maximum + 1), "-" + "9" * 5000, "9" * 100_000):
        with pytest.raises(LiteralError) as raised:
            encode(["0", "1", text], dtype)
        assert (raised.value.code, raised.value.index) == ("MIL020", 2)
        assert len(raised.value.message) < 200


WRONG = ("", "0x10", "1_0", "1.0", "1e3", "abc", "inf", "$0x01", "-", "+-1", "1-1", " 1", "1 ", "\u0661", "1,1", "True")


@pytest.mark.parametrize("name", [*INTEGERS, "bool", "string"])
@pytest.mark.parametrize("text", WRONG)
def test_literals_other_than_integers_and_bools(name: str, text: str) -> None:
    right = ["0", "0"] if name in INTEGERS else ["true"] * (name == "bool")
    with pytest.raises(LiteralError) as raised:
        encode([*right, text], BY_NAME[name])
    assert (raised.value.code, raised.value.index, raised.value.element) == ("MIL021", len(right), text)


def test_the_encoding_of_integers() -> None:
    assert encode(["-1", "2"], BY_NAME["int32"]) == [-1, 2]
    assert encode(["65535"], BY_NAME["uint16"]) == [65535]
    assert encode(["18446744073709551615", "9223372036854775808", "7"], BY_NAME["uint64"]) == [-1, -(2**63), 7]
    assert decode([-1, -(2**63), 7], BY_NAME["uint64"], 3) == ["18446744073709551615", "9223372036854775808", "7"]
    assert encode(["4294967295", "1"], BY_NAME["uint32"]) == bytes.fromhex("ffffffff01000000")
    assert encode(["-128", "-1"], BY_NAME["int8"]) == bytes.fromhex("80ff")
    assert encode(["-1"], BY_NAME["int4"]) == b"\x0f"
    assert encode(["-7"], BY_NAME["int64"]) == [-7]
    assert encode(["true", "false"], BY_NAME["bool"]) == [1, 0]
    assert encode(["true"], BY_NAME["bool"]) == [1]
    assert decode([True, False], BY_NAME["bool"], 2) == ["true", "false"]
    for dtype in DTYPES:
        assert encode([], dtype) == (b"" if dtype.field in ("bytes", "floats", "doubles") else [])


UNDECODABLE: list[tuple[bytes | list[int], str, int]] = [
    (b"\0", "fp16", 1),
    (b"\0\0", "int4", 2),
    (b"", "uint6", 1),
    (b"\0" * 9, "fp64", 1),
    ([1], "int32", 2),
]


@pytest.mark.parametrize(("data", "name", "count"), UNDECODABLE)
def test_data_of_another_length(data: bytes | list[int], name: str, count: int) -> None:
    with pytest.raises(ValueError, match="are not"):
        decode(data, BY_NAME[name], count)


@pytest.mark.parametrize(("name", "value"), [("int16", 32768), ("uint16", -1), ("int32", 1 << 40)])
def test_ints_that_their_type_lacks(name: str, value: int) -> None:
    with pytest.raises(LiteralError, match="out of range") as raised:
        decode([0, 1, value], BY_NAME[name], 3)
    assert (raised.value.code, raised.value.index) == ("MIL020", 2)


# ---- packing


@pytest.mark.parametrize(
    ("name", "values", "packed", "padding"),
    [
        ("int4", [-8, -1, 0, 7, 3], "f87003", 4),
        ("uint3", [1, 2, 3, 4, 5], "d158", 1),
        ("uint6", [1, 2, 3, 63, 5], "8130fc05", 2),
        ("uint2", [1, 2, 3, 0, 1], "3901", 6),
        ("uint1", [1, 0, 1, 1, 0, 0, 0, 0, 1], "0d01", 7),
        ("int8", [-1, 127], "ff7f", 0),
    ],
)
def test_packing_matches_weight_files(name: str, values: list[int], packed: str, padding: int) -> None:
    """The vectors of coremltools 9.0."""
    dtype, data = BY_NAME[name], bytes.fromhex(packed)
    texts = [str(value) for value in values]
    assert encode(texts, dtype) == data
    assert decode(data, dtype, len(values)) == texts
    assert padding_is_clear(data, dtype, len(values))
    for bit in range(8 - padding, 8):
        dirty = data[:-1] + bytes([data[-1] | 1 << bit])
        assert not padding_is_clear(dirty, dtype, len(values))
        assert decode(dirty, dtype, len(values)) == texts


@given(st.sampled_from(PACKED), st.integers(0, 40) | st.sampled_from([8191, 8192, 8193, 16400]), st.integers(0, 99))
def test_packing_agrees_with_arrays(name: str, count: int, seed: int) -> None:
    dtype, source = BY_NAME[name], np.random.default_rng(seed)
    array = source.integers(dtype.minimum, dtype.maximum, count, "i1" if dtype.kind == "int" else "u1", endpoint=True)
    values = [int(value) for value in array]
    data = pack_array(array, dtype.bits)
    assert decode(data, dtype, count) == [str(value) for value in values]
    assert encode([str(value) for value in values], dtype) == data
    assert padding_is_clear(data, dtype, count)


def test_packing_refuses() -> None:
    with pytest.raises(LiteralError, match="out of range for uint3"):
        encode(["7", "8"], BY_NAME["uint3"])
    for data in (b"\0", b"\0\0\0"):
        with pytest.raises(ValueError, match="are not 3 elements of uint3"):
            decode(data, BY_NAME["uint3"], 3)


# ---- whole lists


def random_data(dtype: DType, count: int) -> bytes | list[int]:
    source = random.Random(dtype.name)
    if dtype.field in ("floats", "doubles"):
        return encode([source.gauss(0, 1).hex() for _ in range(count)], dtype)
    if dtype.field == "bytes":
        return source.randbytes(count * dtype.bits // 8)
    values = [source.randint(0, 1) if dtype.kind == "bool" else dtype.maximum - 5000 + i % 5000 for i in range(count)]
    return [value - (value >> 63 << 64) for value in values]


@pytest.mark.parametrize("name", [dtype.name for dtype in DTYPES if dtype.kind != "string"])
def test_long_lists(name: str) -> None:
    """Several chunks of elements, from their data to the literal and back; and the last one wrong, or missing."""
    dtype, count = BY_NAME[name], 40_000
    data = random_data(dtype, count)
    literal = nest(decode(data, dtype, count), (400, 100))
    assert encode_list(literal, (400, 100), dtype) == data
    assert encode_list(literal, (400, None), dtype) == data
    start, end = locate(literal, count - 1)
    assert literal[end:] == "]]"
    wrong = literal[:start] + "oops]]"
    with pytest.raises(LiteralError) as raised:
        encode_list(wrong, (400, 100), dtype)
    error = raised.value
    assert (error.code, error.index, error.start, error.end) == ("MIL021", count - 1, start, len(wrong) - 2)
    with pytest.raises(LiteralError, match="expected 100 elements in dimension 1") as raised:
        encode_list(literal[: start - 2] + "]]", (400, 100), dtype)
    assert raised.value.start == start - 2


ROWS = {name: nest(["1", "0", *["1"] * 30] * 6, (2, 3, 32)) for name in ("int8", "uint1", "fp16", "fp32", "int64")}


@given(st.sampled_from(sorted(ROWS)), st.data())
def test_lists_by_rows_are_lists_by_elements(name: str, data: st.DataObject) -> None:
    """A nested list with a few characters changed says the same, or is as wrong, whichever way it is read."""
    text, dtype, shape = ROWS[name], BY_NAME[name], (2, 3, 32)
    for _ in range(data.draw(st.integers(0, 2))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 6, len(text))))
        text = (
            text[:start]
            + data.draw(st.sampled_from(["", " ", ",", "[", "]", "], [", "1", "1, 1", "x", "\n"]))
            + text[end:]
        )

    def said(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except LiteralError as error:
            return error.code

    assert said(lambda: encode_list(text, shape, dtype)) == said(lambda: encode(elements(text, shape), dtype))


def test_short_lists() -> None:
    assert encode_list("[[], []]", (2, 0), BY_NAME["int32"]) == []
    assert encode_list("[]", (0,), BY_NAME["fp16"]) == b""
    assert encode_list("[1, 2, 3]", (3,), BY_NAME["int4"]) == b"\x21\x03"
    with pytest.raises(LiteralError) as raised:
        encode_list("[1,  300]", (2,), BY_NAME["int8"])
    assert (raised.value.code, raised.value.start, raised.value.end) == ("MIL020", 5, 8)
    assert raised.value.message == "`300` is out of range for int8: -128 to 127"


def test_the_memory_of_16_bit_floats_has_a_bound() -> None:
    texts = [f"0.{number:05}" for number in range(70_000)]
    encode(texts, BY_NAME["bf16"])
    encode(["0." + "1" * 1000], BY_NAME["bf16"])
    kept = _codes("bf16")
    assert 0 < len(kept) <= 65536
    assert max(map(len, kept)) < 100


def test_long_lists_take_little_memory() -> None:
    count, source = 100_000, np.random.default_rng(1)
    literal = nest([value.hex() for value in source.random(count, np.float32).tolist()], (count,))
    tracemalloc.start()
    try:
        encode_list(literal, (count,), BY_NAME["fp32"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * len(literal)


def test_small_literals_import_neither_numpy_nor_lark() -> None:
    code = """
import sys
from miltext.schema.dtypes import DTYPES
from miltext.syntax.encoding import _codes, decode, encode
for dtype in DTYPES:
    if dtype.kind not in ("bool", "string"):
        for count in (1, 1000):
            decode(encode(["1"] * count, dtype), dtype, count)
assert not {"numpy", "lark", "decimal"} & {*sys.modules}, "slow imports"
"""
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
