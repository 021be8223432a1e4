"""The `coremldata.bin` of a compiled model: its kind, specification version and description.

Nobody publishes the format. What is read here is what the bundles of Apple's compiler have in common that are known,
in little-endian, each string and message after its length as a u64:

    u32 kind, the number of its field in Model; u32, 5 or 9 seen; 20 bytes, zeros but for pipelines
    a string, "generic" but for pipelines
    u32 specificationVersion; 28 bytes, zeros
    the serialized ModelDescription
    16 bytes for each function or nested model, kind and zeros

In a pipeline, `modelNames/coremldata.bin` has a u64 count and as many strings.
Sources: the six bundles of the tests' corpus; github.com/tmc/apple, x/coremlcompiler/coremldata.go; the README files
and fixtures of github.com/rebeckerspecialties/mlmodelc-export.
"""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

from miltext.models.refusals import refusal
from miltext.proto import ModelDescription
from miltext.proto.kinds import MODEL_KINDS

FILE_NAME = "coremldata.bin"

_HEAD = struct.Struct("<I24x")
_VERSION = struct.Struct("<I28x")
_LENGTH = struct.Struct("<Q")


class CoreMLData(NamedTuple):
    """What the file says of a model; `type` is the name of the model's field in `Model`."""

    type: str
    specification_version: int
    description: ModelDescription


def parse_coremldata(data: bytes, path: str | os.PathLike[str]) -> CoreMLData:
    """What the bytes of a `coremldata.bin` say. Raises ModelError (MIL258) when they are not laid out as is known."""
    try:
        (number,) = _HEAD.unpack_from(data)
        _, offset = _sized(data, _HEAD.size)
        (version,) = _VERSION.unpack_from(data, offset)
        description, _ = _sized(data, offset + _VERSION.size)
        return CoreMLData(MODEL_KINDS[number], version, ModelDescription.FromString(description))
    except Exception as failure:  # protobuf's backends have errors of their own
        raise refusal("MIL258", f"{FILE_NAME} is not laid out as any that is known", path) from failure


def parse_names(data: bytes, path: str | os.PathLike[str]) -> list[str]:
    """The names in a pipeline's `modelNames/coremldata.bin`. Raises ModelError (MIL258)."""
    try:
        (count,) = _LENGTH.unpack_from(data)
        names: list[str] = []
        offset = _LENGTH.size
        while len(names) < count:
            name, offset = _sized(data, offset)
            names.append(name.decode())
    except (struct.error, ValueError) as failure:
        raise refusal("MIL258", "the names of the pipeline's models cannot be read", path) from failure
    return names


def _sized(data: bytes, offset: int) -> tuple[bytes, int]:
    """What stands after its length, and where it ends."""
    (size,) = _LENGTH.unpack_from(data, offset)
    start = offset + _LENGTH.size
    if size > len(data) - start:
        raise ValueError("longer than the file")
    return data[start : start + size], start + size
