"""`--watch`: repeated runs after a change of any file that a run read or looked for."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable
from typing import NoReturn, TypeAlias

import click

from miltext.batches.reads import listening
from miltext.cli.streams import FAILED, WRONG, existing, report_failures, tell
from miltext.files.writing import MODEL_FILES, MODEL_FOLDERS
from miltext.settings.project import NAME

INTERVAL = 0.2
"""The seconds between two looks at the files, which also have to be unchanged for that time before the next run."""

SHARE = 20
"""The pause after looking at the files, as a multiple of the time that this took."""

ENDINGS = (
    *MODEL_FILES,
    *MODEL_FOLDERS,
    *(".npy", ".npz", ".safetensors", ".bin", ".json", ".toml"),
)
"""The ends of the names of files that a check reads: texts and models, their parts and the files beside them,
settings.
"""

CLEAR = "\x1b[H\x1b[2J\x1b[3J"
"""Clear a terminal and its scrolled lines."""

State: TypeAlias = "tuple[object, ...] | None"


def run_again(run: Callable[[], Iterable[str]], paths: Iterable[str]) -> NoReturn:
    """Run on existing paths, and again whenever the result may change, until a signal ends it.

    `run` returns the files that it wrote.
    """
    named = [existing(path) for path in paths]
    watched = Watched(named)
    while True:
        watched.begin()
        _announce()
        with listening(watched.note):
            written = _run(run)
        watched.end(written)
        watched.wait()


def _announce() -> None:
    """Report the start of a run, on an empty screen if possible."""
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        click.echo(CLEAR, nl=False, color=True)
    tell(f"{time.strftime('%H:%M:%S')}: checking; again after each change, until Ctrl-C")


def _run(run: Callable[[], Iterable[str]]) -> Iterable[str]:
    """Run once, and return the written files; a failure ends only this run, as the files may be fixed later."""
    try:
        with report_failures():
            return run()
    except click.ClickException as failure:
        failure.show()
    except SystemExit as end:
        if end.code not in (0, WRONG, FAILED) or isinstance(end.__context__, BrokenPipeError):
            raise
    return ()


class Watched:
    """Files and folders that a run opened, listed or looked for, with their states at that time.

    The first state counts, so that a change during the run is noticed after it.
    """

    def __init__(self, named: Iterable[str]) -> None:
        self._named = [path for name in named for path in _around(name)]
        self._states: dict[str, State] = {}

    def begin(self) -> None:
        """Forget the states of the previous run."""
        self._states = {}
        for path in self._named:
            self._take(path)

    def note(self, path: str, flags: int | None) -> None:
        """Note a file that Python is about to open, or a folder to be listed.

        Files opened for writing, and hidden folders, are not inputs.
        """
        if flags is None:
            if not os.path.basename(path).startswith("."):
                self._take(path)
        elif path.endswith(ENDINGS) and not flags & (os.O_WRONLY | os.O_RDWR):
            self._take(path)
            self._take(os.path.dirname(path))  # other files that were looked for may appear in it

    def _take(self, path: str) -> None:
        if path not in self._states:
            self._states[path] = None  # a look at a folder lists it
            self._states[path] = state(path)

    def end(self, written: Iterable[str]) -> None:
        """Count the files that the run itself has written, with fixes, as files that it read."""
        self._states |= {path: state(path) for path in map(os.path.abspath, written)}

    def changed(self) -> bool:
        """Return whether something has changed since the run."""
        return self._now() != self._states

    def _now(self) -> dict[str, State]:
        return {path: state(path) for path in [*self._states]}

    def wait(self) -> None:
        """Wait until something has changed, and nothing changes any more: a file may be written in several steps."""
        start = time.monotonic()
        while not self.changed():
            start = self._pause(start)
        before = None
        while (now := self._now()) != before:
            before = now
            start = self._pause(start)

    def _pause(self, since: float) -> float:
        """Wait for a time that grows with the time since the last pause; return its end."""
        time.sleep(max(INTERVAL, SHARE * (time.monotonic() - since)))
        return time.monotonic()


def _around(name: str) -> list[str]:
    """Return a named path, its folder, and the possible places of its settings."""
    folder = os.path.dirname(os.path.abspath(name))
    found = [os.path.abspath(name), folder]
    while folder not in found[2:]:
        found.append(os.path.join(folder, NAME))
        if (parent := os.path.dirname(folder)) == folder:
            break
        folder = parent
    return found


def state(path: str) -> State:
    """Return a value that changes with a file: its time, size and number; for a folder, its names of interest.

    None for a missing file. A folder does not change by other names, which editors keep beside a file.
    """
    try:
        found = os.stat(path)
        if not stat.S_ISDIR(found.st_mode):
            return found.st_mtime_ns, found.st_size, found.st_ino
        with os.scandir(path) as entries:
            names = (each.name for each in entries if each.name.endswith(ENDINGS) or _is_folder(each))
            return tuple(sorted(names))
    except OSError:
        return None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".") and entry.is_dir()
