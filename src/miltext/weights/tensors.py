"""Tensors: a data type, a shape, and elements wherever they are, read when they are needed, and in pieces."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

from miltext.printing.tensors import field_data
from miltext.schema.dtypes import BY_NUMBER, DType
from miltext.schema.proto import TensorValue
from miltext.schema.wire import sized, tag

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from miltext.files.writing import Progress
    from miltext.schema.packing import Bytes
    from miltext.schema.proto import Value, ValueType

CHUNK = 1 << 20
"""The elements, or bytes, processed at once; a multiple of 8, so that a chunk starts on a byte."""

SAMPLES, SAMPLE = 16, 64
"""The number and size in bytes of the pieces that represent a tensor while others like it are sought."""

VALUES = tag(1)

INTEGERS = {"bool": "?", "int16": "h", "uint16": "H", "int32": "i", "int64": "q", "uint64": "q"}
"""The codes of `struct` for elements held as numbers; a uint64 is held as its two's complement."""


class Tensor(Protocol):
    """A tensor of numbers or truth values: a literal, a record of a weight file, an array beside a text, or what is
    made of one of these.

    `path` is the file of an array, which belongs to its owner; None for elements of the model itself. Tensors with an
    equal `identity` have equal elements.
    """

    __slots__ = ()

    @property
    def dtype(self) -> DType: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def identity(self) -> tuple[object, ...]: ...

    def pieces(
        self, dtype: DType | None = None, progress: Progress | None = None, folder: Path | None = None
    ) -> Iterator[bytes]:
        """Yield the elements in C order, packed as in a weight file; in another type, if the tensor has them so.

        `progress` and `folder` are used for an array that has to be put into C order first.
        """
        ...

    @property
    def count(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """The number of bytes of the packed elements."""
        from miltext.schema.packing import packed_size

        return packed_size(self.count, self.dtype.bits)

    @property
    def data(self) -> Bytes:
        """The packed elements: of a record, the mapped file."""
        return b"".join(self.pieces())

    def views(self) -> Iterator[Bytes]:
        """Yield the packed elements without copying those in memory: whole elements, CHUNK of them at most."""
        return self.pieces()

    def chunks(self) -> Iterator[npt.NDArray[Any]]:
        """Yield the elements as flat arrays: the result of `array`, in pieces."""
        from miltext.schema.packing import unpack

        left = self.count
        for view in self.views():
            number = min(left, len(view) * 8 // self.dtype.bits)
            yield unpack(view, self.dtype, number)
            left -= number

    def array(self, shape: tuple[int, ...] | None = None) -> npt.NDArray[Any]:
        """Return the elements in the given shape, or their own.

        Types of whole bytes are a read-only view of what is in memory or mapped, bf16 and fp8 as their bit patterns
        (uint16, uint8); sub-byte types are unpacked to int8 or uint8.
        """
        from miltext.schema.packing import unpack

        return unpack(self.data, self.dtype, self.count).reshape(self.shape if shape is None else shape)

    def digest(self, progress: Progress | None = None) -> str:
        """Return the SHA-256, in hexadecimal, of the data type's name followed by the packed elements.

        `progress` is called with the number of bytes of each piece read.
        """
        return digest_of_pieces(self.dtype, self.views(), progress)

    def sample(self) -> bytes:
        """Return some of the packed bytes, by which most tensors of one type and size differ."""
        step = max(SAMPLE, self.size // SAMPLES)
        return b"".join([bytes(self.data[start : start + SAMPLE]) for start in range(0, self.size, step)])

    def equals(self, other: Tensor) -> bool:
        """Return whether two tensors in memory, or mapped, have the same type and bits."""
        if (self.dtype, self.size) != (other.dtype, other.size):
            return False
        return all(bytes(own) == bytes(others) for own, others in zip(self.views(), other.views(), strict=True))


def digest_of_pieces(dtype: DType, pieces: Iterable[Bytes], progress: Progress | None = None) -> str:
    """Return the digest of a tensor in packed pieces, of which only one is in memory."""
    state = hashlib.sha256(dtype.name.encode())
    for piece in pieces:
        state.update(piece)
        if progress:
            progress(len(piece))
    return state.hexdigest()


def views_of(data: Bytes, dtype: DType) -> Iterator[memoryview]:
    """Yield packed elements, CHUNK of them at a time."""
    view, step = memoryview(data), CHUNK * dtype.bits // 8
    return (view[start : start + step] for start in range(0, len(view), step))


@dataclass(frozen=True, eq=False, slots=True)
class Literal(Tensor):
    """A tensor whose elements are in the program itself."""

    dtype: DType = field()
    shape: tuple[int, ...] = field()
    data: bytes = field(repr=False)

    @property
    def identity(self) -> tuple[object, ...]:
        return "immediate", self.data

    def pieces(self, *_: object) -> Iterator[bytes]:
        yield self.data

    def views(self) -> Iterator[memoryview]:
        return views_of(self.data, self.dtype)


def literal(value: Value) -> Literal | None:
    """Return the tensor in an immediate Value.

    None for strings, for any other value, and for elements that are not in their type's usual field, do not fill its
    shape, or exceed its range.
    """
    from miltext.schema.packing import packed_size

    dtype, shape = tensor_dtype(value.type), tensor_shape(value.type)
    if dtype is None or shape is None or value.immediateValue.WhichOneof("value") != "tensor":
        return None
    tensor = value.immediateValue.tensor
    if tensor.WhichOneof("value") != dtype.field or dtype.kind == "string":
        return None
    held = field_data(tensor, dtype.field)
    try:
        data = held if isinstance(held, bytes) else struct.pack(f"<{len(held)}{INTEGERS[dtype.name]}", *held)
    except struct.error:
        return None
    return Literal(dtype, shape, data) if len(data) == packed_size(prod(shape), dtype.bits) else None


def tensor_dtype(value_type: ValueType) -> DType | None:
    """Return the data type of a tensor's type; None for any other type."""
    return BY_NUMBER.get(value_type.tensorType.dataType) if value_type.WhichOneof("type") == "tensorType" else None


def tensor_shape(value_type: ValueType) -> tuple[int, ...] | None:
    """Return the sizes of a tensor's type, None if one is unknown or rank and dimensions disagree."""
    tensor = value_type.tensorType
    if tensor.rank != len(tensor.dimensions):
        return None
    if any(dimension.WhichOneof("dimension") != "constant" for dimension in tensor.dimensions):
        return None
    return tuple(dimension.constant.size for dimension in tensor.dimensions)


def tensor_value(dtype: DType, data: bytes | memoryview) -> TensorValue:
    """Return the TensorValue with these packed elements, in coremltools' field for values of the type."""
    made = TensorValue()
    member = getattr(made, dtype.field)
    member.SetInParent()
    if dtype.field == "bytes":
        member.values = bytes(data)
    elif dtype.field in ("floats", "doubles"):  # as bytes: a signalling NaN must not pass through a Python float
        member.MergeFromString(sized(VALUES, bytes(data)) if len(data) else b"")
    else:
        member.values.extend(struct.unpack(f"<{len(data) * 8 // dtype.bits}{INTEGERS[dtype.name]}", data))
    return made
