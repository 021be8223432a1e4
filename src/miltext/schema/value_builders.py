"""Immediate Values made from Python's own: texts, lists of texts or ints, tuples and dictionaries; and their texts."""

from __future__ import annotations

from typing import Any

from miltext.schema.proto import TensorValue, Value
from miltext.schema.types import DictionaryType, ListType, TensorType, TupleType, Type, write_type

Data = Any
"""A text, or a list of texts or ints, for a tensor, a sequence for a tuple or a list, a mapping for a dictionary."""

STRING = TensorType("string", ())


def immediate(type: Type, data: Data) -> Value:
    """Return the Value of a type that holds `data`; the keys of a dictionary are strings."""
    value = Value(type=write_type(type))
    holder = value.immediateValue
    if isinstance(type, TensorType):
        if type.dtype == "string":
            texts = [data] if isinstance(data, str) else data
            holder.tensor.strings.CopyFrom(TensorValue.RepeatedStrings(values=texts))
        else:
            holder.tensor.ints.CopyFrom(TensorValue.RepeatedInts(values=data))
    elif isinstance(type, TupleType):
        holder.tuple.values.extend(map(immediate, type.types, data))
    elif isinstance(type, ListType):
        holder.list.SetInParent()
        holder.list.values.extend([immediate(type.element, element) for element in data])
    elif isinstance(type, DictionaryType):
        holder.dictionary.SetInParent()
        for key, element in data.items():
            holder.dictionary.values.add(key=immediate(STRING, key), value=immediate(type.value, element))
    return value


def text_of(value: Value) -> str:
    """Return the text in an immediate Value, empty if there is none; several are joined."""
    return "".join(value.immediateValue.tensor.strings.values)
