"""What a process that is guarded has to do: say which document it is at, and end when nobody is left to end it."""

from __future__ import annotations

import faulthandler
import os
import threading
import time
from typing import BinaryIO

from miltext.lsp.frames import framed, spelled
from miltext.lsp.workers import AT

LIFE = 90
"""Seconds after which a process ends in which one call has let nothing else run."""

LOOK = 2
"""Seconds between two looks at who started the process."""


class Outlet:
    """Where whole messages are written, from any thread."""

    def __init__(self, stream: BinaryIO, *, is_guarded: bool) -> None:
        self.is_guarded = is_guarded
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, data: bytes) -> None:
        """Write a message; end the process where nobody reads it any more."""
        try:
            with self._lock:
                self._stream.write(data)
                self._stream.flush()
        except BrokenPipeError:
            if self.is_guarded:
                os._exit(1)
            raise

    def flush(self) -> None:
        """Do nothing: each message was written out."""

    def close(self) -> None:
        self._stream.close()

    def say(self, uri: str, *, begins: bool) -> None:
        """Tell a guard that the process begins or ends its work on a document."""
        if self.is_guarded:
            self.write(framed(spelled(method=AT, params={"uri": uri, "begins": begins})))


def end_with_the_guard() -> None:
    """Have the process end when the one that started it has, also where a text keeps it from noticing."""
    threading.Thread(target=_look, args=(os.getppid(),), daemon=True).start()


def _look(guard: int) -> None:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        while os.getppid() == guard:
            faulthandler.dump_traceback_later(LIFE, exit=True, file=nowhere)
            time.sleep(LOOK)
    os._exit(1)
