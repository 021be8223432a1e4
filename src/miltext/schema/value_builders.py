"""Immediate Values made from Python's own: texts, lists of ints, tuples and dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import (
    DictionaryType,
    Dimension,
    ListType,
    TensorType,
    TensorValue,
    TupleType,
    Value,
    ValueType,
)

Data = Any
"""A text or a sequence of ints for a tensor, a sequence for a tuple or a list, and a mapping for a dictionary."""


def dimension(size: int | None) -> Dimension:
    """Return a Dimension; None is an unknown one."""
    if size is None:
        return Dimension(unknown=Dimension.UnknownDimension(variadic=False))
    return Dimension(constant=Dimension.ConstantDimension(size=size))


def tensor_type(dtype: str, *sizes: int | None) -> ValueType:
    """`tensor<dtype, [sizes]>`."""
    dimensions = [dimension(size) for size in sizes]
    return ValueType(tensorType=TensorType(dataType=BY_NAME[dtype].number, rank=len(sizes), dimensions=dimensions))


def list_type(element: ValueType) -> ValueType:
    """`list<element, ?>`."""
    return ValueType(listType=ListType(type=element, length=dimension(None)))


def tuple_type(*parts: ValueType) -> ValueType:
    """`tuple<parts>`."""
    return ValueType(tupleType=TupleType(types=parts))


def dictionary_type(value: ValueType) -> ValueType:
    """`dict<string, value>`."""
    return ValueType(dictionaryType=DictionaryType(keyType=STRING, valueType=value))


def immediate(value_type: ValueType, data: Data) -> Value:
    """Return the Value of a type that holds `data`; its elements are of the types that the type implies."""
    value = Value(type=value_type)
    holder, kind = value.immediateValue, value_type.WhichOneof("type")
    if kind == "tensorType":
        if isinstance(data, str):
            holder.tensor.strings.CopyFrom(TensorValue.RepeatedStrings(values=[data]))
        else:
            holder.tensor.ints.CopyFrom(TensorValue.RepeatedInts(values=data))
    elif kind == "tupleType":
        parts = zip(value_type.tupleType.types, data, strict=True)
        holder.tuple.values.extend([immediate(part, element) for part, element in parts])
    elif kind == "listType":
        holder.list.values.extend([immediate(value_type.listType.type, element) for element in data])
        holder.list.SetInParent()
    else:
        add_pairs(value, data)
    return value


def add_pairs(dictionary: Value, pairs: Mapping[str, Data]) -> None:
    """Add pairs to a Value that is a dictionary with strings for keys."""
    implied = dictionary.type.dictionaryType
    values = dictionary.immediateValue.dictionary
    values.SetInParent()
    for key, data in pairs.items():
        values.values.add(key=immediate(STRING, key), value=immediate(implied.valueType, data))


STRING = tensor_type("string")
