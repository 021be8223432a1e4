"""Errors about a model's files, about weights and about the writing of a model, each with its way out."""

from __future__ import annotations

import os
from typing import NamedTuple

from miltext.diagnostics import ModelError, Note, codes, error
from miltext.syntax.literals import quote


class BlamedPart(NamedTuple):
    """The part of a program that a ModelError is about, by its `kind`.

    A `weight` has the name of its file, an `array` its mark; an `input`, `state`, `output` or `opset` has its own name
    and its function's.
    """

    kind: str
    name: str
    function: str = ""


class WeightsError(ModelError):
    """An unreadable or unwritable weight file, or a refused name of one: MIL301 to MIL311."""


def reason_of(failure: Exception) -> str:
    """Return the reason for a failure, in the words of the system or of the reader, without a path or the name of a
    Python class.

    A missing key is named.
    """
    if isinstance(failure, KeyError):
        return f"it has no {quote(str(failure.args[0]))}"
    if isinstance(failure, OSError) and failure.strerror:
        return failure.strerror
    return str(failure) or "it is in another form"


def refusal(
    code: str, message: str, path: str | os.PathLike[str] | None = None, *notes: Note, about: BlamedPart | None = None
) -> ModelError:
    """Return a ModelError, for MIL30x a WeightsError, with the problem and the way out.

    `path` is its file, and `about` its Subject in the program.
    """
    kind = WeightsError if code.startswith(("MIL30", "MIL31")) else ModelError
    name = None if path is None else os.fspath(path)
    made = kind([error(code, message, None, *notes, Note(codes.TABLE[code].way_out))], path=name)
    made.about = about
    return made
