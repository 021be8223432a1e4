"""The depth of messages: protobuf's readers refuse messages deeper than their limit, so no text may contain any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.schema.proto import Program
from miltext.schema.wire import LENGTH_DELIMITED, spans

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Fields
    from miltext.schema.proto import Message

LIMIT = 100
"""The greatest depth of nested messages, with the Program as the first. protobuf's readers accept 100 messages below
the outermost one, and a Program must load from inside a Model.
"""

TOO_DEEP = f"this is nested too deeply: protobuf's readers take no more than {LIMIT} messages inside one another"

Path = tuple["str | int", ...]
"""The place of a message in a Program: field names, each followed by the key or the index of a repeated one."""


def depth(path: Path) -> int:
    """Return the number of messages from the Program down to the message at a path; a map's entry counts, too."""
    return 1 + sum(isinstance(step, str) for step in path)


PARTS = ("blocks", "block_specializations", "operations")
"""The fields that hold the parts of a function: blocks and operations."""


class Key(str):
    """A step of a path: the key of a map."""

    __slots__ = ()


def block_path(function: str, opset: str) -> Path:
    """Return the path of a function's block for an opset."""
    return "functions", Key(function), "block_specializations", Key(opset)


def too_deep(wire: bytes, outermost: type[Message] = Program) -> Path | None:
    """Return the path of the first message deeper than LIMIT, in the bytes of a message, usually a Program.

    Use it for bytes that protobuf refuses for their depth; the bytes of a loadable message take a while.
    """
    todo: list[tuple[Fields, bytes, Path, int]] = [(outermost.DESCRIPTOR, wire, (), 1)]
    while todo:
        descriptor, message, path, level = todo.pop()
        if level > LIMIT:
            return path
        inside = [(child, inner, path + step, level + 1) for child, inner, step in _submessages(descriptor, message)]
        todo += reversed(inside)
    return None


def _submessages(descriptor: Fields, message: bytes) -> Iterator[tuple[Fields, bytes, Path]]:
    """Yield the messages directly inside one: descriptor, bytes and the step to it."""
    counts: Counter[int] = Counter()
    is_entry = descriptor.GetOptions().map_entry
    for number, start, content, end in spans(message):
        field = descriptor.fields_by_number.get(number)
        if field is not None and field.message_type is not None and message[start] & 7 == LENGTH_DELIMITED:
            payload = message[content:end]
            yield field.message_type, payload, () if is_entry else _step(field, counts[number], payload)
            counts[number] += 1


def _step(field: Fields, index: int, payload: bytes) -> Path:
    if field.message_type.GetOptions().map_entry:
        key = next((payload[content:end] for number, _, content, end in spans(payload) if number == 1), b"")
        return field.name, Key(key.decode())
    return (field.name, index) if is_repeated(field) else (field.name,)


def is_repeated(field: Fields) -> bool:
    """Return whether a field is repeated, which protobuf 6 renames, before the label is removed."""
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
