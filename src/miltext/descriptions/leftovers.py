"""What words do not say of a message: the wire bytes that are joined to what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from miltext.schema.wire import sized, spans, tag, wire_of

if TYPE_CHECKING:
    from miltext.schema.proto import Message


def leftover(whole: Message, said: Message) -> bytes | None:
    """Return the bytes that make `whole` of what is `said`, when they are merged into it; None if none do.

    They are empty where all is said. Fields that differ are in them, of messages what differs there.
    """
    wanted = wire_of(whole)
    if wire_of(said) == wanted:
        return b""
    try:
        rest = _rest(wanted, wire_of(said), whole.DESCRIPTOR)
    except ValueError:  # a group, which no words say either
        return None
    joined = type(said).FromString(wire_of(said) + rest)
    return rest if wire_of(joined) == wanted else None


def _rest(whole: bytes, said: bytes, descriptor: Any) -> bytes:
    """Return the fields of a message that are said otherwise or not at all, one after the other."""
    wanted, given = _fields(whole), _fields(said)
    rest = b""
    for number, pieces in wanted.items():
        there = given.get(number, [])
        if pieces == there:
            continue
        field = descriptor.fields_by_number.get(number)
        is_message = field is not None and field.message_type is not None
        if is_message and len(pieces) == len(there) == 1:
            inner = _rest(pieces[0][1], there[0][1], field.message_type)
            rest += sized(tag(number), inner) if inner else b""
        else:
            rest += b"".join(piece for piece, _ in pieces)
    return rest


def _fields(message: bytes) -> dict[int, list[tuple[bytes, bytes]]]:
    """Return the fields of a message by number: each as it stands there, and what it holds."""
    found: dict[int, list[tuple[bytes, bytes]]] = {}
    for number, start, content, end in spans(message):
        found.setdefault(number, []).append((message[start:end], message[content:end]))
    return found
