"""Programs by themselves: MIL text, a serialized Program, and a Program in protobuf's text format."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from google.protobuf import text_format

from miltext.containers.opened import OpenedModel
from miltext.diagnostics import ModelError, Note, Span, codes, error, refusing
from miltext.files.contents import decode, parse_program, parse_text
from miltext.schema.proto import Program


class TextModel(OpenedModel):
    """A program as MIL text, which is parsed at the first use of `program`."""

    def __init__(self, data: bytes, name: str, path: Path | None) -> None:
        super().__init__("mil", name, path, path.parent if path else None)
        self._text = decode(data, name)

    @property
    def text(self) -> str:
        return self._text

    @cached_property
    def program(self) -> Program:
        return parse_text(self._text, self.name)


class BareProgram(OpenedModel):
    """A Program by itself, from its serialized form (`pb`) or from protobuf's text format (`txtpb`)."""

    def __init__(self, kind: str, program: Program, name: str, path: Path | None) -> None:
        super().__init__(kind, name, path, path.parent if path else None)
        self.program = program

    @classmethod
    def read(cls, kind: str, data: bytes, name: str, path: Path | None) -> BareProgram:
        """Return the program in the bytes of a file."""
        is_text = kind == "txtpb"
        program = _from_protobuf_text(decode(data, name), name) if is_text else parse_program(data, name)
        return cls(kind, program, name, path)


def _from_protobuf_text(text: str, name: str) -> Program:
    with refusing(lambda failure: _mistake(failure, text, name)):
        return text_format.Parse(text, Program())


def _mistake(failure: Exception, text: str, name: str) -> ModelError:
    """Return protobuf's error for a text, at the place in its message."""
    message, span = str(failure) or type(failure).__name__, None
    if isinstance(failure, RecursionError):
        message = "this is nested too deeply to be a Program"
    elif isinstance(failure, text_format.ParseError) and (line := failure.GetLine()) is not None:
        span = _span(text, line, failure.GetColumn() or 1)
    message = message.partition(" : ")[2] or message
    return ModelError(
        [error(codes.PROTOBUF_TEXT_ERROR, message, span, Note(codes.TABLE[codes.PROTOBUF_TEXT_ERROR].way_out))],
        text=text,
        path=name,
    )


def _span(text: str, line: int, column: int) -> Span:
    """Return a place from protobuf's lines and columns, which count from 1."""
    start = sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + column - 1
    return Span(start, start + 1)
