"""`--watch`: a run again as soon as something has changed that it read, or looked for."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeAlias

import click

from miltext.cli.streams import FAILED, WRONG, existing, report_failures, tell
from miltext.models.files import MODEL_FILES, MODEL_FOLDERS
from miltext.settings.project import NAME

INTERVAL = 0.2
"""The seconds between two looks at the files, which also have to stay as they are for so long before the next run."""

SHARE = 20
"""Looks at very many files take time: at most one part in so many of it."""

ENDINGS = (
    *MODEL_FILES,
    *MODEL_FOLDERS,
    *(".npy", ".npz", ".safetensors", ".bin", ".json", ".toml"),
)
"""How the names of the files end that a check reads: texts and models, what is in these and beside those, settings."""

CLEAR = "\x1b[H\x1b[2J\x1b[3J"
"""Empties a terminal, with what was scrolled out of it."""

State: TypeAlias = "tuple[object, ...] | None"


def run_again(run: Callable[[], Iterable[str]], paths: Iterable[str]) -> NoReturn:
    """Run on paths that are there, and again whenever that would show something else, until a signal ends it.

    `run` returns the files that it wrote.
    """
    named = [existing(path) for path in paths]
    watched = Watched(named)
    sys.addaudithook(watched.note)
    while True:
        watched.begin()
        _announce()
        watched.end(_run(run))
        watched.wait()


def _announce() -> None:
    """Say when a run begins, on an empty screen if there is one."""
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        click.echo(CLEAR, nl=False, color=True)
    tell(f"{time.strftime('%H:%M:%S')}: checking; again after each change, until Ctrl-C")


def _run(run: Callable[[], Iterable[str]]) -> Iterable[str]:
    """Run once, and return what it wrote; what is wrong with files now may be mended later, and ends only this run."""
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
    """Files and folders, with the states in which a run found them: those that it opened, listed or was to look for.

    The first state counts, so that a change in the middle of the run is noticed after it.
    """

    def __init__(self, named: Iterable[str]) -> None:
        self._named = [path for name in named for path in _around(name)]
        self._states: dict[str, State] = {}

    def begin(self) -> None:
        """Forget what a run before this one has found."""
        self._states = {}
        for path in self._named:
            self._take(path)

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take note of what Python opens or lists, as an audit hook, which is told before that happens.

        What is opened to be written, and folders that are hidden, are nobody's input.
        """
        if event not in ("open", "os.scandir", "os.listdir") or not isinstance(arguments[0], (str, os.PathLike)):
            return
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if event != "open":
            if not os.path.basename(path).startswith("."):
                self._take(path)
        elif path.endswith(ENDINGS) and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            self._take(path)
            self._take(os.path.dirname(path))  # in which others may appear that were looked for

    def _take(self, path: str) -> None:
        if path not in self._states:
            self._states[path] = None  # to look at a folder is to list it
            self._states[path] = state(path)

    def end(self, written: Iterable[str]) -> None:
        """Take what the run itself has written, with fixes, for what it has found."""
        self._states |= {path: state(path) for path in map(os.path.abspath, written)}

    def changed(self) -> bool:
        """Tell whether something is no longer as the run found it."""
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
        """Let some time pass, which grows with that since the last pause; return when it ends."""
        time.sleep(max(INTERVAL, SHARE * (time.monotonic() - since)))
        return time.monotonic()


def _around(name: str) -> list[str]:
    """Return a path that is named, its folder, and where settings for it may be."""
    folder = os.path.dirname(os.path.abspath(name))
    found = [os.path.abspath(name), folder]
    while folder not in found[2:]:
        found.append(os.path.join(folder, NAME))
        if (parent := os.path.dirname(folder)) == folder:
            break
        folder = parent
    return found


def state(path: str) -> State:
    """Return what changes when a file does: its time, size and number; of a folder, which names are in it.

    None for what is not there. A folder of other names, as editors keep beside a file, has not changed.
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
