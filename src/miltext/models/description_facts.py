"""A description as facts: each field that is set, by its path in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from miltext.descriptions.forms import shortest
from miltext.schema.proto import Message
from miltext.syntax.literals import quote


def facts(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every field that is set, by its path, as in `input[x].type.multiArrayType.dataType`."""
    for field, value in message.ListFields():
        yield from _field(field, value, f"{path}{field.name}")


def _field(field: FieldDescriptor, value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the facts in a field; an empty message is one only in a oneof, where it was chosen."""
    if isinstance(value, Message):
        if field.containing_oneof is not None and not value.ListFields():
            yield path, "set"
        yield from facts(value, f"{path}.")
    elif field.message_type is None:
        several = not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")
        yield path, f"[{', '.join([_text(field, each) for each in value])}]" if several else _text(field, value)
    else:
        is_map = isinstance(value, Mapping) or hasattr(value, "GetEntryClass")
        inner = field.message_type.fields_by_name["value"] if is_map else field
        names = [getattr(each, "name", None) or index for index, each in enumerate(value)]
        for key, each in sorted(value.items()) if is_map else zip(names, value, strict=True):
            yield from _field(inner, each, f"{path}[{quote(str(key))[1:-1]}]")


def _text(field: FieldDescriptor, value: Any) -> str:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else str(value)
    if field.cpp_type == FieldDescriptor.CPPTYPE_FLOAT:
        return str(shortest(value))
    return quote(value) if isinstance(value, str) else value.hex() if isinstance(value, bytes) else str(value)
