"""Errors of coremltools' own loader in a program, at the place of the operation concerned.

The loader stops at its first error, and rejects more than Core ML does: its error is reported as a warning.
"""

from __future__ import annotations

from traceback import walk_tb
from types import FrameType
from typing import TYPE_CHECKING, Any

from miltext.checking.findings import Finding
from miltext.diagnostics import codes
from miltext.schema.walk import operations
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.paths import Path


OPERATION = "CoreML.Specification.MILSpec.Operation"
"""The full name of an operation's message in coremltools' copy of the schema."""

LONG = 300
"""The greatest number of quoted characters of the loader's error; a longer text is cut."""


def loader_findings(model: Model) -> list[Finding]:
    """Return the error of coremltools' loader in a model's program, if any, or the reason why the loader cannot run.

    Raise ModelError: MIL480 without coremltools; and the errors of reading the program.
    """
    from miltext.diagnostics import ModelError
    from miltext.pymil.loading import loader_of

    try:
        spec, load = loader_of(model)
    except ModelError as refused:
        reason = refused.diagnostics[0]
        if reason.code == codes.NO_COREMLTOOLS:
            raise
        return [Finding((), reason.code, f"coremltools cannot check this: {reason.message}", severity="warning")]
    try:
        load()
    except Exception as failure:  # noqa: BLE001  # any failure of the loader is its complaint
        message = f"coremltools does not load this: {_text_of(failure)}"
        return [Finding(_place(failure, spec.mlProgram), codes.NOT_LOADABLE, message, severity="warning")]
    return []


def _place(failure: Exception, program: Any) -> Path:
    """Return the path of the type of the innermost operation that the loader was reading, else the program's path.

    The failed calls have the operation's message among their arguments.
    """
    calls = [frame for frame, _ in walk_tb(failure.__traceback__)]
    reading = [given for frame in calls for given in _arguments(frame) if _is_operation(given)]
    if not reading:
        return ()
    return next(((*path, "type") for path, each in operations(program) if each is reading[-1]), ())


def _arguments(frame: FrameType) -> list[Any]:
    """Return the arguments of a call."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    return [frame.f_locals[name] for name in names if name in frame.f_locals]


def _is_operation(given: Any) -> bool:
    return getattr(getattr(given, "DESCRIPTOR", None), "full_name", "") == OPERATION


def _text_of(failure: Exception) -> str:
    """Return the text of an exception, after the exception's name if the text is only a key."""
    first = failure.args[0] if failure.args else ""
    said = " ".join((first if isinstance(first, str) else str(failure)).split())
    return shown(said, LONG) if " " in said else f"{type(failure).__name__}: {shown(said, LONG)}".rstrip(": ")
