"""The numbers that protobuf's pure-Python backend does not keep: NaNs with a sign or a payload."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from google.protobuf.descriptor import FieldDescriptor

from miltext.schema.proto import Message, Program
from miltext.schema.wire import spans


class Float(NamedTuple):
    """Floats on the wire: their size, the letter of an integer of that size, the bits of infinity, and the NaN kept."""

    size: int
    letter: str
    infinity: int
    kept: int


FLOATS = {
    FieldDescriptor.CPPTYPE_FLOAT: Float(4, "I", 0x7F800000, 0x7FC00000),
    FieldDescriptor.CPPTYPE_DOUBLE: Float(8, "Q", 0x7FF0000000000000, 0x7FF8000000000000),
}
"""By protobuf's number of the type. Any other NaN is decoded to the one kept (google/protobuf/internal/decoder.py)."""


def lost_nans(wire: bytes, outermost: type[Message] = Program) -> int:
    """Count the NaNs in a message's bytes that decoding them in pure Python changes."""
    lost = 0
    todo: list[tuple[Any, bytes]] = [(outermost.DESCRIPTOR, wire)]
    while todo:
        descriptor, message = todo.pop()
        for number, _, content, end in spans(message):
            field = descriptor.fields_by_number.get(number)
            if field is None:
                continue
            if field.message_type is not None:
                todo.append((field.message_type, message[content:end]))
            elif field.cpp_type in FLOATS:
                lost += _lost(message[content:end], FLOATS[field.cpp_type])
    return lost


def _lost(numbers: bytes, kind: Float) -> int:
    magnitude = (1 << 8 * kind.size - 1) - 1
    codes = struct.unpack(f"<{len(numbers) // kind.size}{kind.letter}", numbers)
    return sum(code & magnitude > kind.infinity and code != kind.kept for code in codes)
