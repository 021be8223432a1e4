"""A process that serves some of the documents, from the guard's side.

Messages to it wait in a queue, and its messages are read in a thread, so that no thread waits for a process that does
not answer. It reports the documents in work, with a notification before and after.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from miltext.lsp.frames import bodies, framed, message_in, spelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.diagnostics.dynamic import Record

AT = "$/miltext/at"
"""The notification of a worker that it begins or ends its work on a document, whose `uri` it names."""

PING = "$/miltext/ping"
"""The request that a worker answers at once, unless a text blocks it."""

_START = """
import sys
sys.path[:] = {path!r}
from miltext.lsp.server import serve
sys.exit(serve(is_guarded=True))
"""


def command() -> list[str]:
    """Return the command that starts a worker: it imports from the same places, not from the editor's folder."""
    return [sys.executable, "-c", _START.format(path=sys.path)]


class Worker:
    """A worker. `at` contains the documents in work, with the count and the start of that work.

    `received` takes each of its messages, and `ended` the worker itself when it has ended by itself; both in a thread.
    """

    def __init__(self, received: Callable[[Worker, bytes, Record], None], ended: Callable[[Worker], None]) -> None:
        self.at: dict[str, tuple[int, float]] = {}
        self.pinged: float | None = None
        self.is_over = False
        self.is_ready = False
        self._received, self._ended = received, ended
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self.process = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()
        threading.Thread(target=self._write, daemon=True).start()

    def send(self, body: bytes) -> None:
        """Queue a message."""
        self._queue.put(body)

    def close(self) -> None:
        """Send nothing more, after which the worker ends, if it can."""
        self._queue.put(None)

    def end(self) -> None:
        """End the process at once, even during work."""
        self.is_over = True
        self.process.kill()
        self.close()

    def finish(self, seconds: float) -> None:
        """Let the process end by itself, and end it if it does not in time."""
        self.close()
        self._reading.join(seconds)
        self.end()

    def ping(self, now: float) -> None:
        """Send a ping, unless one is still unanswered."""
        if self.pinged is None:
            self.pinged = now
            self.send(spelled(id=PING, method=PING, params=None))

    def silent_for(self, now: float) -> float:
        """Return the seconds since an unanswered ping; starting may take any time."""
        return 0.0 if self.pinged is None or not self.is_ready else now - self.pinged

    def note(self, message: Record) -> bool:
        """Note a message about the worker itself; return whether it is one."""
        if not self.is_ready:  # it may only now see messages sent during its start
            self.is_ready, self.pinged = True, self.pinged and time.monotonic()
        if message.get("id") == PING:
            self.pinged = None
            return True
        if message.get("method") != AT:
            return False
        uri, begins = message["params"]["uri"], message["params"]["begins"]
        count, since = self.at.get(uri, (0, time.monotonic()))
        count += 1 if begins else -1
        self.at[uri] = count, since
        if count <= 0:
            del self.at[uri]
        return True

    def _write(self) -> None:
        stream = self.process.stdin
        assert stream is not None
        with suppress(OSError, ValueError):
            while (body := self._queue.get()) is not None:
                stream.write(framed(body))
                stream.flush()
        with suppress(OSError):
            stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with suppress(OSError, ValueError):
            for body in bodies(self.process.stdout):
                self._received(self, body, message_in(body))
        self.process.wait()
        self._ended(self)
