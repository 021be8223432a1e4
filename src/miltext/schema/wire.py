"""The few rules of protobuf's wire format that lowering and printing need.

Phrases become wire bytes rather than message objects: joining bytes costs a fraction of building and copying messages,
a float's bits are unchanged (setting a field quiets a signalling NaN), and any copy of the schema can read the result.
Source of the format: https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.schema.proto import Message

LENGTH_DELIMITED = 2
"""The wire type of messages, strings and bytes: the last three bits of a field's tag."""

_FIXED = {1: 8, 5: 4}
"""The sizes of numbers other than varints, by wire type."""

_GROUP, _END_OF_GROUP = 3, 4
"""The wire types around a group, which no schema has had since proto3: only unknown fields have them."""

HEAD = 2
"""The size of a tag and a length of one byte each: the bytes before the content of most fields."""

_SHORT = [bytes([number]) for number in range(128)]


def wire_of(message: Message) -> bytes:
    """Return the bytes of a message: the same for equal messages, different for different NaNs, and for -0.0
    and 0.0.
    """
    return message.SerializeToString(deterministic=True)


def varint(number: int) -> bytes:
    """Return a number as a varint; negative ones in 64-bit two's complement, as in protobuf."""
    if 0 <= number < 128:
        return _SHORT[number]
    number &= 0xFFFFFFFFFFFFFFFF
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def sized(tag: bytes, payload: bytes) -> bytes:
    """Return a length-delimited field: a message, a string, bytes or packed numbers."""
    size = len(payload)
    return tag + (_SHORT[size] if size < 128 else varint(size)) + payload


def heads(*fields: bytes, longest: int) -> list[bytes]:
    """Return the bytes before content of each length up to `longest` in nested fields, outermost first.

    No length may exceed 127: each is one byte.
    """
    depths = range(len(fields) - 1, -1, -1)
    return [
        b"".join(field + _SHORT[size + 2 * depth] for field, depth in zip(fields, depths, strict=True))
        for size in range(longest + 1)
    ]


def varints(numbers: Sequence[int]) -> bytes:
    """Return packed varints."""
    if not numbers or (min(numbers) >= 0 and max(numbers) < 128):
        return bytes(numbers)
    return b"".join(map(varint, numbers))


def tag(field: int) -> bytes:
    """Return the tag of a length-delimited field."""
    return varint(field << 3 | LENGTH_DELIMITED)


def number_tag(field: int) -> bytes:
    """Return the tag of a varint field."""
    return varint(field << 3)


def spans(message: bytes, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int, int, int]]:
    """Yield the fields of a message, or of a message between two places of another: their numbers, and the offsets of
    each field, of its contents, and of its end.

    A group is one field with all its contents; a message ends at the end of the message around it. Raise ValueError at
    an unknown wire type.
    """
    end, stop = start, len(message) if stop is None else stop
    while end < stop:
        start = end
        key, content = message[start], start + 1
        if key > 127:
            key, content = read_varint(message, start)
        kind = key & 7
        if kind == LENGTH_DELIMITED:
            size, content = message[content], content + 1
            if size > 127 and message[content] <= 127:  # as most operations are
                size, content = size + (message[content] << 7) - 128, content + 1
            elif size > 127:
                size, content = read_varint(message, content - 1)
            end = content + size
        elif kind == 0:
            _, end = read_varint(message, content)
        elif kind in _FIXED:
            end = content + _FIXED[kind]
        elif kind == _GROUP:
            held = [inner for _, _, _, inner in spans(message, content, stop)]
            _, end = read_varint(message, held[-1] if held else content)
        elif kind == _END_OF_GROUP:
            return
        else:
            raise ValueError(f"a field of the wire type {kind}")
        yield key >> 3, start, content, end


def read_varint(message: bytes, at: int) -> tuple[int, int]:
    """Return the varint at a place, and its end."""
    number = shift = 0
    while True:
        digit = message[at]
        at += 1
        number |= (digit & 127) << shift
        if digit < 128:
            return number, at
        shift += 7
