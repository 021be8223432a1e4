"""Values in weight files: `BLOBFILE(path = string("..."), offset = uint64(64))`, and `$blob("...", 64)` in drafts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from miltext.diagnostics import codes
from miltext.parsing.lowering.errors import INFER, LoweringError
from miltext.parsing.lowering.names import string_bytes, whole_number
from miltext.parsing.lowering.types import LoweredType, scalar_type
from miltext.parsing.lowering.values import Raw
from miltext.schema import fields
from miltext.schema.dtypes import BY_NAME
from miltext.schema.wire import sized, varint
from miltext.syntax.names import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from miltext.syntax.parser import Parsed


class BlobLiteral(Raw):
    """`BLOBFILE(path = string("..."), offset = uint64(64))`."""

    def content(self, value_type: LoweredType) -> bytes:
        return sized(fields.BLOB, self.children[1])


class DraftBlob(Raw):
    """`$blob("weights/weight.bin", 64)`: the form of a BLOBFILE in a draft."""

    code = codes.SHORT_SPELLING

    def __init__(self, children: Sequence[Parsed]) -> None:
        super().__init__(children)
        self.message = f"this is short for `{blob_text(children[2], children[4])}`: write that, {INFER}"


def blob_text(path: str, offset: str) -> str:
    """Return the BLOBFILE text for a record's two tokens."""
    return f"BLOBFILE({blob_path(path)}, {blob_offset(offset)})"


def blob_path(token: str) -> str:
    """Return a BLOBFILE's field for a record's path; a path without an initial `@` is relative to the model's
    folder.
    """
    is_whole = name_of(f"${token}").startswith("@")
    whole = token if is_whole else f'"@model_path/{token[1:]}'
    return f"path = string({whole})"


def blob_offset(token: str) -> str:
    """Return a BLOBFILE's field for a record's offset."""
    return f"offset = uint64({token})"


def blob_message(path: bytes, offset: int) -> bytes:
    """Return a BlobFileValue."""
    return sized(fields.FILE_NAME, path) + (fields.OFFSET + varint(offset) if offset else b"")


_BLOB_FIELDS: dict[str, tuple[str, Callable[[str], bytes | int]]] = {
    "path": ("string", string_bytes),
    "offset": ("uint64", partial(whole_number, bits=64, signed=False)),
}
"""The data type of each field of a blob, and the function that reads it."""


def blob_field(name: str, value_type: LoweredType, token: str) -> bytes | int:
    """Return the contents of a blob's field, `path = string("...")` or `offset = uint64(64)`."""
    dtype, read = _BLOB_FIELDS[name]
    if value_type != scalar_type(BY_NAME[dtype]):
        raise LoweringError(
            codes.MALFORMED_BLOBFILE, 'a blob is written `BLOBFILE(path = string("..."), offset = uint64(...))`'
        )
    return read(token)
