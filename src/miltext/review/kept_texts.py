"""Texts of models shown by git, in files, so that a log is fast the second time.

git's own cache, in notes, makes commits: `git diff` then fails without the name of a committer, as in containers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from miltext.files.kept import MOST, bound

FOLDER = "miltext-texts"
"""The folder of kept texts in git's own folder, with a folder for each version of miltext and its options."""

_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\.\w+")
"""The name of a text: git's name of its object, with the ending of the object's path."""


def is_place(path: Path) -> bool:
    """Return whether a path is a place for a text: nothing else is replaced, and nothing beside it is deleted."""
    return path.parent.parent.name == FOLDER and _NAME.fullmatch(path.name) is not None


def kept(path: Path, pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces of a text, and keep it in a file once all are made, if that can be written."""
    made = list[bytes]()
    for piece in pieces:
        made.append(piece.encode(errors="backslashreplace"))
        yield piece
    with suppress(OSError):
        _keep(path, made)


def _keep(path: Path, pieces: list[bytes]) -> None:
    from miltext.files.writing import write_file

    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, pieces)
    bound(path.parent, lambda name: _NAME.fullmatch(name) is not None, MOST)
