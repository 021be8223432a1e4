"""The errors that lowering raises for a phrase that no Program can contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.schema.paths import TOO_DEEP
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from miltext.schema.paths import Path

TOO_NESTED = "this is nested too deeply to be a Program"

INFER = "or have `miltext infer` fill in the draft"
"""The way out for all draft spellings."""


def no_dialect(written: str) -> str:
    """Return the message for a `program(...)` with an unknown version of MIL text."""
    return f"unknown version {shown(written)} of MIL text; write 1.0 or 1.3"


class LoweringError(Exception):
    """A phrase that cannot be lowered.

    `at` is the token or the index of the child at fault, None for the whole phrase; `start` and `end` limit the error
    to a part of that token. `suggestion` is the replacement text, `first` the token of an earlier definition.
    """

    def __init__(
        self,
        code: str,
        message: str,
        at: str | int | None = None,
        start: int = 0,
        end: int | None = None,
        suggestion: str | None = None,
        first: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.at = at
        self.start = start
        self.end = end
        self.suggestion = suggestion
        self.first = first


class NamesInBrackets(LoweringError):
    """Names of values in brackets: their meaning depends on the parameter of the argument."""


class TooDeep(Exception):
    """A message is nested more deeply than protobuf reads; `step` is the path of the first such message."""

    def __init__(self, step: Path) -> None:
        super().__init__(TOO_DEEP)
        self.step = step
