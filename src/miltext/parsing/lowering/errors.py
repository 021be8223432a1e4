"""The errors that lowering raises for a phrase that no Program can contain."""

from __future__ import annotations

INFER = "or have `miltext infer` fill in the draft"
"""The way out that all phrases of a draft have."""


class LoweringError(Exception):
    """A phrase that cannot be lowered.

    `at` is the token or the index of the child to blame, None for the whole phrase; `start` and `end` narrow it to a
    part of that token. `suggestion` is the text to write in its place.
    """

    def __init__(
        self,
        code: str,
        message: str,
        at: str | int | None = None,
        start: int = 0,
        end: int | None = None,
        suggestion: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.at = at
        self.start = start
        self.end = end
        self.suggestion = suggestion


class NamesInBrackets(LoweringError):
    """Names of values in brackets: their meaning depends on the parameter that they are given to."""
