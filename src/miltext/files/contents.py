"""Reading the contents of models: bytes, their kind, UTF-8 text, and Model messages."""

from __future__ import annotations

import codecs as encodings
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from google.protobuf.unknown_fields import UnknownFieldSet

from miltext.diagnostics import ModelError, codes, refusing
from miltext.files.foreign import refuse_foreign
from miltext.files.refusals import reason_of, refusal
from miltext.schema.proto import Int64FeatureType, Program
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import MODEL_KINDS, PROGRAM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from miltext.schema.proto import Message, Pipeline

LFS_POINTER = b"version https://git-lfs"
"""The beginning of a git-lfs pointer, the file in place of a git-lfs file in a git repository."""

_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")

_FIELDS = "|".join(field.name for field in Program.DESCRIPTOR.fields)
_PROTOBUF_TEXT = rf"\s*(#|({_FIELDS})\s*[:{{<])".encode()
"""The expression for the beginning of protobuf's text of a Program: a comment or a field."""

AnyMessage = TypeVar("AnyMessage", bound="Message")

_PIPELINES: dict[str | None, Callable[[Spec], Pipeline]] = {
    "pipeline": lambda spec: spec.pipeline,
    "pipelineClassifier": lambda spec: spec.pipelineClassifier.pipeline,
    "pipelineRegressor": lambda spec: spec.pipelineRegressor.pipeline,
}
"""The Pipeline in a Model message, by the kind of the model."""


_WIDE = {
    encodings.BOM_UTF32_LE: "utf-32",  # begins with the mark of UTF-16
    encodings.BOM_UTF32_BE: "utf-32",
    encodings.BOM_UTF16_LE: "utf-16",
    encodings.BOM_UTF16_BE: "utf-16",
}
"""Encodings by their byte order marks, without UTF-8."""


def read_file(path: Path) -> bytes:
    """Return the bytes of a file. Raise ModelError: MIL250 when it cannot be read, MIL252 for a git-lfs pointer."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as failure:
        raise refusal(codes.UNREADABLE_FILE, "the file or folder does not exist", path) from failure
    except (OSError, ValueError) as failure:
        raise refusal(codes.UNREADABLE_FILE, f"the file cannot be read: {reason_of(failure)}", path) from failure
    refuse_pointer(data, path)
    return data


def refuse_pointer(data: bytes, name: str | Path) -> None:
    """Raise ModelError (MIL252) for the bytes of a git-lfs pointer."""
    if data.startswith(LFS_POINTER):
        raise refusal(codes.LFS_POINTER_OF_MODEL, "this is a git-lfs pointer instead of the file", name)


def read_inside(folder: Path, name: str, most: int | None = None) -> bytes:
    """Return the bytes of a file that belongs to the model in `folder`. Raise ModelError as `inside` and `read_file`,
    and MIL258 for more than `most` bytes; all errors name the file.
    """
    try:
        path = inside(folder, name)
    except ModelError as failure:
        failure.path = os.fspath(folder / name)
        raise
    with suppress(OSError):  # reading reports the error
        if most is not None and (size := path.stat().st_size) > most:
            raise refusal(
                codes.UNREADABLE_COMPILED_DESCRIPTION,
                f"{name} has {size} bytes, which is far more than the compiler writes",
                path,
            )
    return read_file(path)


def inside(folder: Path, name: str) -> Path:
    """Return the path of a regular file in `folder`, if `name` leads to one.

    Raise ModelError (MIL255) as `within` does, and for a missing file or an irregular one.
    """
    path = within(folder, name)
    with refusing(lambda failure: _untraceable(name, folder, failure)):
        is_file = path.is_file()
    if not is_file:
        what = "is not a file" if os.path.lexists(path) else "does not exist"
        raise refusal(codes.INCONSISTENT_PACKAGE, f"the file `{name}` {what}", folder)
    return path


LOOKED_FOR = "miltext.looked_for"
"""The event of an audit hook about a file that a model or a text names: a missing one is never opened."""


def within(folder: Path, name: str) -> Path:
    """Return the path of `name` in `folder`, whether it exists or not.

    Raise ModelError (MIL255) for a name that leads outside, through `..`, a link or an absolute path.
    """
    with refusing(lambda failure: _untraceable(name, folder, failure)):
        root = os.path.realpath(folder)
        real = Path(os.path.realpath(os.path.join(root, name)))
    if not real.is_relative_to(root):
        raise refusal(codes.INCONSISTENT_PACKAGE, f"`{name}` leads outside", folder)
    sys.audit(LOOKED_FOR, str(real))
    return folder / name


def _untraceable(name: str, folder: Path, failure: Exception) -> ModelError:
    return refusal(codes.INCONSISTENT_PACKAGE, f"`{name}` cannot be followed: {reason_of(failure)}", folder)


def kind_of_data(data: bytes) -> str:
    """Return the kind of a model's file by its content: `mlmodel`, `pb`, `txtpb` or `mil`."""
    if is_binary(data):
        return "mlmodel" if _is_spec(data) else "pb"
    return "txtpb" if is_protobuf_text(data) else "mil"


def is_binary(data: bytes) -> bool:
    """Return whether bytes are a serialized message rather than text, by their beginning.

    Text begins with a printable character or white space; the first byte of a message is the tag of a field, which is
    neither for Program and Model, except for a tag that text never begins with.
    """
    first = data[:1]
    if first == b'"':  # a Program that begins with its attributes
        return True
    return not (first.isspace() or b"!" <= first <= b"~" or data.startswith(_BYTE_ORDER_MARKS))


def is_protobuf_text(data: bytes) -> bool:
    """Return whether text is protobuf's text of a Program; otherwise it is MIL text."""
    return re.match(_PROTOBUF_TEXT, data) is not None


def mil_text(data: bytes, name: str) -> str:
    """Return the MIL text in a file. Raise ModelError: MIL253 for a file of another format, else as `decode`."""
    refuse_foreign(data, name)
    return decode(data, name)


def decode(data: bytes, name: str) -> str:
    """Return the text in bytes, with its newlines unchanged.

    Raise ModelError: MIL256 for an empty file or bytes outside UTF-8, MIL252 for a git-lfs pointer.
    """
    refuse_pointer(data, name)
    if not data:
        raise refusal(codes.NOT_A_TEXT_FILE, "the file is empty", name)
    if b"\0" in data:
        raise refusal(
            codes.NOT_A_TEXT_FILE, f"this is binary data, not text: {_place(data, data.index(0))} is a NUL", name
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as failure:
        found = f"{_place(data, failure.start)} is 0x{data[failure.start]:02x}"
        raise refusal(codes.NOT_A_TEXT_FILE, f"this is not UTF-8 text: {found}", name) from failure


def wide_text(data: bytes, name: str) -> str | None:
    """Return UTF-16 or UTF-32 text that begins with a byte order mark, as shells of Windows write; None for other data.

    Raise ModelError (MIL256) for bytes outside the encoding.
    """
    encoding = next((each for mark, each in _WIDE.items() if data.startswith(mark)), None)
    if encoding is None:
        return None
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as failure:
        line = data[: failure.start].decode(encoding, "ignore").count("\n") + 1
        found = f"the bytes from offset {failure.start}, in line {line}, are no character"
        raise refusal(codes.NOT_A_TEXT_FILE, f"this is not {encoding.upper()} text: {found}", name) from failure


def _place(data: bytes, offset: int) -> str:
    line = data.count(b"\n", 0, offset) + 1
    return f"the byte at offset {offset}, in line {line},"


def parse_text(text: str, name: str) -> Program:
    """Return the Program of MIL text; the parser is imported only here."""
    from miltext.parsing.parser import parse

    return parse(text, path=name)


# ---- messages


def parse_spec(data: bytes, name: str) -> Spec:
    """Return the Model message in bytes. Raise ModelError (MIL253) for other bytes."""
    return _parse(Spec, data, "Core ML model", name)


def parse_program(data: bytes, name: str) -> Program:
    """Return the Program in bytes. Raise ModelError (MIL253) for other bytes."""
    return _parse(Program, data, "serialized Program", name)


def _parse(kind: type[AnyMessage], data: bytes, what: str, name: str) -> AnyMessage:
    if not data:
        raise refusal(codes.NOT_A_MODEL, "the file is empty", name)
    message = f"these bytes are not a {what}: they are damaged, cut short, or something else"
    with refusing(lambda _: refusal(codes.NOT_A_MODEL, message, name)):
        return kind.FromString(data)


def specification_version(number: int) -> int:
    """Return the number, if it is a valid specificationVersion. Raise ValueError."""
    return Spec(specificationVersion=number).specificationVersion


def kind_of_model(spec: Spec) -> str | None:
    """Return the kind of model in a Model message, by the name of its field; None if it is empty."""
    return spec.WhichOneof("Type") or _undeclared_kind(spec)


def pipeline_of(spec: Spec, kind: str | None) -> Pipeline | None:
    """Return the Pipeline in a Model message of a kind; None if a model of that kind is not a pipeline."""
    return _PIPELINES[kind](spec) if kind in _PIPELINES else None


def stages(spec: Spec) -> Sequence[Spec]:
    """Return the models of a Model message; none unless it is a pipeline."""
    pipeline = pipeline_of(spec, spec.WhichOneof("Type"))
    return pipeline.models if pipeline else ()


def shell(spec: Spec) -> Spec:
    """Return a Model message without its ML Program; for a pipeline, without its models and their names."""
    made = type(spec)()
    made.CopyFrom(spec)
    made.ClearField(PROGRAM)
    pipeline = pipeline_of(made, made.WhichOneof("Type"))
    if pipeline is not None:
        pipeline.ClearField("models")
        pipeline.ClearField("names")
        pipeline.SetInParent()
    return made


def _is_spec(data: bytes) -> bool:
    """Return whether bytes are a Model rather than a Program: a Model has a field of its Type, a Program does not."""
    try:
        fields = Int64FeatureType.FromString(data)  # a message without fields takes any as unknown ones
    except Exception:  # noqa: BLE001 - what is not a message is not a Model
        return False
    return _undeclared_kind(fields) is not None


def unknown_fields(message: Message) -> list[int]:
    """Return the numbers of a message's fields that the schema lacks, each once."""
    fields = UnknownFieldSet(message)
    return [*dict.fromkeys(fields[index].field_number for index in range(len(fields)))]


def _undeclared_kind(message: Message) -> str | None:
    """Return the kind of model, from a message's unknown fields."""
    return next((MODEL_KINDS[number] for number in unknown_fields(message) if number in MODEL_KINDS), None)
