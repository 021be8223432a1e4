"""Results of earlier work, kept in files, and returned for models that have not changed.

The name of a file is the digest of all that a result depends on beside files: the work with its options, the path, and
the versions. Its contents are the result and the files that were read for it (`reads`). So there is one result for each
path and work, the last one.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.batches.reads import Reads
from miltext.files.kept import MOST, bound
from miltext.files.staging import Staging
from miltext.files.writing import write_new

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json, Record

FORM = 1
"""The version of the form of an entry."""

_NAME = re.compile(r"[0-9a-f]{64}")
_PACKAGE = Path(__file__).parents[1]

TAG = "CACHEDIR.TAG"
_TAG_TEXT = b"Signature: 8a477f597d28d172789f06886806bc55\n# Results of miltext, which may be deleted at any time.\n"
"""A mark for backup programs, by bford.info/cachedir. A `.gitignore` marks the folder for git."""


TOGETHER = 64
"""The most entries written at once."""


class Hit(NamedTuple):
    """A result from a cache."""

    result: Record


class ResultCache:
    """The results in a folder, which may be that of other processes and versions at the same time."""

    def __init__(self, folder: Path) -> None:
        """Open a folder, which is made for the first entry. Raise OSError for a path that is not a folder."""
        if os.path.lexists(folder) and not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
        self._folder = folder
        self._waiting: dict[Path, bytes] = {}
        self._has_written = False
        self.problem: OSError | None = None
        """The first failure to write, after which nothing more is written."""

    def get(self, work: Sequence[Json]) -> Hit | None:
        """Return the result of some work; None if there is none, or a file has changed since, or the entry is
        damaged.
        """
        file = self._file(work)
        try:
            digest, _, text = file.read_bytes().partition(b"\n")
            if hashlib.sha256(text).hexdigest().encode() != digest:
                return None
            entry = json.loads(text)
            known, result = Reads.of_json(*entry["reads"]), entry["result"]
        except (OSError, ValueError, TypeError, KeyError):
            return None
        reads = known.renewed()
        if reads is None:
            return None
        if reads is not known:
            self._write(file, reads, result)
        elif self.problem is None:
            self._touch(file)
        return Hit(result)

    def put(self, work: Sequence[Json], reads: Reads, result: Record) -> None:
        """Keep a result, at `close` at the latest; a failure to do so is only noted."""
        self._write(self._file(work), reads, result)

    def close(self) -> None:
        """Write the remaining results, and delete the oldest if all are too large."""
        try:
            self._flush()
            if self._has_written and self.problem is None:
                bound(self._folder, lambda name: _NAME.fullmatch(name) is not None, MOST)
        except OSError as failure:
            self.problem = failure

    def _file(self, work: Sequence[Json]) -> Path:
        text = json.dumps([FORM, versions(), *work], sort_keys=True)
        return self._folder / hashlib.sha256(text.encode()).hexdigest()

    def _touch(self, file: Path) -> None:
        """Count an entry as used now: the ones that were not used for the longest time go first."""
        try:
            os.utime(file)
        except OSError as failure:
            self.problem = failure

    def _write(self, file: Path, reads: Reads, result: Record) -> None:
        text = json.dumps({"reads": reads, "result": result}).encode()
        self._waiting[file] = hashlib.sha256(text).hexdigest().encode() + b"\n" + text
        if len(self._waiting) >= TOGETHER:
            try:
                self._flush()
            except OSError as failure:
                self.problem = failure

    def _flush(self) -> None:
        """Write the waiting entries. They need not survive a failure of power: a damaged one is a miss."""
        if self._waiting and self.problem is None:
            marks = {} if self._has_written else {".gitignore": b"*\n", TAG: _TAG_TEXT}
            self._has_written = True
            there = {self._folder / name: text for name, text in marks.items()}
            self._folder.mkdir(parents=True, exist_ok=True)
            with Staging(replace=True) as staging:
                for file, text in (there | self._waiting).items():
                    if file not in there or not os.path.lexists(file):
                        write_new(staging.place(file), [text], durable=False)
                staging.commit()
        self._waiting = {}


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return the versions that a result may depend on: of Python, miltext, its code, and packages that compute."""
    found = {"python": sys.version, "code": _code()}
    for name in ("miltext", "numpy", "protobuf", "pillow", "safetensors", "coremltools"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _code() -> str:
    """Return the digest of miltext's code: a checkout changes without another version.

    An installed wheel lists the digests of its files in its RECORD.
    """
    with suppress(PackageNotFoundError):
        record = distribution("miltext").read_text("RECORD") or ""
        if "miltext/__init__.py," in record:
            return hashlib.sha256(record.encode()).hexdigest()
    state = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            state.update(f"{path.relative_to(_PACKAGE)}\n".encode() + path.read_bytes())
    return state.hexdigest()
