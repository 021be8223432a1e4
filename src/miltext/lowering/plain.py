"""Lowering of the grammar's fast path: phrases of plain names and values that were read as one token.

Their terminals have seen to the form, so simple expressions take them apart. A name that is reserved or stands twice
is refused without its place: the traced parse, which has no such tokens, finds it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from miltext.dtypes import BY_NAME
from miltext.fields import (
    BINDING_NAME,
    BINDINGS,
    BLOB,
    BLOCK_OPERATIONS,
    ENTRY_VALUE,
    IMMEDIATE,
    KEY,
    NAME,
    OPERATION_ATTRIBUTES,
    OPERATION_INPUTS,
    OPERATION_OUTPUTS,
    OPERATION_TYPE,
    TENSOR,
    TENSOR_VALUES,
    VALUES,
)
from miltext.lowering.maps import (
    Entries,
    entry,
)
from miltext.lowering.names import name_bytes, string_bytes, whole_number
from miltext.lowering.refusal import Refused
from miltext.lowering.types import LoweredType, plain_tensor, scalar_type
from miltext.lowering.values import blob_message, check_blob_field, no_blob, text_content
from miltext.memo import memo
from miltext.names import RESERVED
from miltext.plain_tokens import PLAIN_NAME, PLAIN_TYPE, argument_pairs, operation_parts
from miltext.wire import heads, sized

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_FIELD = rf'[^"()]*\(\s*(?:{_STRING}|[0-9]+)\s*\)'
_RAW = rf'{_STRING}|BLOBFILE\s*\({_FIELD}{_FIELD}\s*\)|[^"()]*'
_attributes = re.compile(rf"({PLAIN_NAME})\s*=\s*({PLAIN_TYPE})\s*\(\s*({_RAW})\s*\)", re.DOTALL).findall
_path = re.compile(
    rf"BLOBFILE\s*\(\s*path\s*=\s*({PLAIN_TYPE})\s*\(\s*({_STRING})\s*\)\s*,\s*offset\s*=\s*({PLAIN_TYPE})\s*\(\s*",
    re.DOTALL,
).fullmatch

# ---- the wire form of short texts
#
# Most messages here are a few ASCII words. While no length is above 127, that is one ASCII character too, and Python
# is much faster at formatting text than at joining bytes.

_LENGTH = [chr(number) for number in range(128)]
_SHORT = 80
"""Up to this many characters of key and content, no message around them is longer than 127 bytes."""

_INPUT, _ATTRIBUTE = OPERATION_INPUTS.decode(), OPERATION_ATTRIBUTES.decode()
_KEY, _VALUE = KEY.decode(), ENTRY_VALUE.decode()


_BINDING = [head.decode() for head in heads(BINDINGS, BINDING_NAME, longest=_SHORT)]


@lru_cache(maxsize=64)
def _string_heads(kind: str) -> list[str] | None:
    """What comes before a string of each short length in a Value of the type; None for a type of anything else."""
    value_type = plain_type(kind)
    if value_type != scalar_type(BY_NAME["string"]):
        return None
    content = heads(IMMEDIATE, TENSOR, TENSOR_VALUES["strings"], VALUES, longest=_SHORT)
    return [(value_type.field + head).decode() for head in content]


def _short_entry(field: str, key: str, value: str) -> bytes:
    keys, values = len(key), len(value)
    head = f"{field}{_LENGTH[keys + values + 4]}{_KEY}{_LENGTH[keys]}"
    return f"{head}{key}{_VALUE}{_LENGTH[values]}{value}".encode()


# ---- operations


def plain_operation(token: str) -> bytes:
    """`tensor<fp16, [1]> y = relu(x = x)[name = string("y")];` as the field `operations` of a Block."""
    kind, result, name, inputs, attributes = operation_parts(token).groups()  # type: ignore[union-attr]  # the terminal is stricter
    output = sized(OPERATION_OUTPUTS, sized(NAME, name_bytes(result)) + plain_type(kind).field)
    parts = [_operation_type(name), plain_arguments(inputs) if len(inputs) > 2 else b"", output]
    if attributes:
        members = _attributes(attributes)
        _check({key for key, _, _ in members}, len(members))
        parts += [_attribute_entry(*member) for member in members]
    return sized(BLOCK_OPERATIONS, b"".join(parts))


@memo(1 << 10)
def _operation_type(name: str) -> bytes:
    return sized(OPERATION_TYPE, name_bytes(name))


def plain_arguments(token: str) -> bytes:
    """`(x = a, y = b)` as the field `inputs` of an Operation."""
    arguments = argument_pairs(token)
    inputs = dict(arguments)
    _check(inputs, len(arguments))
    if not RESERVED.isdisjoint(inputs.values()):
        raise Refused("MIL102", "a reserved word as a name")
    return b"".join([_argument_entry(key, name) for key, name in arguments])


def plain_attributes(token: str) -> Entries:
    """`[name = string("y")]`"""
    attributes = _attributes(token)
    members = {key.encode(): _value(kind, raw) for key, kind, raw in attributes}
    _check([key for key, _, _ in attributes], len(members))
    return members


def _check(keys: Collection[str], count: int) -> None:
    if len(keys) != count:
        raise Refused("MIL103", "a name stands twice")
    if not RESERVED.isdisjoint(keys):
        raise Refused("MIL102", "a reserved word as a name")


def _argument_entry(key: str, name: str) -> bytes:
    if len(key) + len(name) < _SHORT:
        return _short_entry(_INPUT, key, f"{_BINDING[len(name)]}{name}")
    return entry(OPERATION_INPUTS, key.encode(), sized(BINDINGS, sized(BINDING_NAME, name.encode())))


def _attribute_entry(key: str, kind: str, raw: str) -> bytes:
    if raw[0] == '"' and len(key) + len(raw) < _SHORT and "\\" not in raw and raw.isascii() and raw.isprintable():
        heads = _string_heads(kind)
        if heads is not None:
            return _short_entry(_ATTRIBUTE, key, f"{heads[len(raw) - 2]}{raw[1:-1]}")
    return entry(OPERATION_ATTRIBUTES, key.encode(), _value(kind, raw))


# ---- types and values


@memo(1 << 14)
def plain_type(text: str) -> LoweredType:
    """A tensor type, or the name of a data type for a scalar's."""
    return plain_tensor(text) if text.startswith("tensor") else scalar_type(BY_NAME[text])


def plain_value(token: str) -> bytes:
    """The Value of a phrase that was read as one token: `string("x")`, `tensor<fp16, [1]>([0x1p+0])`."""
    opening = token.index("(")
    return _value(token[:opening].rstrip(), token[opening + 1 : -1])


def _value(kind: str, raw: str) -> bytes:
    return _short_value(kind, raw) if len(raw) < _SHORT else _lower_value(kind, raw)


def _lower_value(kind: str, raw: str) -> bytes:
    value_type, raw = plain_type(kind), raw.strip()
    if raw[-1] == ")":  # BLOBFILE(...), the only such literal
        return value_type.field + sized(BLOB, _plain_blob(raw))
    return value_type.field + text_content(value_type, raw)


_short_value = lru_cache(maxsize=1 << 14)(_lower_value)


def _plain_blob(raw: str) -> bytes:
    fields = raw[:-1].rstrip()[:-1].rstrip()  # without the brackets that close the offset and the blob
    path = fields.rstrip("0123456789")
    return blob_message(_blob_path(path), whole_number(fields[len(path) :], 64, signed=False))


@memo(1 << 10)
def _blob_path(text: str) -> bytes:
    """What the path of a blob says, of its text up to the offset: a model's weights are all in few files."""
    match = _path(text)
    if match is None:  # a number for the path, or a string for the offset
        raise no_blob()
    path_type, path, offset_type = match.groups()
    check_blob_field(plain_type(path_type), "string")
    check_blob_field(plain_type(offset_type), "uint64")
    return string_bytes(path)
