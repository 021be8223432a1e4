"""The `coremldata.bin` of a compiled model: its kind, specification version and description.

The format is not published. This module reads what the known bundles of Apple's compiler have in common. Numbers are in
little-endian, and each string and message stands after its length as a u64:

    u32 kind, the number of its field in Model; u32, 5 or 9 seen; 20 bytes, zeros except for pipelines
    a string, "generic" except for pipelines
    u32 specificationVersion; 28 bytes, zeros
    the serialized ModelDescription
    16 bytes for each function or nested model, kind and zeros

A stage of a pipeline that is not a network, such as non-maximum suppression, has the string "spec", and after the 28
zeros the whole serialized Model, without a length and up to the end of the file.

In a pipeline, `modelNames/coremldata.bin` has a u64 count and as many strings.
Sources: the seven bundles of the tests' corpus; github.com/tmc/apple, x/coremlcompiler/coremldata.go; the README files
and fixtures of github.com/rebeckerspecialties/mlmodelc-export.
"""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

from miltext.diagnostics import refusing
from miltext.models.contents import kind_of_model, specification_version
from miltext.models.refusals import refusal
from miltext.schema.proto import Model, ModelDescription
from miltext.schema.proto.kinds import MODEL_KINDS

FILE_NAME = "coremldata.bin"

_HEAD = struct.Struct("<I24x")
_VERSION = struct.Struct("<I28x")
_LENGTH = struct.Struct("<Q")

_WHOLE = b"spec"
"""The string of a file that holds the whole Model rather than its description."""


class CoreMLData(NamedTuple):
    """What the file says about a model: `type` is its field in `Model`, `spec` the whole Model where that is there."""

    type: str
    specification_version: int
    description: ModelDescription
    spec: Model | None = None


def parse_coremldata(data: bytes, path: str | os.PathLike[str]) -> CoreMLData:
    """Return what the bytes of a `coremldata.bin` say. Raise ModelError (MIL258) for an unknown layout."""
    with refusing(lambda _: refusal("MIL258", f"{FILE_NAME} has an unknown layout", path)):
        (number,) = _HEAD.unpack_from(data)
        form, offset = _sized(data, _HEAD.size)
        (version,) = _VERSION.unpack_from(data, offset)
        offset += _VERSION.size
        if form == _WHOLE:
            return _whole(MODEL_KINDS[number], version, data[offset:])
        description, _ = _sized(data, offset)
        return CoreMLData(MODEL_KINDS[number], specification_version(version), ModelDescription.FromString(description))


def _whole(kind: str, version: int, data: bytes) -> CoreMLData:
    """Return what a file with the whole Model says; kind and version must be those of the Model."""
    spec = Model.FromString(data)
    if (kind_of_model(spec), spec.specificationVersion) != (kind, version):
        raise ValueError("the model is another one")
    return CoreMLData(kind, version, spec.description, spec)


def parse_names(data: bytes, path: str | os.PathLike[str]) -> list[str]:
    """Return the names in a pipeline's `modelNames/coremldata.bin`. Raise ModelError (MIL258)."""
    with refusing(lambda _: refusal("MIL258", "the names of the pipeline's models cannot be read", path)):
        (count,) = _LENGTH.unpack_from(data)
        names: list[str] = []
        offset = _LENGTH.size
        while len(names) < count:
            name, offset = _sized(data, offset)
            names.append(name.decode())
        return names


def _sized(data: bytes, offset: int) -> tuple[bytes, int]:
    """Return what stands after its length, and where it ends."""
    (size,) = _LENGTH.unpack_from(data, offset)
    start = offset + _LENGTH.size
    if size > len(data) - start:
        raise ValueError("longer than the file")
    return data[start : start + size], start + size
