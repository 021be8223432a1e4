"""Element texts to the contents of a `TensorValue` field, and back, for every data type but string.

The contents of a field are given as bytes (`floats` and `doubles` as little-endian fp32 and fp64, `bytes` as in weight
files: little-endian, elements of fewer than 8 bits packed from the least significant bit on, the padding zero) or as a
list of ints (`ints`, `longInts`, `bools`; uint64 in `longInts` as two's complement).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain

from miltext.diagnostics import codes
from miltext.schema.dtypes import BY_NAME, DType, pack_codes, packed_size, unpack_codes
from miltext.syntax.floats import FORMATS, bits_of, decimal_text, float_texts, hex_text, pack_floats
from miltext.syntax.literals import LiteralError, Shape, chunks, flatten, locate, rows, shown
from miltext.syntax.literals import elements as elements_of
from miltext.syntax.memo import Memo

Data = bytes | list[int]

_CHUNK = 1 << 13
"""The number of elements (or an eighth of the characters) processed at once, which keeps memory small."""

_LEAST_ROW = 32
"""The length below which rows are faster to read together."""

_LETTERS = {8: "B", 16: "H", 32: "I"}
_BOOLS = {"true": 1, "false": 0}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_INTEGERS = re.compile(r"[-+0-9,]*")


def encode(elements: Sequence[str], dtype: DType) -> Data:
    """Return the contents of the field of a type for these element texts.

    Raise LiteralError, with its `index`, at the first text without an element of the type, or with one out of its
    range.
    """
    try:
        return _packed(_unpacked(elements, dtype), dtype)
    except LiteralError as error:
        error.index = elements.index(error.element or "")
        raise


def encode_list(text: str, shape: Shape, dtype: DType) -> Data:
    """Return `encode(elements(text, shape), dtype)`, without all elements of a long list in memory at once.

    Errors are located in `text`.
    """
    parts = _rows(text, shape, dtype)
    if parts is None:
        parts = _in_chunks(text, shape, dtype)
    return _packed(_joined(parts), dtype)


def _rows(text: str, shape: Shape, dtype: DType) -> list[Data] | None:
    """Return the elements of a list in the usual layout, row by row; None for any other layout or a wrong element."""
    length = shape[-1] if shape else None
    if length is None or not _LEAST_ROW <= length <= _CHUNK:
        return None
    parts = []
    for row in rows(text, shape) or ():
        elements = row.split(", ")
        if len(elements) != length:
            return None
        try:
            parts.append(_unpacked(elements, dtype))
        except LiteralError:
            return None
    return parts or None


def _in_chunks(text: str, shape: Shape, dtype: DType) -> list[Data]:
    flat = flatten(text, shape)
    parts: list[Data] = []
    done = 0
    parted = [elements_of(text, shape)] if flat is None else (part.split(",") for part in chunks(flat, 8 * _CHUNK))
    for chunk in parted:
        try:
            parts.append(_unpacked(chunk, dtype))
        except LiteralError as error:
            error.index = done + chunk.index(error.element or "")
            error.start, error.end = locate(text, error.index)
            raise
        done += len(chunk)
    return parts


def _joined(parts: Sequence[Data]) -> Data:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], bytes):
        return b"".join(part for part in parts if isinstance(part, bytes))
    return list(chain.from_iterable(parts))


def _unpacked(elements: Sequence[str], dtype: DType) -> Data:
    """Return the elements encoded, elements of fewer than 8 bits in a byte each."""
    if dtype.field in ("floats", "doubles"):
        return pack_floats(elements, FORMATS[dtype.name])
    if dtype.field == "bytes":
        values = _integers(elements, dtype) if dtype.bits > 16 else map(_codes(dtype.name).__getitem__, elements)
        return struct.pack(f"<{len(elements)}{_LETTERS[max(dtype.bits, 8)]}", *values)
    if dtype.kind == "bool":
        return list(map(_codes(dtype.name).__getitem__, elements))
    values = _integers(elements, dtype)
    if dtype.name == "uint64" and max(values, default=0) >> 63:
        return [value - (value >> 63 << 64) for value in values]
    return values


def _packed(data: Data, dtype: DType) -> Data:
    return pack_codes(data, dtype.bits) if dtype.packed and isinstance(data, bytes) else data


@cache
def _codes(name: str) -> Memo[str, int]:
    """Return the bits of an element text, for a type of at most 16 bits."""
    dtype = BY_NAME[name]
    if dtype.kind == "float":
        return Memo(lambda text: bits_of(text, FORMATS[name]))
    if dtype.kind == "bool":
        return Memo(_bool)
    return Memo(lambda text: _integer(text, dtype) & ((1 << dtype.bits) - 1))


@cache
def _texts(name: str, decimal: bool) -> Memo[int, str]:
    """Return the text of an element's bits, for a type of at most 16 bits."""
    dtype = BY_NAME[name]
    if dtype.kind == "float":
        form, text_of = FORMATS[name], decimal_text if decimal else hex_text
        return Memo(lambda code: text_of(code, form))
    return Memo(lambda code: str(code - (1 << dtype.bits) if code > dtype.maximum else code))


def _bool(text: str) -> int:
    if text not in _BOOLS:
        raise LiteralError(
            codes.WRONG_ELEMENT, f"expected `true` or `false`, found `{shown(text)}`", 0, len(text), text
        )
    return _BOOLS[text]


def _integers(elements: Sequence[str], dtype: DType) -> list[int]:
    joined = ",".join(elements)
    if dtype.bits and _INTEGERS.fullmatch(joined) and (len(joined) < 1000 or max(map(len, elements)) < 1000):
        try:
            values = list(map(int, elements))
        except ValueError:
            values = [dtype.maximum + 1]
        if not values or (dtype.minimum <= min(values) and max(values) <= dtype.maximum):
            return values
    return [_integer(text, dtype) for text in elements]


def _integer(text: str, dtype: DType) -> int:
    if not _INTEGER.fullmatch(text) or dtype.kind not in ("int", "uint"):
        raise LiteralError(codes.WRONG_ELEMENT, f"`{shown(text)}` is not a valid {_noun(dtype)}", 0, len(text), text)
    digits = text.lstrip("-+0") or "0"
    magnitude = int(digits) if len(digits) <= 20 else 1 << 64  # Python reads no integer of any length
    value = -magnitude if text[0] == "-" else magnitude
    if not dtype.minimum <= value <= dtype.maximum:
        raise LiteralError(codes.NUMBER_OUT_OF_RANGE, _out_of_range(text, dtype), 0, len(text), text)
    return value


def _noun(dtype: DType) -> str:
    return "string" if dtype.kind == "string" else f"{dtype.name} number: integers are plain decimals, such as `-1`"


def _out_of_range(text: str, dtype: DType) -> str:
    return f"`{shown(text)}` is out of range for {dtype.name}: {dtype.minimum} to {dtype.maximum}"


def decode(data: bytes | Sequence[int], dtype: DType, count: int, *, decimal: bool = False) -> list[str]:
    """Return the element texts of the contents of a type's field: `encode` reads them back to the same data.

    Floats are spelled by `hex_text` or, if `decimal`, by `decimal_text`. Bits after the last element are ignored
    (`padding_is_clear`). Raise ValueError if the data is not for `count` elements, and LiteralError, with its `index`,
    at an int out of the type's range.
    """
    if isinstance(data, bytes):
        _check_size(data, dtype, count)
        return list(chain.from_iterable(_decoded(data, dtype, count, decimal)))
    if len(data) != count:
        raise ValueError(f"{len(data)} values are not {count} elements of {dtype.name}")
    if dtype.kind == "bool":
        return ["true" if value else "false" for value in data]
    if dtype.name == "uint64":
        return [str(value % (1 << 64)) for value in data]
    texts = list(map(str, data))
    if data and not dtype.minimum <= min(data) <= max(data) <= dtype.maximum:
        encode(texts, dtype)  # it refuses the first text out of range
    return texts


def _decoded(data: bytes, dtype: DType, count: int, decimal: bool) -> Iterator[Iterable[str]]:
    """Yield the texts, chunk by chunk; a chunk of whole elements consists of whole bytes too."""
    size = _CHUNK * dtype.bits // 8
    for start in range(0, len(data), size):
        chunk = data[start : start + size]
        if dtype.field != "bytes":
            yield float_texts(chunk, FORMATS[dtype.name], decimal)
            continue
        codes = _chunk_codes(chunk, dtype.bits, count - start * 8 // dtype.bits)
        yield map(str if dtype.bits > 16 else _texts(dtype.name, decimal).__getitem__, codes)


def _check_size(data: bytes, dtype: DType, count: int) -> None:
    if len(data) != packed_size(count, dtype.bits):
        raise ValueError(f"{len(data)} bytes are not {count} elements of {dtype.name}")


def padding_is_clear(data: bytes, dtype: DType, count: int) -> bool:
    """Return whether the bits of the last byte beyond `count` elements are zero."""
    used = count * dtype.bits % 8
    return not used or data[-1] >> used == 0


def _chunk_codes(chunk: bytes, bits: int, most: int) -> Iterable[int]:
    """Return the bits of each element in a chunk, at most `most`."""
    if bits > 8:
        return struct.unpack(f"<{len(chunk) * 8 // bits}{_LETTERS[bits]}", chunk)
    return unpack_codes(chunk, bits, most)
