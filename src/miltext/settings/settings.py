"""The settings of a project, and the files that they apply to."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import NamedTuple

from miltext.diagnostics import codes
from miltext.diagnostics.selection import ALL, Selection

OFF = "off"
"""The choice of no advisories, or of no profile."""

ADVISORIES = (OFF, "usual", "all")
"""The choices of advisories."""


class Settings(NamedTuple):
    """The settings of a project; its patterns are relative to the folder `root`."""

    root: str = ""
    select: tuple[str, ...] = (ALL,)
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    unsafe_fixes: bool = False
    drafts: bool = True
    advisories: str = OFF
    rules: tuple[str, ...] = ()
    profile: str = OFF

    def excludes(self, path: str, below: str | None = None) -> bool:
        """Whether a file or folder, or a folder around it, is excluded.

        Below a folder that a user names, `below`, a path is excluded only for a reason of its own.
        """
        return any(_matches(pattern, path, self.root, below) for pattern in self.exclude)

    def selection(
        self, path: str, select: tuple[str, ...] = (), ignore: tuple[str, ...] = (), drafts: bool | None = None
    ) -> Selection:
        """Return the selection of findings for a file.

        A `select` of the command line replaces the project's choice; its `ignore` adds to it, and its `drafts`
        overrides the project's setting. The ignores by file always count. If drafts are refused, only an ignore by file
        can allow some.
        """
        by_file = [ignored for pattern, ignored in self.per_file_ignores if _matches(pattern, path, self.root)]
        here = [code for ignored in by_file for code in ignored]
        if not select:
            select, ignore = self.select, (*self.ignore, *ignore)
        if self.drafts if drafts is None else drafts:
            return Selection(select, (*ignore, *here))
        others = [code for code in ignore if code != codes.DRAFT]
        return Selection((*select, codes.DRAFT), (*others, *here), drafts=False)


NONE = Settings()


def _matches(pattern: str, path: str, root: str, below: str | None = None) -> bool:
    """Whether a pattern matches a path, or a folder around it below the root, and below another folder.

    A pattern without a `/` is a name anywhere; one with it is a path from the root. `*` stands for any characters, `/`
    too, and `**/` may stand for nothing, as in ruff.
    """
    parts = _parts(path, root)
    first = 0 if below is None else len(_parts(below, root))
    pattern = os.path.normpath(pattern).replace(os.sep, "/")
    if "/" not in pattern:
        return any(fnmatchcase(part, pattern) for part in parts[first:])
    around = ["/".join(parts[:end]) for end in range(first + 1, len(parts) + 1)]
    return any(fnmatchcase(place, form) for place in around for form in _forms(pattern))


def _forms(pattern: str) -> list[str]:
    """Return a pattern with and without each `**/` in that pattern."""
    first, found, rest = pattern.partition("**/")
    return [first + some + form for form in _forms(rest) for some in ("", found)] if found else [pattern]


def _parts(path: str, root: str) -> tuple[str, ...]:
    """Return the names on the way from the root to a path; none if it is the root, or outside."""
    try:
        parts = PurePath(os.path.relpath(path, root)).parts
    except ValueError:  # on another drive of Windows
        return ()
    return () if parts[:1] == ("..",) else parts
