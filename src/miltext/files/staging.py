"""Files and folders that are written beside their targets, and then all moved into place, or none of them.

They are created in a hidden folder. The next process that writes there removes the hidden folder of a crashed one, on
systems with file locks. If the file system supports it, a move is a single step: to a free place, or as an exchange
with an existing file.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from miltext.files.interrupts import uninterrupted

THERE = "it already exists"
CAME = "it appeared while the rest was being made, and is not replaced; run the command again"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of a write when the disk is full, the quota is used up, or the file has reached its limit."""

_NAME = re.compile(r"\.miltext-[0-9a-f]{8}")
"""The names of hidden folders."""

_CALLS = {"linux": "renameat2", "darwin": "renamex_np"}
_NEW = {"linux": 1, "darwin": 4}
"""The flag of the call not to replace: RENAME_NOREPLACE, RENAME_EXCL; renameat2(2) of Linux, renamex_np(2) of macOS."""

_SWAP = {"linux": 2, "darwin": 2}
"""The flag to exchange: RENAME_EXCHANGE, RENAME_SWAP; from the same pages."""

_HERE = -100
"""AT_FDCWD of Linux: paths are relative to the working folder."""


class _Move(NamedTuple):
    made: Path
    target: Path
    given: Path
    free: bool


class Staging:
    """A `with` block that writes to the paths from `place`; `commit` moves them into place.

    Without `commit`, and after any exception, the targets are unchanged and nothing is left beside them. Without
    `replace`, nothing is replaced, not even a file that appears during the block. With `parents`, missing folders are
    made. An OSError names the target, never an intermediate path.
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
        """Return the free path at which to create the file for `target`, or for the target of that link.

        A target that was found `free` is never replaced. Raise FileExistsError for an existing target, unless it may be
        replaced, and OSError.
        """
        real = Path(os.path.realpath(target))
        if (free or not self._replace) and os.path.lexists(real):
            raise FileExistsError(errno.EEXIST, CAME if free else THERE, str(target))
        with uninterrupted():  # a made file is known to its removal
            self._make_workshop(real.parent, target)
        made = self._workshops[real.parent] / str(len(self._moves))  # no reader mistakes it for the target
        self._moves.append(_Move(made, real, target, free))
        return made

    def commit(self) -> None:
        """Move everything into place; if a move fails, the earlier ones are undone."""
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
            for missing in reversed(
                [each for each in (folder, *folder.parents) if self._parents and not each.exists()]
            ):
                with suppress(FileExistsError):  # another process was faster
                    missing.mkdir()
                    self._cleaning.callback(_remove_if_empty, missing)
            if folder not in self._workshops:
                self._workshops[folder] = self._cleaning.enter_context(workshop(folder))
        except OSError as failure:
            failure.filename = str(target)
            raise

    def _name_target(self, failure: OSError) -> None:
        """Make a failure name the target instead of the intermediate path."""
        if failure.filename is None and failure.errno in _NO_ROOM and self._moves:
            failure.filename = str(self._moves[-1].given)
        for move in self._moves:
            named = [name for name in (failure.filename, failure.filename2) if isinstance(name, (str, Path))]
            if any(Path(name).is_relative_to(move.made) for name in named):
                failure.filename, failure.filename2 = str(move.given), None


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # it may contain a moved file
        folder.rmdir()


def _take_back(move: _Move) -> None:
    if os.path.lexists(move.made):
        displace(move.made, move.target)
    else:
        os.rename(move.target, move.made)


# ---- hidden folders


@contextmanager
def workshop(parent: Path) -> Iterator[Path]:
    """Make a locked folder in the folder `parent`, and remove it with its contents after the block.

    The lock ends with its process, in any case. A folder without a lock is the remains of a crash: the next process
    that writes in the same parent removes it. On a system without such locks, nothing is removed.
    """
    with suppress(OSError):  # a user may write in a folder without the right to list it
        for name in filter(_NAME.fullmatch, os.listdir(parent)):
            _remove_left(parent / name)
    folder, lock = _opened(parent)
    try:
        yield folder
    finally:
        _remove(folder)
        if lock is not None:
            os.close(lock)


def _opened(parent: Path) -> tuple[Path, int | None]:
    while True:
        folder = parent / f".miltext-{os.urandom(4).hex()}"
        folder.mkdir()
        try:
            return folder, _locked(folder, wait=True)
        except FileNotFoundError:  # another process removed it as a remnant, before it was locked
            continue
        except (OSError, ImportError):
            return folder, None


def _locked(folder: Path, *, wait: bool) -> int:
    """Return a descriptor that holds the lock of a folder.

    Raise OSError if the folder is gone, another process has the lock, or the system has none; ImportError on Windows.
    """
    import fcntl

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        os.stat(folder)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _remove_left(folder: Path) -> None:
    """Remove a remaining folder if it belongs to the same user and has no lock."""
    with suppress(OSError, ImportError):
        handle = _locked(folder, wait=False)
        if os.fstat(handle).st_uid == os.geteuid():
            _remove(folder)
        os.close(handle)


def _remove(folder: Path) -> None:
    with suppress(OSError):  # it contains at most replaced files, unless a write has failed or a folder was replaced
        for name in os.listdir(folder):
            os.unlink(folder / name)
        os.rmdir(folder)
        return
    import shutil

    for parent, _, _ in os.walk(folder):
        with suppress(OSError):
            os.chmod(parent, 0o700)  # a folder without write permission keeps its contents
    shutil.rmtree(folder, ignore_errors=True)


# ---- moves


def move_new(made: Path, target: Path) -> None:
    """Move a file or folder to a free place. Raise FileExistsError for an occupied one, at any time."""
    if os.name == "nt":  # a rename never replaces there
        os.rename(made, target)
    elif not (_link(made, target) or _call(made, target, _NEW)):
        _move_to_reserved(made, target)


def displace(made: Path, target: Path) -> None:
    """Exchange a file or folder with another of its kind.

    A file keeps the mode of the file before it. Raise FileExistsError for a target of another kind.
    """
    if (made.is_dir(), made.is_file()) != (target.is_dir(), target.is_file()):
        raise FileExistsError(errno.EEXIST, "something of another kind is there, and is not replaced", str(target))
    if made.is_file():
        os.chmod(made, stat.S_IMODE(target.stat().st_mode))
    aside = made.with_name(os.urandom(8).hex())
    if not _keep(target, aside):
        if _call(made, target, _SWAP):
            return
        os.rename(target, aside)
    try:
        os.replace(made, target)
    except BaseException:
        os.replace(aside, target)
        raise
    os.replace(aside, made)


def _link(made: Path, target: Path) -> bool:
    """Move a file by a second name, and return whether the file system has such names. Raise FileExistsError.

    For a file this is as safe as the system's own call, and does without ctypes, whose import takes long.
    """
    if not made.is_file():
        return False
    try:
        os.link(made, target)
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
    except OSError:
        return False
    os.unlink(made)
    return True


def _keep(target: Path, aside: Path) -> bool:
    """Keep a file by a second name, so that it always exists, and return whether it has one."""
    if not target.is_file():
        return False
    try:
        os.link(target, aside)
    except OSError:
        return False
    return True


def _move_to_reserved(made: Path, target: Path) -> None:
    """Occupy the place with an empty file or folder first, which only one process can do, and replace it."""
    if made.is_dir():
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    try:
        os.replace(made, target)
    except BaseException:
        with suppress(OSError):
            os.rmdir(target) if made.is_dir() else os.unlink(target)
        raise


def _call(one: Path, other: Path, flags: dict[str, int]) -> bool:
    """Move in a single step of the system, and return whether it supports this. Raise FileExistsError."""
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), _CALLS[sys.platform], None) if sys.platform in _CALLS else None
    if call is None:
        return False
    paths = os.fsencode(one), os.fsencode(other)
    places = (_HERE, paths[0], _HERE, paths[1]) if sys.platform == "linux" else paths
    if call(*places, flags[sys.platform]) == 0:
        return True
    if ctypes.get_errno() == errno.EEXIST:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(other))
    return False
