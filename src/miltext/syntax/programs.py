"""Conversion of any message with the full name of a Program to miltext's own class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from miltext.diagnostics import PrintError, codes, error
from miltext.schema.paths import LIMIT, TOO_DEEP, Key, Path, depth
from miltext.schema.proto import Model, Program
from miltext.schema.walk import messages
from miltext.schema.wire import sized, tag
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.schema.proto import Message


PROGRAM_IN_MODEL = 502
"""The number of `Model.mlProgram`."""

FULL_NAME = "CoreML.Specification.MILSpec.Program"


def require_program(message: Message) -> None:
    """Raise TypeError if a message is not a Program, of any pool."""
    if getattr(getattr(message, "DESCRIPTOR", None), "full_name", None) != FULL_NAME:
        raise TypeError(
            f"expected a Program, a message {FULL_NAME}, got {type(message).__name__}: "
            "`miltext.parse` makes one of a text, and `miltext.load(path).program` is that of a model"
        )


def own_copy(program: Message, take_out: Callable[[bytes], bytes] | None = None) -> Program:
    """Return a Program of miltext's own with the contents of `program`, without the parts that `take_out` removes from
    its wire form.

    Raise PrintError if it is nested more deeply than protobuf reads, or has fields that the schema lacks, which would
    be lost; TypeError if it is not a Program.
    """
    require_program(program)
    try:
        wire = whole = program.SerializeToString(deterministic=True)
        if take_out is not None:
            wire = take_out(whole)
        copy = _inside_model(wire)
    except Exception as failure:  # each of protobuf's backends has an error of its own for it
        path = next((path for path, _ in messages(program) if depth(path) > LIMIT), None)
        if path is None:
            raise
        raise PrintError([error(codes.NESTED_TOO_DEEPLY, f"{TOO_DEEP}: {spelled(path)}")]) from failure
    copy.DiscardUnknownFields()
    if copy.ByteSize() != len(wire):
        raise PrintError([error(codes.UNKNOWN_FIELD, _unknown(_inside_model(whole)))])
    return copy


def _inside_model(wire: bytes) -> Program:
    return Model.FromString(sized(tag(PROGRAM_IN_MODEL), wire)).mlProgram


def _unknown(program: Message) -> str:
    """Return the error about a field, and its message, that the schema lacks."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    message, path, number = next(
        (message, path, unknown.field_number)
        for path, message in messages(program)
        for unknown in cast("Any", UnknownFieldSet(message))  # its type does not declare that it iterates
    )
    where = f"{message.DESCRIPTOR.name} at {spelled(path)}" if path else message.DESCRIPTOR.name
    return f"field {number} of {where} is not in the schema that this version of miltext knows, and would be lost"


def spelled(path: Path) -> str:
    """Return a path for people: `functions["main"].block_specializations["CoreML8"].operations[3]`.

    The middle of a long path is omitted.
    """
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f"[{quote(step)}]" if isinstance(step, Key) else f".{step}"
    text = text.lstrip(".")
    return text if len(text) <= 200 else f"{text[:97]}...{text[-100:]}"
