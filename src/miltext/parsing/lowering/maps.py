"""Maps and repeated fields in wire form, made of their lowered parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from miltext.diagnostics import codes
from miltext.parsing.lowering.errors import LoweringError
from miltext.schema.fields import ENTRY_VALUE, KEY
from miltext.schema.wire import sized, varint
from miltext.syntax.literals import shown

Entries = dict[bytes, bytes]
"""A map's entries: the wire form of each value, by the wire form of its key."""


def entries(field: bytes, members: Entries | None) -> list[bytes]:
    """Return a map as a field of a message, in parts: they are joined only with the message's other parts, as a value
    may be large.
    """
    parts: list[bytes] = []
    for key, value in (members or {}).items():
        head = map_key(key) + ENTRY_VALUE + varint(len(value))
        parts += field + varint(len(head) + len(value)), head, value
    return parts


@lru_cache(maxsize=1 << 10)
def map_key(key: bytes) -> bytes:
    """Return the key of a map's entry, as its field."""
    return sized(KEY, key)


def unique(pairs: Sequence[tuple[str, bytes, bytes]], noun: str) -> Entries:
    """Return the entries of (token, key, value); refuse a repeated key."""
    members: Entries = {}
    for token, key, value in pairs:
        if key in members:
            message = f"there is already {noun} named `{shown(token)}` here"
            first = next(other for other, known, _ in pairs if known == key)
            raise LoweringError(codes.DUPLICATE_DEFINITION, message, token, first=first)
        members[key] = value
    return members


def repeated(field: bytes, messages: Iterable[bytes]) -> bytes:
    """Return a repeated field."""
    return b"".join([sized(field, message) for message in messages])
