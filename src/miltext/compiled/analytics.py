"""The `analytics/coremldata.bin` of a compiled model: Core ML's counts for it, in named tables of strings.

A table consists of its name, a u64 count, and so many pairs of a key and a text; each string follows its length, a u64.
Source: all known compiled models, byte for byte.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from miltext.diagnostics import codes, refusing
from miltext.files.contents import kind_of_model, pipeline_of
from miltext.files.refusals import refusal

if TYPE_CHECKING:
    import os

    from miltext.schema.proto import Model

FILE_NAME = "analytics/coremldata.bin"

SOURCE = "SpecificationDetails"
"""The table about the compiled file; the stages of a pipeline lack it."""

HASH, NAME = "modelHash", "modelName"
"""Its keys: `source_hash` of the file, and its name without the ending."""

Tables = Mapping[str, Mapping[str, str]]

_LENGTH = struct.Struct("<Q")


def tables_of(model: Model) -> dict[str, dict[str, str]]:
    """Return the counts for a model, or for a stage."""
    pipeline = pipeline_of(model, kind_of_model(model))
    return counts(None if pipeline is None else len(pipeline.models))


def counts(models: int | None) -> dict[str, dict[str, str]]:
    """Return the counts for a pipeline with this number of models; for None, of any other model."""
    if models is None:
        return {"NeuralNetworkModelDetails": {"containsCustomLayer": "0", "modelDimension": "0"}}
    return {"PipelineModelDetails": {"modelDimension": str(models)}}


def details_of(source: tuple[bytes, str]) -> dict[str, dict[str, str]]:
    """Return the table about the `.mlmodel` of the whole model: its bytes, and its name without the ending."""
    data, name = source
    return {SOURCE: {HASH: source_hash(data), NAME: name}}


def source_hash(data: bytes) -> str:
    """Return the hash of a file's contents in the tables: its SHA-256 in base64."""
    return b64encode(sha256(data).digest()).decode()


def analytics(tables: Tables) -> bytes:
    """Return the bytes of an analytics file with these tables."""
    return b"".join(piece for name, table in tables.items() for piece in _table(name, table))


def _table(name: str, table: Mapping[str, str]) -> Iterator[bytes]:
    yield _string(name)
    yield _LENGTH.pack(len(table))
    for pair in table.items():
        yield from map(_string, pair)


def _string(text: str) -> bytes:
    data = text.encode(errors="replace")  # the name of a file may be other than UTF-8
    return _LENGTH.pack(len(data)) + data


def parse_analytics(data: bytes, path: str | os.PathLike[str]) -> dict[str, dict[str, str]]:
    """Return the tables in a file. Raise ModelError (MIL258) for an unknown layout."""
    with refusing(lambda _: refusal(codes.UNREADABLE_COMPILED_DESCRIPTION, f"{FILE_NAME} has an unknown layout", path)):
        reader = _BytesReader(data)
        found: dict[str, dict[str, str]] = {}
        while reader.offset < len(data):
            name = reader.string()
            if name in found:
                raise ValueError("a table twice")
            found[name] = reader.table()
        return found


class _BytesReader:
    """Numbers, strings and tables, one after another."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.offset = 0

    def number(self) -> int:
        (value,) = _LENGTH.unpack_from(self._data, self.offset)
        self.offset += _LENGTH.size
        return int(value)

    def table(self) -> dict[str, str]:
        count = self.number()
        found: dict[str, str] = {}
        for _ in range(count):
            key = self.string()
            if key in found:
                raise ValueError("a key twice")
            found[key] = self.string()
        return found

    def string(self) -> str:
        size = self.number()
        if size > len(self._data) - self.offset:
            raise ValueError("longer than the file")
        start, self.offset = self.offset, self.offset + size
        return self._data[start : self.offset].decode()
