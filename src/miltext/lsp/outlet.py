"""The duties of a guarded process: report the document in work, and end when its guard is gone."""

from __future__ import annotations

import faulthandler
import os
import threading
import time
from typing import BinaryIO

from miltext.lsp.frames import framed, spelled
from miltext.lsp.workers import AT

LIFE = 90
"""Seconds after which a process ends if one call has blocked everything else."""

LOOK = 2
"""Seconds between two looks at the parent process."""


class Outlet:
    """A stream for whole messages, from any thread."""

    def __init__(self, stream: BinaryIO, *, is_guarded: bool) -> None:
        self.is_guarded = is_guarded
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, data: bytes) -> None:
        """Write a message; end the process if there is no reader any more."""
        try:
            with self._lock:
                self._stream.write(data)
                self._stream.flush()
        except BrokenPipeError:
            if self.is_guarded:
                os._exit(1)
            raise

    def flush(self) -> None:
        """Do nothing: each message is already written."""

    def close(self) -> None:
        self._stream.close()

    def say(self, uri: str, *, begins: bool) -> None:
        """Report to the guard that the process begins or ends its work on a document."""
        if self.is_guarded:
            self.write(framed(spelled(method=AT, params={"uri": uri, "begins": begins})))


def end_with_the_guard() -> None:
    """Make the process end when its parent has ended, even if a text keeps it from noticing."""
    threading.Thread(target=_look, args=(os.getppid(),), daemon=True).start()


def _look(guard: int) -> None:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        while os.getppid() == guard:
            faulthandler.dump_traceback_later(LIFE, exit=True, file=nowhere)
            time.sleep(LOOK)
    os._exit(1)
