"""Files after git's filters: for git-lfs, git stores only pointers to objects."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from miltext.files.contents import LFS_POINTER

_WITHOUT_DOWNLOADS = {"GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1"}
"""Variables that make git-lfs write the pointer of a missing object instead of failing."""


class NotHere(Exception):
    """The object of a git-lfs pointer is not on this machine."""


def ask(*arguments: str, input: bytes = b"") -> str:
    """Return the output of git, empty if git fails."""
    return os.fsdecode(_ask(*arguments, input=input))


def _ask(*arguments: str, input: bytes = b"") -> bytes:
    words = ["git", "--literal-pathspecs", *arguments]
    done = subprocess.run(words, input=input, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b""


def is_filtered(path: str) -> bool:
    """Return whether a filter converts between git's object and the file of a path."""
    said = ask("check-attr", "-z", "filter", "--", path).split("\0")
    return said[2:3] not in ([], ["unspecified"], ["unset"], [""])


def write_as_checked_out(blob: str, path: str, target: Path) -> None:
    """Write an object to a file as git would write it to a path of the working tree.

    Raise NotHere for an object that git-lfs cannot get.
    """
    words = ["git", "cat-file", "--filters", f"--path={path}", blob]
    with open(target, "wb") as file:
        environment = {**os.environ, **_WITHOUT_DOWNLOADS}
        done = subprocess.run(words, stdout=file, stderr=subprocess.PIPE, env=environment, check=False)
    with open(target, "rb") as file:
        is_pointer = file.read(len(LFS_POINTER)) == LFS_POINTER
    if done.returncode or is_pointer:
        raise NotHere("its git-lfs object is not here: `git lfs fetch --all` gets it")


def as_stored(data: bytes, path: str) -> bytes:
    """Return the bytes that git stores for the file of a path; git-lfs keeps the file's own bytes. Raise OSError."""
    if not is_filtered(path):
        return data
    name = ask("hash-object", "-w", "--stdin", f"--path={path}", input=data).strip()
    if not name:
        raise OSError(None, "git's filter for this file failed", path)
    return _ask("cat-file", "blob", name)


@contextmanager
def as_checked_out(files: Sequence[str], path: str) -> Iterator[Sequence[str]]:
    """Yield the names of files with the contents that git would check out to a path, from files of stored bytes.

    An empty file stays empty, for it has no object. Raise NotHere.
    """
    if not is_filtered(path):
        yield files
        return
    with TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True) as folder:
        shown = [str(Path(folder, str(index))) for index in range(len(files))]
        for file, target in zip(files, shown, strict=True):
            Path(target).touch()
            if os.path.getsize(file):
                name = ask("hash-object", "-w", "--no-filters", "--", file).strip()
                write_as_checked_out(name, path, Path(target))
        yield shown
