"""Types as small tuples, read from a `ValueType` and written to one.

A dimension is its size, or None if unknown; a missing type, or a type of unknown rank, is None. The class names are the
schema's; data types are named as in `miltext.schema.dtypes`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple, TypeAlias, cast

from miltext.schema import proto
from miltext.schema.dtypes import BY_NAME, BY_NUMBER, packed_size

Dimension: TypeAlias = "int | None"
Shape: TypeAlias = "tuple[Dimension, ...]"


class TensorType(NamedTuple):
    """A tensor; an empty `shape` is a scalar."""

    dtype: str
    shape: Shape


class ListType(NamedTuple):
    """A list of `length` elements."""

    element: Type
    length: Dimension


class TupleType(NamedTuple):
    """A tuple of values, each of its own type."""

    types: tuple[Type, ...]


class DictionaryType(NamedTuple):
    """A mapping."""

    key: Type
    value: Type


class StateType(NamedTuple):
    """A state that holds values of the `wrapped` type."""

    wrapped: Type


Type: TypeAlias = TensorType | ListType | TupleType | DictionaryType | StateType | None


def compatible(declared: object, inferred: object) -> bool:
    """Return whether a value can have both types: they are of the same kind, and equal in all known parts."""
    if declared is None or inferred is None or declared == inferred:
        return True
    if not isinstance(declared, tuple) or not isinstance(inferred, tuple) or type(declared) is not type(inferred):
        return False
    return len(declared) == len(inferred) and all(map(compatible, declared, inferred))


def join(first: Type, second: Type) -> Type:
    """Return the most precise type for values of either type: different sizes are unknown."""
    if first == second:
        return first
    if isinstance(first, TensorType) and isinstance(second, TensorType) and first.dtype == second.dtype:
        if len(first.shape) == len(second.shape):
            pairs = zip(first.shape, second.shape, strict=True)
            return TensorType(first.dtype, tuple(a if a == b else None for a, b in pairs))
    elif isinstance(first, ListType) and isinstance(second, ListType):
        return ListType(join(first.element, second.element), first.length if first.length == second.length else None)
    return None


def filled(type: Type, other: Type) -> Type:
    """Return a type with its open sizes taken from another type of its form."""
    return cast("Type", _merged(type, other, lambda own, others: others if own is None else own))


def generalized(type: Type, other: Type) -> Type:
    """Return a type, with all sizes open that another type of its form leaves open."""
    return cast("Type", _merged(type, other, lambda own, others: None if others is None else own))


def _merged(part: Any, other: Any, pick: Callable[[Any, Any], Any]) -> Any:
    """Return the result of `pick` for each part of two types, down to parts of different forms."""
    if not isinstance(part, tuple) or part.__class__ is not other.__class__ or len(part) != len(other):
        return pick(part, other)
    parts = [_merged(own, others, pick) for own, others in zip(part, other, strict=True)]
    return part._make(parts) if hasattr(part, "_make") else tuple(parts)


def is_known(type: Type) -> bool:
    """Return whether only sizes are missing, so that the type can be written."""
    if isinstance(type, ListType):
        return is_known(type.element)
    if isinstance(type, TupleType):
        return all(map(is_known, type.types))
    if isinstance(type, DictionaryType):
        return is_known(type.key) and is_known(type.value)
    return is_known(type.wrapped) if isinstance(type, StateType) else type is not None


def is_whole(part: object) -> bool:
    """Return whether a type, or a part of one, is fully known."""
    return all(map(is_whole, part)) if isinstance(part, tuple) else part is not None


def has_sizes(part: object) -> bool:
    """Return whether a type, or a part of one, contains a size."""
    return any(map(has_sizes, part)) if isinstance(part, tuple) else isinstance(part, int)


def known_sizes(shape: Shape) -> tuple[int, ...] | None:
    """Return a shape without open sizes; None for one with some."""
    sizes = tuple(size for size in shape if size is not None)
    return sizes if len(sizes) == len(shape) else None


def bytes_of(type: Type) -> int | None:
    """Return the bytes of a value: 0 for strings, dictionaries and states, None for unknown sizes."""
    if isinstance(type, TensorType):
        shape = known_sizes(type.shape)
        return None if shape is None else packed_size(prod(shape), BY_NAME[type.dtype].bits)
    if isinstance(type, ListType):
        element = bytes_of(type.element)
        return None if type.length is None or element is None else type.length * element
    if isinstance(type, TupleType):
        sizes = [bytes_of(each) for each in type.types]
        return None if None in sizes else sum(size or 0 for size in sizes)
    return 0 if isinstance(type, StateType | DictionaryType) else None


def spelled(type: Type, dialect: str = "1.3") -> str:
    """Spell a type as MIL text of the dialect; unknown parts are in words."""
    if isinstance(type, TensorType):
        if not type.shape and dialect == "1.3":
            return type.dtype
        return f"tensor<{type.dtype}, {show(type.shape)}>"
    if isinstance(type, ListType):
        return f"list<{spelled(type.element, dialect)}, {_size(type.length)}>"
    if isinstance(type, TupleType):
        return f"tuple<{', '.join(spelled(part, dialect) for part in type.types)}>"
    if isinstance(type, DictionaryType):
        return f"dict<{spelled(type.key, dialect)}, {spelled(type.value, dialect)}>"
    if isinstance(type, StateType):
        return f"state<{spelled(type.wrapped, dialect)}>"
    return "an unknown type"


def show(shape: Shape) -> str:
    """Spell a shape in MIL text."""
    return f"[{', '.join(map(_size, shape))}]"


def _size(size: Dimension) -> str:
    if size is None:
        return "?"
    return str(size) if size.bit_length() <= 256 else f"over 2^{size.bit_length() - 1}"  # Python limits digits


def read_type(message: proto.ValueType) -> Type:
    """Return the type in a `ValueType`; None without a type or a rank, and for an unknown data type."""
    kind = message.WhichOneof("type")
    if kind == "tensorType":
        return _read_tensor(message.tensorType)
    if kind == "listType":
        return ListType(read_type(message.listType.type), _read_dimension(message.listType.length))
    if kind == "tupleType":
        return TupleType(tuple(map(read_type, message.tupleType.types)))
    if kind == "dictionaryType":
        return DictionaryType(read_type(message.dictionaryType.keyType), read_type(message.dictionaryType.valueType))
    if kind == "stateType":
        return StateType(read_type(message.stateType.wrappedType))
    return None


def _read_tensor(message: proto.TensorType) -> Type:
    dtype, dimensions = BY_NUMBER.get(message.dataType), message.dimensions
    if dtype is None or message.rank != len(dimensions):
        return None
    shape = tuple(map(_read_dimension, dimensions))
    if None in shape and any(dimension.unknown.variadic for dimension in dimensions):
        return None
    return TensorType(dtype.name, shape)


def _read_dimension(message: proto.Dimension) -> Dimension:
    return message.constant.size if message.WhichOneof("dimension") == "constant" else None


def write_type(type: Type) -> proto.ValueType:
    """Return the `ValueType` of a type. Raise ValueError for None."""
    message = proto.ValueType()
    if isinstance(type, TensorType):
        message.tensorType.dataType = BY_NAME[type.dtype].number
        message.tensorType.rank = len(type.shape)
        for size in type.shape:
            _write_dimension(message.tensorType.dimensions.add(), size)
    elif isinstance(type, ListType):
        message.listType.type.CopyFrom(write_type(type.element))
        _write_dimension(message.listType.length, type.length)
    elif isinstance(type, TupleType):
        message.tupleType.types.extend(map(write_type, type.types))
        message.tupleType.SetInParent()
    elif isinstance(type, DictionaryType):
        message.dictionaryType.keyType.CopyFrom(write_type(type.key))
        message.dictionaryType.valueType.CopyFrom(write_type(type.value))
    elif isinstance(type, StateType):
        message.stateType.wrappedType.CopyFrom(write_type(type.wrapped))
    else:
        raise ValueError("an unknown type cannot be written")
    return message


def _write_dimension(message: proto.Dimension, size: Dimension) -> None:
    if size is None:
        message.unknown.variadic = False
        message.unknown.SetInParent()
    else:
        message.constant.size = size
