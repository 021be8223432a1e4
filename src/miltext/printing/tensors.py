"""The literal of a tensor: the usual one, nested like the type's shape, or a literal with its field's name."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from miltext.schema.dtypes import FIELD_DTYPES, DType, packed_size
from miltext.schema.fields import Data, field_data
from miltext.syntax.encoding import decode, padding_is_clear
from miltext.syntax.literals import LiteralError, nest, quote

if TYPE_CHECKING:
    from miltext.schema.proto import TensorValue

Shape = tuple["int | None", ...]


class Style(NamedTuple):
    """The style of printed text.

    `dialect` is `1.0` or `1.3`, and `floats` is `hex` or `decimal`. Literals of more than `elide` elements are replaced
    by their count and digest. With `strict`, a value that Apple's syntax cannot express is a PrintError instead of a
    spelling of miltext's own.
    """

    dialect: str = "1.3"
    floats: str = "hex"
    elide: int | None = None
    strict: bool = False


PLAIN = Style()
"""The default style: floats as Apple prints them, and no literal left out."""


def usual_literal(tensor: TensorValue, dtype: DType | None, shape: Shape | None, style: Style) -> str | None:
    """Return the literal that reads back as these values under a type of this data type and shape.

    It is None for values in an unusual field, too few or too many for the shape, out of the type's range, or with
    nonzero padding bits.
    """
    data, sizes = _usual(tensor, dtype, shape)
    if dtype is None or sizes is None:
        return None
    count = prod(sizes)
    if style.elide is not None and count > style.elide:
        return f'$elided({count}, "{digest(tensor)}")'
    try:
        return nest(_texts(data, dtype, count, style), sizes)
    except LiteralError:
        return None


def element_count(tensor: TensorValue, dtype: DType | None, shape: Shape | None) -> int | None:
    """Return the number of elements of the literal of `usual_literal`; None if there is none."""
    _, sizes = _usual(tensor, dtype, shape)
    return None if sizes is None else prod(sizes)


def _usual(tensor: TensorValue, dtype: DType | None, shape: Shape | None) -> tuple[Data, list[int] | None]:
    """Return the contents of the usual field of a type, and its shape; None for a shape that does not match."""
    if dtype is None or shape is None or tensor.WhichOneof("value") != dtype.field:
        return b"", None
    data = field_data(tensor, dtype.field)
    return data, _sizes(data, dtype, shape)


def field_literal(tensor: TensorValue, field: str, style: Style) -> str:
    """Return the values of a TensorValue as a flat list of its field's elements; of `bytes`, hexadecimal digits."""
    data = field_data(tensor, field)
    if field == "bytes":
        return f'"{bytes(data).hex()}"'
    dtype = FIELD_DTYPES[field]
    count = _count(data, dtype)
    return nest(_texts(data, dtype, count, style), (count,))


def digest(tensor: TensorValue) -> str:
    """Return the digest of a TensorValue's deterministic wire form, the same for any writer."""
    import hashlib

    return "sha256:" + hashlib.sha256(tensor.SerializeToString(deterministic=True)).hexdigest()


def _count(data: Data, dtype: DType) -> int:
    return len(data) * 8 // dtype.bits if isinstance(data, bytes) else len(data)


def _sizes(data: Data, dtype: DType, shape: Shape) -> list[int] | None:
    """Return the shape with its unknown dimension determined by the data; None if the data does not fill it."""
    sizes = [size for size in shape if size is not None]
    known = prod(sizes)
    if None in shape:
        if dtype.packed or known == 0:
            return None
        unknown = _count(data, dtype) // known
        sizes = [unknown if size is None else size for size in shape]
        known *= unknown
    if isinstance(data, bytes):
        filled = len(data) == packed_size(known, dtype.bits) and padding_is_clear(data, dtype, known)
    else:
        filled = len(data) == known
    return sizes if filled else None


def _texts(data: Data, dtype: DType, count: int, style: Style) -> list[str]:
    if dtype.kind == "string":
        return list(map(quote, data))
    return decode(data, dtype, count, decimal=style.floats == "decimal")
