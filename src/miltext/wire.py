"""The few rules of protobuf's wire format that lowering needs.

Phrases become wire bytes rather than message objects: joining bytes costs a fraction of building and copying
messages, a float's bits pass untouched (setting a field of one quiets a signalling NaN), and any copy of the schema
can read the result. The format is that of https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

from collections.abc import Sequence

_SHORT = [bytes([number]) for number in range(128)]


def varint(number: int) -> bytes:
    """A number as a varint; negative ones as their 64-bit two's complement, as protobuf has it."""
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
    """A length-delimited field: a message, a string, bytes or packed numbers."""
    size = len(payload)
    return tag + (_SHORT[size] if size < 128 else varint(size)) + payload


def varints(numbers: Sequence[int]) -> bytes:
    """Packed varints."""
    if not numbers or (min(numbers) >= 0 and max(numbers) < 128):
        return bytes(numbers)
    return b"".join(map(varint, numbers))


def tag(field: int) -> bytes:
    """The tag of a length-delimited field."""
    return varint(field << 3 | 2)


def number_tag(field: int) -> bytes:
    """The tag of a varint field."""
    return varint(field << 3)
