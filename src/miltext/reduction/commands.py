"""A command that judges candidates, as in C-Reduce: its exit status 0 means that the fault is still there.

A shell runs the command, in the working folder, with the candidate's path in place of each `{}`, or else after it. The
command is a process group of its own, whose processes end with it; after a number of seconds both end, and the command
has failed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, NamedTuple

from miltext.diagnostics.wording import for_shell

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.reduction.trials import Candidate

PLACE = "{}"
"""The mark for the path in a command."""

LINES, MOST = 20, 1 << 20
"""The number of reported last lines of a command, and the most bytes read for them."""

TIMEOUT = 300.0
"""The seconds of a command by default, as in C-Reduce: creduce(1), `--timeout`."""


class Ran(NamedTuple):
    """The end of a command: its `status`, None after a timeout, and its last lines of output."""

    status: int | None
    lines: list[str]

    @property
    def how(self) -> str:
        """The end, in words."""
        if self.status is None:
            return "it did not end in time"
        return f"signal {-self.status} ended it" if self.status < 0 else f"its exit status was {self.status}"


class Command:
    """A Test that runs a command; `last` is the end of its latest run. `on_output` gets the output of each run."""

    def __init__(
        self, command: str, seconds: float | None = TIMEOUT, on_output: Callable[[str], object] = bool
    ) -> None:
        self.last = Ran(0, [])
        self._command, self._seconds, self._told = command, seconds, on_output
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._is_over = False

    def __call__(self, candidate: Candidate) -> bool:
        """Run the command on a candidate."""
        with tempfile.TemporaryFile() as printed:
            status = self._status(candidate.path, printed)
            printed.seek(max(0, printed.seek(0, os.SEEK_END) - MOST))
            text = printed.read().decode(errors="replace")
        self._told(text)
        self.last = Ran(status, text.splitlines()[-LINES:])
        return status == 0

    def stop(self) -> None:
        """End all running commands, and start none any more."""
        with self._lock:
            self._is_over = True
            running = [*self._running]
        for each in running:
            _end(each)

    def _status(self, path: Path, printed: IO[bytes]) -> int | None:
        """Return the exit status of the command; None after a timeout."""
        with self._lock:
            if self._is_over:
                return None
            process = subprocess.Popen(
                line(self._command, path),
                shell=True,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            return process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)
            process.wait()
            with self._lock:
                self._running.discard(process)


def line(command: str, path: Path) -> str:
    """Return the line for the shell."""
    quoted = for_shell(str(path))
    return command.replace(PLACE, quoted) if PLACE in command else f"{command} {quoted}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process, if it is still running, and all processes that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
