"""The `coremldata.bin` of a compiled model: its kind, specification version and description.

The format is not published. This module reads the common form of the known bundles of Apple's compiler. Numbers are in
little-endian, and each string and message comes after its length as a u64:

    u32 kind, the number of its field in Model; u32, the version of its form; 20 bytes, zeros except for pipelines
    a string, its form: "generic" except for pipelines
    u32 specificationVersion; 28 bytes, zeros
    the serialized ModelDescription
    16 bytes for each function, kind and zeros; in a pipeline, u64 count of its models and u64 kind

The form's version of an ML Program follows from its specification version, by `FORM_VERSIONS`. It is 1 for a pipeline,
whose 20 bytes have a u32 of 1 at 12. A pipeline's form names its models' forms: after "generic",
for each in turn `.model0v5.0.0` with its number and its form's version, and its own form.

A stage of another kind than a network, such as non-maximum suppression, has the version 1 of its form, the string
"spec", and after the 28 zeros the whole serialized Model, without a length and up to the end of the file.

In a pipeline, `modelNames/coremldata.bin` has a u64 count and as many strings.
Sources: the seven bundles of the tests' corpus; github.com/tmc/apple, x/coremlcompiler/coremldata.go; the README files
and fixtures of github.com/rebeckerspecialties/mlmodelc-export. For specification version 8: the sizes and digests that
git-lfs states of two files of github.com/FluidInference/FluidAudio, with the entries of their maps in one order.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from typing import NamedTuple

from miltext.diagnostics import codes, refusing
from miltext.files.contents import kind_of_model, pipeline_of, specification_version
from miltext.files.refusals import refusal
from miltext.schema.proto import Model, ModelDescription
from miltext.schema.proto.kinds import MODEL_KINDS, PIPELINES, PROGRAM

FILE_NAME = "coremldata.bin"

TEXT = "model.mil"
"""The file with the program, in the same folder."""

NAMES = f"modelNames/{FILE_NAME}"
"""The file with the names of the models of a pipeline."""

_HEAD = struct.Struct("<II20s")
_VERSION = struct.Struct("<I28s")
_LENGTH = struct.Struct("<Q")

_WHOLE = b"spec"
"""The name of the form with the whole Model rather than its description."""

_GENERIC = "generic"
"""The name of the form of any other file."""

FORM_VERSIONS = {6: 5, 7: 5, 8: 8, 9: 9, 10: 9}
"""The version of the form of an ML Program, by its specification version."""

WHOLE_STAGES = ("nonMaximumSuppression",)
"""The kinds of a pipeline's stages whose file is known to contain the whole Model."""


class CoreMLData(NamedTuple):
    """The file's facts about a model: `type` is its field in `Model`, `spec` the whole Model if the file contains it,
    and `models` the number of a pipeline's models, None for any other model and for a cut file.
    """

    type: str
    specification_version: int
    description: ModelDescription
    spec: Model | None = None
    models: int | None = None


class CoremlData(NamedTuple):
    """The parts of the file, in their order. `held` is the description or, in the form for it, the whole Model."""

    number: int
    form_version: int
    head: bytes
    form: bytes
    specification_version: int
    zeros: bytes
    held: bytes
    end: bytes

    @property
    def is_whole(self) -> bool:
        """Whether the file contains the whole Model."""
        return self.form == _WHOLE


def layout(data: bytes, path: str | os.PathLike[str]) -> CoremlData:
    """Return the parts of a `coremldata.bin`. Raise ModelError (MIL258) for an unknown layout."""
    with refusing(lambda _: refusal(codes.UNREADABLE_COMPILED_DESCRIPTION, f"{FILE_NAME} has an unknown layout", path)):
        number, form_version, head = _HEAD.unpack_from(data)
        form, offset = _sized(data, _HEAD.size)
        version, zeros = _VERSION.unpack_from(data, offset)
        offset += _VERSION.size
        held, end = (data[offset:], len(data)) if form == _WHOLE else _sized(data, offset)
        return CoremlData(number, form_version, head, form, version, zeros, held, data[end:])


def parse_coremldata(data: bytes, path: str | os.PathLike[str]) -> CoreMLData:
    """Return the contents of the bytes of a `coremldata.bin`. Raise ModelError (MIL258) for an unknown layout."""
    parts = layout(data, path)
    with refusing(lambda _: refusal(codes.UNREADABLE_COMPILED_DESCRIPTION, f"{FILE_NAME} has an unknown layout", path)):
        kind, version = MODEL_KINDS[parts.number], specification_version(parts.specification_version)
        if parts.is_whole:
            return _whole(kind, version, parts.held)
        count = int.from_bytes(parts.end[:8], "little") if kind in PIPELINES and len(parts.end) == 16 else None
        return CoreMLData(kind, version, ModelDescription.FromString(parts.held), models=count)


def expected_layout(found: CoremlData, functions: int, stages: Iterable[CoremlData]) -> CoremlData | None:
    """Return the parts that Apple's compiler would write for a model of this kind, with these functions or stages.

    Parts without a known rule are as found; None for an unknown kind.
    """
    kind, inner = MODEL_KINDS.get(found.number), list(stages)
    zeros = found._replace(head=bytes(len(found.head)), zeros=bytes(len(found.zeros)))
    if found.is_whole:
        return zeros._replace(form_version=1)
    if kind == PROGRAM:
        version = FORM_VERSIONS.get(found.specification_version, found.form_version)
        end = struct.pack("<I12x", found.number) * max(functions, 1)
        return zeros._replace(form_version=version, form=_GENERIC.encode(), end=end)
    if kind != "pipeline":
        return None
    named = [b".model%dv%d.0.0" % (index, each.form_version) + each.form for index, each in enumerate(inner)]
    head, end = struct.pack("<12xI4x", 1), struct.pack("<QQ", len(inner), found.number)
    return zeros._replace(form_version=1, head=head, form=_GENERIC.encode() + b"".join(named), end=end)


def _whole(kind: str, version: int, data: bytes) -> CoreMLData:
    """Return the contents of a file with the whole Model, which must have the same kind and version."""
    spec = Model.FromString(data)
    if (kind_of_model(spec), spec.specificationVersion) != (kind, version):
        raise ValueError("the model is another one")
    return CoreMLData(kind, version, spec.description, spec)


def coremldata(spec: Model) -> bytes:
    """Return the `coremldata.bin` of an ML Program, of a stage in `WHOLE_STAGES`, or of a pipeline of such models.

    The result is verified for the versions in `FORM_VERSIONS`.
    """
    parts = _parts(spec)
    head = _HEAD.pack(parts.number, parts.form_version, parts.head)
    version = _VERSION.pack(parts.specification_version, parts.zeros)
    held = parts.held if parts.is_whole else _with_size(parts.held)
    return b"".join([head, _with_size(parts.form), version, held, parts.end])


def _parts(spec: Model) -> CoremlData:
    """Return the parts of the file of a model of a known form."""
    kind = kind_of_model(spec) or ""
    number = next(each for each, name in MODEL_KINDS.items() if name == kind)
    if kind in WHOLE_STAGES:
        form, held = _WHOLE, spec.SerializeToString(deterministic=True)
    else:
        form, held = _GENERIC.encode(), _description(spec)
    zeros = bytes(20), bytes(28)
    plain = CoremlData(number, form_version(spec), zeros[0], form, spec.specificationVersion, zeros[1], held, b"")
    pipeline = pipeline_of(spec, kind)
    inner = map(_parts, pipeline.models) if pipeline is not None else ()
    parts = expected_layout(plain, len(spec.description.functions), inner)
    assert parts is not None
    return parts


def _description(spec: Model) -> bytes:
    """Return the serialized description of a model, with an empty metadata message if there is none."""
    description = ModelDescription.FromString(spec.description.SerializeToString())
    description.metadata.SetInParent()
    return description.SerializeToString(deterministic=True)


def form_version(spec: Model) -> int:
    """Return the version of the form of a model; for ML Programs, `FORM_VERSIONS` contains the known versions."""
    if kind_of_model(spec) != PROGRAM:
        return 1
    earlier = [form for version, form in FORM_VERSIONS.items() if version <= spec.specificationVersion]
    return max(earlier, default=min(FORM_VERSIONS.values()))


def names_data(names: Iterable[str]) -> bytes:
    """Return the `modelNames/coremldata.bin` of a pipeline."""
    listed = [_with_size(name.encode()) for name in names]
    return b"".join([_LENGTH.pack(len(listed)), *listed])


def _with_size(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


def parse_names(data: bytes, path: str | os.PathLike[str]) -> list[str]:
    """Return the names in a pipeline's `modelNames/coremldata.bin`. Raise ModelError (MIL258)."""
    with refusing(
        lambda _: refusal(
            codes.UNREADABLE_COMPILED_DESCRIPTION, "the names of the pipeline's models cannot be read", path
        )
    ):
        (count,) = _LENGTH.unpack_from(data)
        names: list[str] = []
        offset = _LENGTH.size
        while len(names) < count:
            name, offset = _sized(data, offset)
            names.append(name.decode())
        return names


def _sized(data: bytes, offset: int) -> tuple[bytes, int]:
    """Return the bytes after their length, and their end."""
    (size,) = _LENGTH.unpack_from(data, offset)
    start = offset + _LENGTH.size
    if size > len(data) - start:
        raise ValueError("longer than the file")
    return data[start : start + size], start + size
