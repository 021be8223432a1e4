"""The reasons why an array is unreadable."""

from __future__ import annotations

from miltext.diagnostics import codes


class ArrayProblem(ValueError):
    """The reason why an array is unreadable, with its code; a caller with the reference turns it into an error."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class MissingFile(ArrayProblem):
    """A file that does not exist."""

    def __init__(self) -> None:
        super().__init__(codes.MISSING_ARRAY_FILE, "the file does not exist")
