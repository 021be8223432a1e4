"""Files and folders made beside their targets, and moved into place all together or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from miltext.building.refusals import refusal

PACKAGE_SIGN = "Manifest.json"


class _Move(NamedTuple):
    made: Path
    target: Path


class Staging:
    """A `with` block that writes to the paths which `place` gives; `commit` moves what is there into place.

    Without `commit`, and after any exception, what was at the targets is as it was and nothing is left beside them.
    """

    def __init__(self, force: bool) -> None:
        self._force = force
        self._moves: list[_Move] = []
        self._folders: list[Path] = []

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *_: object) -> None:
        for move in self._moves:
            _remove(move.made)
        for folder in reversed(self._folders):
            with suppress(OSError):  # it holds what was moved into place
                folder.rmdir()

    def place(self, target: Path) -> Path:
        """Where to make what is to be at `target`; nothing is there yet.

        Raises FileExistsError for a target that is there, unless `force`; ModelError (MIL402) for one that is not
        replaced even then: a folder that is no package, or anything but a file for a file.
        """
        target = Path(os.path.realpath(target))
        check_target(target, self._force)
        for folder in reversed([folder for folder in target.parents if not folder.exists()]):
            folder.mkdir()
            self._folders.append(folder)
        made = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        self._moves.append(_Move(made, target))
        return made

    def commit(self) -> None:
        """Move everything into place; if one move fails, those before it are taken back."""
        done: list[_Move] = []
        try:
            for move in self._moves:
                _exchange(move)
                done.append(move)
        except BaseException:
            for move in reversed(done):
                _take_back(move)
            raise


def check_target(target: Path, force: bool) -> None:
    """Refuse a target that may not be replaced; as `Staging.place` does."""
    if not os.path.lexists(target):
        return
    if not force:
        raise FileExistsError(errno.EEXIST, "it is there already; --force replaces it", str(target))
    wants_folder = target.suffix.lower() == ".mlpackage"
    is_ours = (target / PACKAGE_SIGN).is_file() or (wants_folder and target.is_dir() and not any(target.iterdir()))
    if not (is_ours if wants_folder else target.is_file()):
        raise refusal("MIL402", f"this is no {'package' if wants_folder else 'file'}, and is not replaced", str(target))


def _exchange(move: _Move) -> None:
    """Move what was made to its target; what was there is afterwards where the other was made."""
    if not os.path.lexists(move.target):
        os.rename(move.made, move.target)
        return
    if _swap(move.made, move.target):
        return
    aside = move.made.with_name(f"{move.made.name}.old")
    os.rename(move.target, aside)
    try:
        os.rename(move.made, move.target)
    except BaseException:
        os.rename(aside, move.target)
        raise
    os.rename(aside, move.made)


def _take_back(move: _Move) -> None:
    if os.path.lexists(move.made):
        _exchange(_Move(move.made, move.target))
    else:
        os.rename(move.target, move.made)


def _swap(one: Path, other: Path) -> bool:
    """Exchange two paths in one step, so that at no time there is nothing; whether the system can do that."""
    with suppress(OSError, TypeError, AttributeError):
        system = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(one), os.fsencode(other)
        if hasattr(system, "renameat2"):  # Linux: AT_FDCWD is -100, RENAME_EXCHANGE 2
            return bool(system.renameat2(-100, names[0], -100, names[1], 2) == 0)
        return bool(system.renamex_np(*names, 2) == 0)  # macOS: RENAME_SWAP is 2
    return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
