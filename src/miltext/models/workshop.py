"""The hidden folder in which files are made before they are moved into place; what a crash leaves is cleaned up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"\.miltext-[0-9a-f]{8}")


@contextmanager
def workshop(parent: Path) -> Iterator[Path]:
    """Make a folder in the folder `parent` that lasts as long as the block, locked, and is removed with all in it.

    The lock ends with its process, however that ends. What has none was left behind, and is removed by the next that
    writes in the same folder; where the system has no such locks, nothing is.
    """
    with suppress(OSError):  # one may write in a folder that one may not list
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
        except FileNotFoundError:  # another process took it for one left behind, before it was locked
            continue
        except (OSError, ImportError):
            return folder, None


def _locked(folder: Path, *, wait: bool) -> int:
    """Return a descriptor that holds the lock of a folder.

    Raise OSError where the folder is gone, another process has the lock, or there are none; ImportError on Windows.
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
    """Remove a folder that a process left behind: one of the same user, that nobody has locked."""
    with suppress(OSError, ImportError):
        handle = _locked(folder, wait=False)
        if os.fstat(handle).st_uid == os.geteuid():
            _remove(folder)
        os.close(handle)


def _remove(folder: Path) -> None:
    with suppress(OSError):  # it is empty, unless a write has failed
        os.rmdir(folder)
        return
    import shutil

    for parent, _, _ in os.walk(folder):
        with suppress(OSError):
            os.chmod(parent, 0o700)  # nothing can be removed from a folder that may not be written to
    shutil.rmtree(folder, ignore_errors=True)
