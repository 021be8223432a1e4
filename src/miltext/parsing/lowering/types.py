"""Lowered types: the wire bytes of a `ValueType`, and the facts that determine the form of its literals."""

from __future__ import annotations

from typing import NamedTuple

from miltext.diagnostics import codes
from miltext.parsing.lowering.errors import LoweringError
from miltext.parsing.lowering.names import whole_number
from miltext.schema.dtypes import BY_NAME, DType
from miltext.schema.fields import VALUE_TYPE
from miltext.schema.wire import number_tag, sized, tag, varint
from miltext.syntax.memo import memo
from miltext.syntax.plain_tokens import tensor_parts

UNKNOWN = sized(tag(2), b"")
"""`Dimension.unknown`, not variadic."""


class LoweredType(NamedTuple):
    """A type: `field` is its wire form as the field `type` of a Value or a NamedValueType.

    `wire` is the ValueType itself, None for an absent message. A tensor has `dtype` (None for an unknown number) and
    `shape` (None if rank and dimensions disagree, or a dimension is neither a size nor `?`); other types have `parts`,
    and a list has the `length` of its values if it is known.
    """

    kind: str
    wire: bytes | None
    field: bytes
    dtype: DType | None = None
    shape: tuple[int | None, ...] | None = None
    parts: tuple[LoweredType, ...] = ()
    length: int | None = None


class Dimension(NamedTuple):
    """A dimension: the wire form of its message, None for a missing message; and its size, if it has one."""

    wire: bytes | None
    size: int | None
    plain: bool


def _type(kind: str, field: int, message: bytes, *details: object) -> LoweredType:
    wire = sized(tag(field), message)
    return LoweredType(kind, wire, sized(VALUE_TYPE, wire), *details)  # type: ignore[arg-type]


ABSENT = LoweredType("absent", None, b"")
EMPTY = LoweredType("empty", b"", sized(VALUE_TYPE, b""))


def part(field: int, value_type: LoweredType) -> bytes:
    """Return a type as a field of another message; nothing where it is absent."""
    return b"" if value_type.wire is None else sized(tag(field), value_type.wire)


def tensor_type(
    number: int, dtype: DType | None, dimensions: list[Dimension], rank: int | None = None, attributes: bytes = b""
) -> LoweredType:
    """Return a TensorType. The rank is the number of dimensions unless it is given."""
    plain = all(dimension.plain for dimension in dimensions) and rank in (None, len(dimensions))
    shape = tuple(dimension.size for dimension in dimensions) if plain else None
    rank = len(dimensions) if rank is None else rank
    message = number_tag(1) + varint(number) + number_tag(2) + varint(rank)
    message += b"".join(sized(tag(3), dimension.wire or b"") for dimension in dimensions) + attributes
    return _type("tensor", 1, message, dtype, shape)


_SCALARS = {name: tensor_type(dtype.number, dtype, []) for name, dtype in BY_NAME.items()}


def scalar_type(dtype: DType) -> LoweredType:
    """Return the type of one value of the data type, a tensor of rank 0: the same object each time."""
    return _SCALARS[dtype.name]


def list_type(element: LoweredType, length: Dimension) -> LoweredType:
    """`list<T, 5>`"""
    size = b"" if length.wire is None else sized(tag(2), length.wire)
    return _type("list", 2, part(1, element) + size, None, None, (element,), length.size)


def tuple_type(parts: list[LoweredType]) -> LoweredType:
    """`tuple<T, U>`"""
    message = b"".join(sized(tag(1), element.wire or b"") for element in parts)
    return _type("tuple", 3, message, None, None, tuple(parts))


def dictionary_type(key: LoweredType, value: LoweredType) -> LoweredType:
    """`dict<K, V>`"""
    return _type("dict", 4, part(1, key) + part(2, value), None, None, (key, value))


def state_type(wrapped: LoweredType) -> LoweredType:
    """`state<T>`"""
    return _type("state", 5, part(1, wrapped), None, None, (wrapped,))


@memo(1 << 12)
def lower_dimension(token: str) -> Dimension:
    """`4`, `?`, `$variadic`, `$empty`, `$absent`."""
    if token == "?":
        return Dimension(UNKNOWN, None, True)
    if token == "$variadic":
        return Dimension(sized(tag(2), number_tag(1) + varint(1)), None, False)
    if token == "$empty":
        return Dimension(b"", None, False)
    if token == "$absent":
        return Dimension(None, None, False)
    if token[:1] == "-":
        meant = "?" if token == "-1" else None
        message = "a size cannot be negative; write `?` for an unknown size"
        raise LoweringError(codes.NUMBER_OUT_OF_RANGE, message, token, suggestion=meant)
    size = whole_number(token, 64, signed=False)
    return Dimension(sized(tag(1), number_tag(1) + varint(size)), size, True)


def data_type(token: str) -> tuple[int, DType | None]:
    """Return the number of `fp16` or `$99`, and its row of the table if it has one."""
    if token[0] == "$":
        number = whole_number(token[1:], 32, signed=True)
        return number, None
    return BY_NAME[token].number, BY_NAME[token]


def plain_tensor(token: str) -> LoweredType:
    """Return a tensor type that was read as one token: `tensor<fp16, [1, 80]>`."""
    name, sizes = tensor_parts().fullmatch(token).groups()  # type: ignore[union-attr]
    dtype = BY_NAME.get(name)
    if dtype is None:
        start = token.index(name, len("tensor"))
        raise LoweringError(codes.UNKNOWN_TYPE, f"unknown data type `{name}`", token, start, start + len(name))
    sizes = sizes[1:-1].strip()
    if not sizes:
        return scalar_type(dtype)
    return tensor_type(dtype.number, dtype, [lower_dimension(size.strip()) for size in sizes.split(",")])
