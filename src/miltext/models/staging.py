"""Files and folders made beside their targets, and moved into place all together or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from miltext.models.interrupts import uninterrupted
from miltext.models.moves import displace, move_new
from miltext.models.workshop import workshop

THERE = "it already exists; --force replaces it"
CAME = "it appeared while the rest was being made, and is not replaced; run the command again"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What a write fails with where a disk is full, a quota used up, or a file as large as it may be."""


class _Move(NamedTuple):
    made: Path
    target: Path
    given: Path
    free: bool


class Staging:
    """A `with` block that writes to the paths which `place` gives; `commit` moves what is there into place.

    Without `commit`, and after any exception, what was at the targets is as it was and nothing is left beside them.
    Without `replace`, nothing is replaced, not even what appears while the block lasts. With `parents`, missing
    folders are made. An OSError names the target, never what is made on the way.
    """

    def __init__(self, *, replace: bool, parents: bool = False) -> None:
        self._replace = replace
        self._parents = parents
        self._moves: list[_Move] = []
        self._workshops: dict[Path, Path] = {}
        self._cleaning = ExitStack()

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, _: object, failure: BaseException | None, __: object) -> None:
        with uninterrupted():
            self._cleaning.close()
        if isinstance(failure, OSError):
            self._name_target(failure)

    def place(self, target: Path, *, free: bool = False) -> Path:
        """Where to make what is to be at `target`, or where that link leads; nothing is there yet.

        A target that was found `free` is never replaced. Raise FileExistsError for a target that is there, unless it
        is to be replaced, and OSError.
        """
        real = Path(os.path.realpath(target))
        if (free or not self._replace) and os.path.lexists(real):
            raise FileExistsError(errno.EEXIST, CAME if free else THERE, str(target))
        with uninterrupted():  # what is made is known to what removes it
            self._make_workshop(real.parent, target)
        made = self._workshops[real.parent] / str(len(self._moves))  # which nobody takes for what it is to be
        self._moves.append(_Move(made, real, target, free))
        return made

    def commit(self) -> None:
        """Move everything into place; if one move fails, those before it are taken back."""
        with uninterrupted(), ExitStack() as undo:
            for move in self._moves:
                self._put(move)
                undo.callback(_take_back, move)
            undo.pop_all()

    def _put(self, move: _Move) -> None:
        try:
            move_new(move.made, move.target)
        except FileExistsError:
            if move.free or not self._replace:
                raise FileExistsError(errno.EEXIST, CAME if move.free else THERE, str(move.given)) from None
            displace(move.made, move.target)

    def _make_workshop(self, folder: Path, target: Path) -> None:
        try:
            if self._parents:
                self._make_folders(folder)
            if folder not in self._workshops:
                self._workshops[folder] = self._cleaning.enter_context(workshop(folder))
        except OSError as failure:
            failure.filename = str(target)
            raise

    def _make_folders(self, folder: Path) -> None:
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            with suppress(FileExistsError):  # another process was faster
                missing.mkdir()
                self._cleaning.callback(_remove_if_empty, missing)

    def _name_target(self, failure: OSError) -> None:
        """Have a failure name the target of what it speaks of."""
        if failure.filename is None and failure.errno in _NO_ROOM and self._moves:
            failure.filename = str(self._moves[-1].given)
        for move in self._moves:
            named = [name for name in (failure.filename, failure.filename2) if isinstance(name, (str, Path))]
            if any(Path(name).is_relative_to(move.made) for name in named):
                failure.filename, failure.filename2 = str(move.given), None


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # it may hold what was moved into place
        folder.rmdir()


def _take_back(move: _Move) -> None:
    if os.path.lexists(move.made):
        displace(move.made, move.target)
    else:
        os.rename(move.target, move.made)
