"""The fields of the schema's messages on the wire: the tags of the fields with messages, text or bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from miltext.schema.dtypes import BY_NAME
from miltext.schema.wire import heads, number_tag, read_varint, sized, tag, varint

if TYPE_CHECKING:
    from miltext.schema.proto import TensorValue

Data = bytes | Sequence[Any]
"""The contents of a TensorValue's field: bytes, numbers or strings."""

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

VALUE_TYPE = tag(2)
"""The field `type`, which has the same number in Value and in NamedValueType."""

TENSOR_TYPE, TENSOR_TYPE_ATTRIBUTES = tag(1), tag(4)
"""`ValueType.tensorType`, and its attributes."""

IMMEDIATE, BLOB = tag(3), tag(5)
"""The members of Value."""

FILE_NAME, OFFSET = tag(1), number_tag(2)
"""The members of BlobFileValue."""

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

BINDING_HEADS = dict(enumerate(heads(ENTRY_VALUE, BINDINGS, BINDING_NAME, longest=120)))
"""Bytes before the name in the entry of an input bound to it alone, by the length of the name."""

_STRING_TYPE = sized(VALUE_TYPE, sized(TENSOR_TYPE, number_tag(1) + varint(BY_NAME["string"].number)))

STRING_CONTENT_HEADS = heads(IMMEDIATE, TENSOR, TENSOR_VALUES["strings"], VALUES, longest=112)
"""Bytes before a string that makes up the content of a Value, by the length of the string."""

STRING_HEADS = {size: _STRING_TYPE + head for size, head in enumerate(STRING_CONTENT_HEADS)}
"""Bytes before the string in a Value `string("...")`, by the length of the string."""

STRING_ENTRY_HEADS = {size: ENTRY_VALUE + varint(len(head) + size) + head for size, head in STRING_HEADS.items()}
"""Bytes before the string in an attribute's entry with such a Value, by the length of the string."""

BINDING_HEAD, STRING_HEAD, STRING_ENTRY_HEAD = (
    len(table[0]) for table in (BINDING_HEADS, STRING_HEADS, STRING_ENTRY_HEADS)
)
"""The sizes of these heads: the same for all lengths."""


def field_data(tensor: TensorValue, field: str) -> Data:
    """Return the contents of a TensorValue's field: bytes for `bytes`, `floats` and `doubles`, else numbers or strings.

    Floats are read from the wire, for signalling NaNs would not survive as Python numbers.
    """
    member = getattr(tensor, field)
    if field not in ("floats", "doubles"):
        return member.values  # type: ignore[no-any-return]
    wire: bytes = member.SerializeToString()
    if not wire:
        return wire
    _, start = read_varint(wire, 1)
    return wire[start:]
