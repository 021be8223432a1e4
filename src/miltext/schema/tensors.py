"""Tensors: a data type, a shape, and elements in a program or a file, read on demand and in pieces."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Protocol

from miltext.schema.dtypes import BY_NAME, BY_NUMBER, DType, packed_size, unpack_codes
from miltext.schema.fields import VALUES, field_data
from miltext.schema.proto import TensorValue
from miltext.schema.wire import sized

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.schema.packing import Array, Bytes
    from miltext.schema.proto import Value, ValueType

CHUNK = 1 << 20
"""The elements, or bytes, processed at once; a multiple of 8, so that a chunk starts on a byte."""

SAMPLES, SAMPLE = 16, 64
"""The number and size in bytes of the pieces that represent a tensor in a search for equal ones."""

CODES = {"bool": "?", "fp16": "e", "fp32": "f", "fp64": "d", "int8": "b", "int16": "h", "int32": "i", "int64": "q"}
CODES |= {f"u{name}": code.upper() for name, code in CODES.items() if name.startswith("int")}
"""The codes of `struct` for the elements of supported data types."""

HELD = {**CODES, "uint64": "q"}
"""The codes for elements held as numbers; a uint64 is held as its two's complement."""


class Tensor(Protocol):
    """A tensor of numbers or truth values: a literal, a record of a weight file, an array beside a text, or one
    computed from these.

    Tensors with an equal `identity` have equal elements.
    """

    __slots__ = ()

    @property
    def dtype(self) -> DType: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def identity(self) -> tuple[object, ...]: ...

    def pieces(
        self, dtype: DType | None = None, progress: Callable[[int], object] | None = None, folder: Path | None = None
    ) -> Iterator[bytes]:
        """Yield the elements in C order, packed as in a weight file; in another type, if the tensor supports it.

        `progress` and `folder` are used for an array that must first be copied into C order.
        """
        ...

    @property
    def origin(self) -> Path | None:
        """The file of an array, which belongs to its owner; None for elements of the model itself."""
        return None

    @property
    def count(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """The number of bytes of the packed elements."""
        return Tensor.work(self)

    def work(self, dtype: DType | None = None) -> int:
        """Return the bytes that `pieces` reports as progress."""
        return packed_size(self.count, (dtype or self.dtype).bits)

    @property
    def data(self) -> Bytes:
        """The packed elements; for a record, the mapped file."""
        return b"".join(self.pieces())

    def views(self) -> Iterator[Bytes]:
        """Yield the packed elements without copying those in memory: whole elements, CHUNK of them at most."""
        return self.pieces()

    def chunks(self, pieces: Iterable[Bytes] | None = None) -> Iterator[Array]:
        """Yield the elements as flat arrays: the result of `array`, in pieces, those of `views` unless given."""
        from miltext.schema.packing import unpack

        left = self.count
        for piece in self.views() if pieces is None else pieces:
            number = min(left, len(piece) * 8 // self.dtype.bits)
            yield unpack(piece, self.dtype, number)
            left -= number

    def array(self, shape: tuple[int, ...] | None = None) -> Array:
        """Return the elements in the given shape, or their own.

        Types of whole bytes are a read-only view of the elements in memory or in the mapped file, bf16 and fp8 as their
        bit patterns (uint16, uint8); sub-byte types are unpacked to int8 or uint8.
        """
        from miltext.schema.packing import unpack

        return unpack(self.data, self.dtype, self.count).reshape(self.shape if shape is None else shape)

    def digest(self, progress: Callable[[int], object] | None = None) -> str:
        """Return the SHA-256, in hexadecimal, of the data type's name followed by the packed elements.

        `progress` is called with the number of bytes of each piece read.
        """
        return digest_of_pieces(self.dtype, self.views(), progress)

    def sample(self) -> bytes:
        """Return some of the packed bytes: most tensors of the same type and size differ in them."""
        data, size = self.data, self.size
        return b"".join([bytes(data[start : start + SAMPLE]) for start in range(0, size, max(SAMPLE, size // SAMPLES))])

    def message(self) -> TensorValue:
        """Return the elements of a literal, in coremltools' field for values of the type."""
        made, data = TensorValue(), bytes(self.data)
        member = getattr(made, self.dtype.field)
        member.SetInParent()
        if self.dtype.field == "bytes":
            member.values = data
        elif self.dtype.kind == "float":  # as bytes: a signalling NaN must not pass through a Python float
            member.MergeFromString(sized(VALUES, data) if data else b"")
        else:
            member.values.extend(struct.unpack(f"<{self.count}{HELD[self.dtype.name]}", data))
        return made

    def equals(self, other: Tensor) -> bool:
        """Return whether two tensors in memory, or mapped, have the same type and bits."""
        if (self.dtype, self.size) != (other.dtype, other.size):
            return False
        return all(bytes(own) == bytes(others) for own, others in zip(self.views(), other.views(), strict=True))


def digest_of_pieces(dtype: DType, pieces: Iterable[Bytes], progress: Callable[[int], object] | None = None) -> str:
    """Return the digest of a tensor in packed pieces, with a single piece in memory."""
    import hashlib

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

    def pieces(self, *_: object, **__: object) -> Iterator[bytes]:
        yield self.data

    def views(self) -> Iterator[memoryview]:
        return views_of(self.data, self.dtype)


def literal(value: Value) -> Literal | None:
    """Return the tensor in an immediate Value.

    None for strings, for any other value, and for elements in an unusual field, too few or too many for the shape, or
    out of the type's range.
    """
    form, tensor = tensor_form(value.type), value.immediateValue.tensor
    if form is None or form[0].kind == "string" or tensor.WhichOneof("value") != form[0].field:
        return None
    dtype, shape = form
    held = field_data(tensor, dtype.field)
    try:
        data = held if isinstance(held, bytes) else struct.pack(f"<{len(held)}{HELD[dtype.name]}", *held)
    except struct.error:
        return None
    return Literal(dtype, shape, data) if len(data) == packed_size(prod(shape), dtype.bits) else None


def tensor_dtype(value_type: ValueType) -> DType | None:
    """Return the data type of a tensor's type; None for any other type."""
    return BY_NUMBER.get(value_type.tensorType.dataType) if value_type.WhichOneof("type") == "tensorType" else None


def tensor_shape(value_type: ValueType) -> tuple[int, ...] | None:
    """Return the sizes of a tensor's type, None for an unknown size, or if rank and dimensions disagree."""
    tensor = value_type.tensorType
    if tensor.rank != len(tensor.dimensions):
        return None
    if any(dimension.WhichOneof("dimension") != "constant" for dimension in tensor.dimensions):
        return None
    return tuple(dimension.constant.size for dimension in tensor.dimensions)


def tensor_form(value_type: ValueType) -> tuple[DType, tuple[int, ...]] | None:
    """Return the data type and the sizes of a tensor's type; None for any other type, or where either is unknown."""
    dtype, shape = tensor_dtype(value_type), tensor_shape(value_type)
    return None if dtype is None or shape is None else (dtype, shape)


def numbers(data: bytes, dtype: DType, count: int) -> Sequence[bool | int | float]:
    """Return packed elements as Python's numbers; none of a type that Python lacks, or of incomplete elements."""
    if dtype.packed:
        if len(data) != packed_size(count, dtype.bits):
            return ()
        codes = unpack_codes(data, dtype.bits, count)
        return [code - (1 << dtype.bits) if code > dtype.maximum else code for code in codes]
    code = CODES.get(dtype.name)
    if code is None or len(data) * 8 % dtype.bits:
        return ()
    return struct.unpack(f"<{len(data) * 8 // dtype.bits}{code}", data)


@dataclass(eq=False, slots=True)
class Computed(Tensor):
    """A computed tensor, such as a decompressed weight; its elements are compared as numbers."""

    numbers: Array

    @property
    def dtype(self) -> DType:
        return BY_NAME[self.numbers.dtype.name.replace("float", "fp")]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numbers.shape

    @property
    def identity(self) -> tuple[object, ...]:
        return ("computed", id(self.numbers))

    def pieces(self, *_: object, **__: object) -> Iterator[bytes]:
        return map(bytes, self.views())

    def views(self) -> Iterator[memoryview]:
        return views_of(self.numbers.reshape(-1).view("u1").data, self.dtype)


@dataclass(eq=False, slots=True)
class InType(Tensor):
    """A tensor in another data type, which its `source` supports."""

    source: Tensor
    dtype: DType = field()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.source.shape

    @property
    def identity(self) -> tuple[object, ...]:
        return self.dtype, self.source.identity

    @property
    def origin(self) -> Path | None:
        return self.source.origin

    def work(self, dtype: DType | None = None) -> int:
        return self.source.work(dtype or self.dtype)

    def pieces(
        self, dtype: DType | None = None, progress: Callable[[int], object] | None = None, folder: Path | None = None
    ) -> Iterator[bytes]:
        return self.source.pieces(dtype or self.dtype, progress, folder)
