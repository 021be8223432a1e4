"""Lowering of the grammar's fast path: a plain operation that was read as one token.

A reserved or repeated name raises an error without a place; the place is found later, in the token's phrases.
"""

from __future__ import annotations

from functools import lru_cache

from miltext.diagnostics import codes
from miltext.parsing.lowering.blobs import blob_field, blob_message
from miltext.parsing.lowering.errors import LoweringError
from miltext.parsing.lowering.maps import map_key
from miltext.parsing.lowering.names import name_bytes, operation_type
from miltext.parsing.lowering.types import LoweredType, plain_tensor, scalar_type
from miltext.parsing.lowering.values import STRING, lower_value, string_value
from miltext.schema.dtypes import BY_NAME
from miltext.schema.fields import (
    BINDING_HEADS,
    BINDING_NAME,
    BINDINGS,
    BLOB,
    ENTRY_VALUE,
    NAME,
    OPERATION_ATTRIBUTES,
    OPERATION_INPUTS,
    OPERATION_OUTPUTS,
)
from miltext.schema.wire import sized
from miltext.syntax.memo import memo
from miltext.syntax.names import RESERVED
from miltext.syntax.plain_tokens import argument_parts, attribute_parts, blob_parts, operation_head

_SHORT = 80
"""The greatest length of cached literals."""


def plain_operation(token: str) -> bytes:
    """Return the content of the Operation for a plain operation's token."""
    head = operation_head().match(token)
    assert head is not None  # the terminal's pattern is stricter
    kind, result, operation, inputs = head.groups()
    pairs = argument_parts().findall(inputs)
    members = attribute_parts().findall(token, head.end())
    if len(pairs) > 1 and len(dict(pairs)) < len(pairs):
        raise LoweringError(codes.DUPLICATE_DEFINITION, "a parameter occurs twice")
    if len(members) > 1 and len({key for key, _, _ in members}) < len(members):
        raise LoweringError(codes.DUPLICATE_DEFINITION, "an attribute occurs twice")
    output = sized(NAME, name_bytes(result)) + plain_type(kind).field
    fields = [operation_type(operation)]
    fields += [_argument(key, name) for key, name in pairs]
    fields.append(sized(OPERATION_OUTPUTS, output))
    fields += [_attribute(key, _value(kind, literal)) for key, kind, literal in members]
    return b"".join(fields)


def _argument(key: str, name: str) -> bytes:
    if len(name) in BINDING_HEADS and name not in RESERVED:
        binding = BINDING_HEADS[len(name)] + name.encode()
    else:
        binding = sized(ENTRY_VALUE, sized(BINDINGS, sized(BINDING_NAME, name_bytes(name))))
    return sized(OPERATION_INPUTS, _key(key) + binding)


def _attribute(key: str, value: bytes) -> bytes:
    return sized(OPERATION_ATTRIBUTES, _key(key) + sized(ENTRY_VALUE, value))


@memo(1 << 10)
def _key(token: str) -> bytes:
    return map_key(name_bytes(token))


@memo(1 << 14)
def plain_type(token: str) -> LoweredType:
    """Return a tensor type, or the name of a scalar's data type."""
    return plain_tensor(token) if token.startswith("tensor") else scalar_type(BY_NAME[token])


def _value(kind: str, literal: str) -> bytes:
    """Return the Value of a short literal."""
    if literal[0] == '"' and plain_type(kind) is STRING:
        return string_value(literal)
    return _lower_value(kind, literal) if len(literal) > _SHORT else _known_value(kind, literal)


def _lower_value(kind: str, literal: str) -> bytes:
    value_type = plain_type(kind)
    if literal[-1] == ")":  # a BLOBFILE: no other value ends like this
        return value_type.field + sized(BLOB, _blob(literal))
    return lower_value(value_type, literal)


_known_value = lru_cache(maxsize=1 << 14)(_lower_value)


def _blob(literal: str) -> bytes:
    path_type, path, offset_type, offset = blob_parts().fullmatch(literal).groups()  # type: ignore[union-attr]
    read_path = blob_field("path", plain_type(path_type), path)
    return blob_message(read_path, blob_field("offset", plain_type(offset_type), offset))  # type: ignore[arg-type]
