"""Moves within a file system: to a place that must be free, and against what is there, each in one step."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

_CALLS = {"linux": "renameat2", "darwin": "renamex_np"}
_NEW = {"linux": 1, "darwin": 4}
"""The flag of the call not to replace: RENAME_NOREPLACE, RENAME_EXCL; renameat2(2) of Linux, renamex_np(2) of macOS."""

_SWAP = {"linux": 2, "darwin": 2}
"""The flag to exchange: RENAME_EXCHANGE, RENAME_SWAP; from the same pages."""

_HERE = -100
"""AT_FDCWD of Linux: paths are relative to the working folder."""


def move_new(made: Path, target: Path) -> None:
    """Move a file or folder to where nothing is. Raise FileExistsError where something is, however late it came."""
    if os.name == "nt":  # where a rename never replaces
        os.rename(made, target)
    elif not _call(made, target, _NEW):
        _move_to_reserved(made, target)


def displace(made: Path, target: Path) -> None:
    """Move a file or folder to the place of another of its kind, which is afterwards where the first was.

    A file keeps the mode of the one before it. Raise FileExistsError for what is of another kind.
    """
    if (made.is_dir(), made.is_file()) != (target.is_dir(), target.is_file()):
        raise FileExistsError(errno.EEXIST, "something of another kind is there, and is not replaced", str(target))
    if made.is_file():
        os.chmod(made, stat.S_IMODE(target.stat().st_mode))
    if _call(made, target, _SWAP):
        return
    aside = made.with_name(os.urandom(8).hex())
    _keep(target, aside)
    try:
        os.replace(made, target)
    except BaseException:
        os.replace(aside, target)
        raise
    os.replace(aside, made)


def _keep(target: Path, aside: Path) -> None:
    """Keep what is at the target: a file by a second name, so that at no time there is none; a folder, moved."""
    if target.is_file():
        with suppress(OSError):
            os.link(target, aside)
            return
    os.rename(target, aside)


def _move_to_reserved(made: Path, target: Path) -> None:
    """Take the place with something empty first, which only one can do, and replace that."""
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
    """Have the system do it in one step; whether it can. Raise FileExistsError."""
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
