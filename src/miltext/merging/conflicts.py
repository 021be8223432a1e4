"""Conflicts in git's form: both versions between markers, each on its own lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

SIZE = 7
"""Number of characters of a marker, unless git sets another."""


class Conflict(NamedTuple):
    """The texts of the versions at a place that both sides changed; empty for a version without text there."""

    base: str
    ours: str
    theirs: str


Piece: TypeAlias = "str | Conflict"


class Markers(NamedTuple):
    """The form of conflicts: the names of the versions, the size of a marker, and whether the base is shown."""

    ours: str = "ours"
    base: str = "base"
    theirs: str = "theirs"
    size: int = SIZE
    with_base: bool = False

    def text(self, pieces: Iterable[Piece]) -> str:
        """Return the text of the pieces."""
        written = ""
        parts = list[str]()
        for piece in pieces:
            if isinstance(piece, Conflict):
                piece = self._conflict(piece)
            if piece:
                if not piece.startswith("\n") and _ends_its_line(written):
                    parts.append("\n")
                parts.append(piece)
                written = piece
        if written.endswith(f"\n{self._marker('>', self.theirs)}"):
            parts.append("\n")
        return "".join(parts).removeprefix("\n" if parts and parts[0].startswith("\n" + "<" * self.size) else "")

    def _conflict(self, conflict: Conflict) -> str:
        lines = ["", self._marker("<", self.ours), *_lines(conflict.ours)]
        if self.with_base:
            lines += [self._marker("|", self.base), *_lines(conflict.base)]
        return "\n".join([*lines, "=" * self.size, *_lines(conflict.theirs), self._marker(">", self.theirs)])

    def _marker(self, sign: str, label: str) -> str:
        return f"{sign * self.size} {label}".rstrip()


def _lines(text: str) -> list[str]:
    return [text.strip("\n")] if text.strip() else []


def _ends_its_line(written: str) -> bool:
    """Return whether following text must begin on a new line: after a marker or a comment."""
    line = written.rpartition("\n")[2]
    return "//" in line or line.startswith(">" * SIZE)


def without_conflicts(text: str) -> str:
    """Return a text without its conflicts.

    A base that git merged from two bases may contain conflicts, whose contents belong to no version.
    """
    kept, depth = list[str](), 0
    for line in text.splitlines(keepends=True):
        depth += line.startswith("<" * SIZE)
        if not depth:
            kept.append(line)
        depth -= depth > 0 and line.startswith(">" * SIZE)
    return "".join(kept)


def has_markers(text: str) -> bool:
    """Return whether a conflict is left in a text."""
    return any(line.startswith(("<" * SIZE, ">" * SIZE)) for line in text.splitlines())
