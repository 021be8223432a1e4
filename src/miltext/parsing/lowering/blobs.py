"""Values in weight files: `BLOBFILE(path = string("..."), offset = uint64(64))`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from miltext.parsing.lowering.errors import LoweringError
from miltext.parsing.lowering.names import string_bytes, whole_number
from miltext.parsing.lowering.types import LoweredType, scalar_type
from miltext.parsing.lowering.values import Raw
from miltext.schema import fields
from miltext.schema.dtypes import BY_NAME
from miltext.schema.wire import sized, varint

if TYPE_CHECKING:
    from collections.abc import Callable


class BlobLiteral(Raw):
    """`BLOBFILE(path = string("..."), offset = uint64(64))`."""

    def content(self, value_type: LoweredType) -> bytes:
        return sized(fields.BLOB, self.children[1])


def blob_message(path: bytes, offset: int) -> bytes:
    """Return a BlobFileValue."""
    return sized(fields.FILE_NAME, path) + (fields.OFFSET + varint(offset) if offset else b"")


_BLOB_FIELDS: dict[str, tuple[str, Callable[[str], bytes | int]]] = {
    "path": ("string", string_bytes),
    "offset": ("uint64", partial(whole_number, bits=64, signed=False)),
}
"""The data type of each field of a blob, and what reads it."""


def blob_field(name: str, value_type: LoweredType, token: str) -> bytes | int:
    """Return what a field of a blob holds, `path = string("...")` or `offset = uint64(64)`."""
    dtype, read = _BLOB_FIELDS[name]
    if value_type != scalar_type(BY_NAME[dtype]):
        raise LoweringError("MIL108", 'a blob is written `BLOBFILE(path = string("..."), offset = uint64(...))`')
    return read(token)
