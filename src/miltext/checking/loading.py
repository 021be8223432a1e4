"""What coremltools' own loader says of a program, at the place of the operation that it says it of.

The loader stops at the first thing that it does not take, and takes less than Core ML does: what it says is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from miltext.checking.findings import Finding
from miltext.diagnostics import codes
from miltext.schema.paths import Key, Path
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from miltext.models.model import Model


LONG = 300
"""The most characters that are quoted of what the loader says; a longer text is cut."""


def loader_findings(model: Model) -> list[Finding]:
    """Return the complaint of coremltools' loader about a model's program, if it has one, or why it cannot be asked.

    Raise ModelError: MIL480 without coremltools; and what asking for the program raises.
    """
    from miltext.coreml import to_pymil
    from miltext.diagnostics import ModelError

    at: list[Path] = []

    def watched(spec: Any) -> _Watched:
        at.append(())
        return _Watched(spec, (), at)

    try:
        to_pymil(model, watched=watched)
    except ModelError as refused:
        reason = refused.diagnostics[0]
        if reason.code == codes.NO_COREMLTOOLS:
            raise
        return [Finding((), reason.code, f"coremltools cannot be asked: {reason.message}", severity="warning")]
    except Exception as failure:  # whatever the loader runs into is what it says
        if not at:  # the loader was not reached
            raise
        path = (*at[-1], "type") if at[-1] else ()
        return [
            Finding(path, codes.NOT_LOADABLE, f"coremltools does not load this: {_said(failure)}", severity="warning")
        ]
    return []


def _said(failure: Exception) -> str:
    """Return what an exception says; of one that says no more than a key, its name too."""
    first = failure.args[0] if failure.args else ""
    said = " ".join((first if isinstance(first, str) else str(failure)).split())
    return shown(said, LONG) if " " in said else f"{type(failure).__name__}: {shown(said, LONG)}".rstrip(": ")


class _Watched:
    """A message of coremltools' that its reader takes for the message itself, and that tells where the reader is.

    `at` has the paths of the operations that are being read, each inside the one before it.
    """

    def __init__(self, message: Any, path: Path, at: list[Path]) -> None:
        self._message = message
        self._path = path
        self._at = at

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self._message.__class__

    def __getattr__(self, field: str) -> Any:
        held = getattr(self._message, field)
        if field == "mlProgram":
            return _Watched(held, (), self._at)
        if field in ("functions", "block_specializations"):
            return {key: self._inside(held[key], field, Key(key)) for key in held}
        if field == "blocks":
            return [self._inside(block, field, index) for index, block in enumerate(held)]
        return self._operations(held) if field == "operations" else held

    def _inside(self, message: Any, field: str, place: int | Key) -> _Watched:
        return _Watched(message, (*self._path, field, place), self._at)

    def _operations(self, messages: Any) -> Iterator[_Watched]:
        for index, message in enumerate(messages):
            self._at.append((*self._path, "operations", index))
            yield self._inside(message, "operations", index)
            self._at.pop()  # a reader that fails does not come back
