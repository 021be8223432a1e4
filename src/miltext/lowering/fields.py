"""The fields of the schema's messages as the wire has them: the tags of all that hold messages or text, and maps."""

from __future__ import annotations

from collections.abc import Iterable

from miltext.literals import shown
from miltext.lowering.refusal import Refused
from miltext.wire import sized, tag, varint

KEY, ENTRY_VALUE = tag(1), tag(2)
"""The members of a map's entry."""

PROGRAM_FUNCTIONS, PROGRAM_DOC, PROGRAM_ATTRIBUTES = tag(2), tag(3), tag(4)
FUNCTION_INPUTS, FUNCTION_OPSET, FUNCTION_BLOCKS, FUNCTION_ATTRIBUTES = tag(1), tag(2), tag(3), tag(4)
BLOCK_INPUTS, BLOCK_OUTPUTS, BLOCK_OPERATIONS, BLOCK_ATTRIBUTES = tag(1), tag(2), tag(3), tag(4)
OPERATION_TYPE, OPERATION_INPUTS, OPERATION_OUTPUTS, OPERATION_BLOCKS, OPERATION_ATTRIBUTES = map(tag, range(1, 6))
BINDINGS, BINDING_NAME, BINDING_VALUE = tag(1), tag(1), tag(2)

NAME = tag(1)
"""The name of a NamedValueType."""

DOC = tag(1)
"""The docString of a Value."""

TENSOR_TYPE_ATTRIBUTES = tag(4)

IMMEDIATE, BLOB = tag(3), tag(5)
TENSOR, TUPLE, LIST, DICTIONARY = tag(1), tag(2), tag(3), tag(4)
"""The members of ImmediateValue."""

TENSOR_VALUES = {
    "floats": tag(1),
    "ints": tag(2),
    "bools": tag(3),
    "strings": tag(4),
    "longInts": tag(5),
    "doubles": tag(6),
    "bytes": tag(7),
}
"""The members of TensorValue."""

VALUES = tag(1)
"""The values of each member of TensorValue and ImmediateValue."""

Entries = dict[bytes, bytes]
"""A map's entries, each the wire form of its value under that of its key."""


def entry(field: bytes, key: bytes, value: bytes) -> bytes:
    """An entry of the map that is this field of a message."""
    return b"".join(_parts(field, key, value))


def entries(field: bytes, members: Entries | None) -> list[bytes]:
    """A map as the field of a message, in parts to be joined with the message's others: a value may be large."""
    return [part for key, value in (members or {}).items() for part in _parts(field, key, value)]


def _parts(field: bytes, key: bytes, value: bytes) -> tuple[bytes, bytes, bytes]:
    head = sized(KEY, key) + ENTRY_VALUE + varint(len(value))
    return field + varint(len(head) + len(value)), head, value


def unique(pairs: Iterable[tuple[str, bytes, bytes]], noun: str) -> Entries:
    """The entries of (token, key, value) with no key twice."""
    members: Entries = {}
    for token, key, value in pairs:
        if key in members:
            raise Refused("MIL103", f"there is already {noun} named `{shown(token)}` here", token)
        members[key] = value
    return members


def repeated(field: bytes, messages: Iterable[bytes]) -> bytes:
    """A repeated field."""
    return b"".join([sized(field, message) for message in messages])
