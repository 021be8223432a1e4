"""`.safetensors`, which the package safetensors checks: https://github.com/huggingface/safetensors#format.

A file is the length of its header in 8 bytes, little-endian; the header in JSON, in which each array has its `dtype`,
its `shape` and the `data_offsets` of its first byte and of the byte after its last; and then the data. The package
checks all of these. The data is read here, for the package maps it or reads it whole, and makes numpy arrays, which
support neither bf16 nor fp8.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any, BinaryIO

from miltext.arrays.headers import Header, Headers, check_shape, check_size
from miltext.arrays.problems import ArrayProblem
from miltext.arrays.regular_files import stamp
from miltext.diagnostics import codes
from miltext.files.json_keys import repeated_key
from miltext.schema.dtypes import BY_NAME, ELSEWHERE, DType

if TYPE_CHECKING:
    from typing import TypeAlias

Entry: TypeAlias = "dict[str, Any]"

_LENGTH = struct.Struct("<Q")
_METADATA = "__metadata__"
"""The key for texts about the file in the header."""

_FLOATS = {"f8_e4m3": "fp8e4m3fn", "f8_e5m2": "fp8e5m2"}
"""The format's own names for types."""


def safetensors_headers(file: BinaryIO) -> Headers:
    """Return the headers of the arrays in a file, without reading data. Raise ArrayProblem: MIL414, MIL419."""
    _check(file.name)
    length = _LENGTH.unpack(file.read(_LENGTH.size))[0]
    size = stamp(file).size - _LENGTH.size - length
    if size < 0:
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, "it ends within its header")
    entries: Entry = json.loads(file.read(length), object_pairs_hook=_once)
    start = _LENGTH.size + length
    return {key: _header(entry, start, size) for key, entry in entries.items() if key != _METADATA}


def _check(name: str) -> None:
    """Check the whole header of a file with the package, without mapping the file."""
    try:
        from safetensors import safe_open
    except ImportError:
        raise ArrayProblem(codes.NO_SAFETENSORS, "the package safetensors is not installed") from None
    try:
        safe_open(name, framework="numpy", backend="pread")
    except TypeError:
        raise ArrayProblem(codes.NO_SAFETENSORS, "the package safetensors is older than version 0.8") from None


def _once(pairs: list[tuple[str, Any]]) -> Entry:
    """Return a dictionary of pairs; refuse a repeated key, for JSON would silently keep only the last value."""
    key = repeated_key(pairs)
    if key is not None:
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, f"its header has {key!r} more than once")
    return dict(pairs)


def _header(entry: Entry, start: int, size: int) -> Header | ArrayProblem:
    """Return the header of an array whose offsets count from `start`, where `size` bytes of data begin."""
    try:
        dtype, shape, (first, end) = _dtype(entry["dtype"]), tuple(entry["shape"]), entry["data_offsets"]
        check_shape(shape, dtype.bits // 8)
        if not 0 <= first <= end <= size:
            raise ArrayProblem(
                codes.UNREADABLE_ARRAY_FILE, f"its header places the data from {first} to {end}, of {size} bytes"
            )
        return check_size(Header(dtype, dtype.numpy, shape, start + first), end - first)
    except ArrayProblem as problem:
        return problem


def _dtype(name: str) -> DType:
    """Return the data type with a name in the format. Raise ArrayProblem (MIL415)."""
    low = name.lower()
    dtype = BY_NAME.get(_FLOATS.get(low, ELSEWHERE.get(low, low)))
    if dtype is None:
        raise ArrayProblem(codes.UNKNOWN_ARRAY_TYPE, f"MIL has no data type for its elements, which are {name}")
    return dtype
