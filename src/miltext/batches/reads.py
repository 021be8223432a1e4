"""The files that some work read, and whether they are still the same.

A file with the size, the times and the number that it had is not read again, as in git's index. Its times may be too
coarse for a change just after it was read: such a file is read and compared ("racy" in git's documentation). So is a
file with other times, such as after a `git clone`; a large one then counts as changed.
"""

from __future__ import annotations

import os
import stat
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from miltext.files.contents import LOOKED_FOR
from miltext.files.writing import file_digest

Identity: TypeAlias = "tuple[int, int, int, int] | None"
"""Size, time of the last write, time of the last change, and number of a file; None for a file that does not exist."""

COARSEST = 2_000_000_000
"""The nanoseconds between two times of the coarsest file system, FAT; a younger file may change unnoticed."""

LARGEST = 1 << 26
"""The most bytes of a file whose contents are compared."""

_LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_OWN = tuple(os.path.join(os.path.realpath(path), "") for path in (*_LIBRARIES, str(Path(__file__).parents[1])))
_PASSED_OVER = (*_OWN, "/proc/", "/sys/", "/dev/null", "/dev/urandom")
"""The beginnings of paths that are not inputs: files of installed versions, which name the result."""


class ReadFile(NamedTuple):
    """A file that was read, or looked for: its `identity` at that time, and its `digest`, None for a large one."""

    path: str
    identity: Identity
    digest: str | None


class Reads(NamedTuple):
    """The files and the names in folders that some work read before the time `taken`, in nanoseconds."""

    taken: int
    files: list[ReadFile]
    folders: list[tuple[str, list[str]]]

    @classmethod
    def of_json(cls, taken: int, files: list[Any], folders: list[Any]) -> Reads:
        """Return the reads of a cache. Raise TypeError and ValueError for others."""
        read = [ReadFile(path, known and tuple(known), digest) for path, known, digest in files]
        return cls(int(taken), read, [(path, [*names]) for path, names in folders])

    def renewed(self) -> Reads | None:
        """Return these reads if nothing has changed since, with new identities where contents were compared; else
        None.
        """
        now = time.time_ns()
        if any(_names(path) != names for path, names in self.folders):
            return None
        files: list[ReadFile] = []
        for known in self.files:
            identity = identity_of(known.path)
            is_sure = identity == known.identity and not _is_racy(identity, self.taken)
            if not is_sure and (identity is None or known.digest is None or digest_of(known.path) != known.digest):
                return None
            files.append(known._replace(identity=identity))
        return self if files == self.files and not self._is_young() else Reads(now, files, self.folders)

    def _is_young(self) -> bool:
        return any(_is_racy(each.identity, self.taken) for each in self.files)


class Recorder:
    """The files that Python opens, and the folders that it lists.

    The first state of a file counts. `has_written` if a file was written: the work is then not only a result.
    """

    def __init__(self) -> None:
        self.has_written = False
        self._files: dict[str, Identity] = {}
        self._folders: dict[str, list[str] | None] = {}

    def note(self, path: str, flags: int | None) -> None:
        """Note a file that is about to be opened, or a folder to be listed."""
        if path.startswith(_PASSED_OVER) or path.endswith(".pyc"):
            return
        if flags is not None:
            self._note_file(path, flags)
        elif path not in self._folders:
            self._folders[path] = None  # listing it comes here again
            self._folders[path] = _names(path)

    def _note_file(self, path: str, flags: int) -> None:
        if flags & (os.O_WRONLY | os.O_RDWR):
            self.has_written = True
        elif path not in self._files and not os.path.isdir(path):
            self._files[path] = identity_of(path)

    def reads(self, model: str) -> Reads | None:
        """Return the files that were read, and all files of the model; None if it cannot be compared later."""
        if self.has_written:
            return None
        model = os.path.abspath(model)
        for path in [model] if not os.path.isdir(model) else _all_below(model, self._folders):
            self._files.setdefault(path, identity_of(path))
        try:
            if not all(map(_is_regular, self._files)):
                return None
            files = [ReadFile(path, known, _digest_if_small(path, known)) for path, known in self._files.items()]
        except OSError:
            return None
        if any(identity_of(each.path) != each.identity for each in files):
            return None
        folders = [(path, names) for path, names in self._folders.items() if names is not None]
        return Reads(time.time_ns(), files, folders)


Listener: TypeAlias = Callable[[str, "int | None"], None]
"""A function that receives the absolute path of a file and the flags of its opening, or of a folder and None."""

_listeners: list[Listener] = []
_is_hooked: list[bool] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within the block, call a listener before Python opens a file or lists a folder, and for files that a model names.

    Those of all threads count, so that no file of a thread of its own is missed.
    """
    if not _is_hooked:
        sys.addaudithook(_hear)  # for good
        _is_hooked.append(True)
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listeners or event not in ("open", LOOKED_FOR, "os.scandir", "os.listdir"):
        return
    if isinstance(arguments[0], (str, bytes, os.PathLike)):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        flags = arguments[2] if event == "open" else os.O_RDONLY if event == LOOKED_FOR else None
        for listener in [*_listeners]:
            listener(path, flags)


@contextmanager
def recording() -> Iterator[Recorder]:
    """Record the files read within the block."""
    recorder = Recorder()
    with listening(recorder.note):
        yield recorder


def identity_of(path: str) -> Identity:
    """Return the identity of a file; None for a file that does not exist."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def digest_of(path: str) -> str | None:
    """Return the digest of a file's contents; None for a file that cannot be read."""
    try:
        return file_digest(path)
    except OSError:
        return None


def _is_racy(identity: Identity, taken: int) -> bool:
    """Whether a file may have changed after it was read, without another time."""
    return identity is not None and identity[1] + COARSEST >= taken


def _is_regular(path: str) -> bool:
    return not os.path.exists(path) or stat.S_ISREG(os.stat(path).st_mode)


def _digest_if_small(path: str, identity: Identity) -> str | None:
    return digest_of(path) if identity is not None and identity[0] <= LARGEST else None


def _names(folder: str) -> list[str]:
    """Return the names in a folder; none for a folder that cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _all_below(folder: str, folders: dict[str, list[str] | None]) -> list[str]:
    """Return all files below a folder, and add the names in its folders."""
    found: list[str] = []
    for parent, inner, names in os.walk(folder):
        folders.setdefault(parent, sorted([*inner, *names]))
        found += [os.path.join(parent, name) for name in names]
    return found
