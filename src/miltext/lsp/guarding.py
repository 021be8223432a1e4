"""The language server that the client meets: it passes the messages on to processes that do the work.

One process serves all documents. If a text keeps it busy for longer than ALONE, each text in work gets a process of its
own, and another process takes over the rest: so no text can block the answers for others. Unanswered requests are sent
again. A process that still does not listen after PATIENCE is ended, and the document shows an error until it is edited.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from miltext.diagnostics import codes
from miltext.lsp.frames import bodies, framed, message_in, spelled
from miltext.lsp.opened import Opened
from miltext.lsp.workers import Worker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.diagnostics.dynamic import Record

ALONE = 0.7
"""Seconds after which a text in work gets a process of its own."""

SPARE = 0.2
"""Seconds after which a spare process is started."""

PATIENCE = 30.0
"""Seconds without an answer after which a process for a single text is ended."""

TICK = 0.1
"""Seconds between two looks at the processes."""

CROWD = 4
"""The most processes for merely slow texts; texts that keep a process from listening always get their own."""

REQUEST_FAILED = -32803
"""The protocol's code for a request that cannot be met."""

GIVEN_UP = "internal error: this text kept the server from listening for {} seconds, and its check was ended"

_WORLD = ("initialize", "initialized", "workspace/didChangeConfiguration", "workspace/didChangeWorkspaceFolders")
"""The messages for every process, also for processes that start later."""


LAST = 5.0
"""Seconds for the remaining answers when the client shuts the server down, and again when it leaves."""


class Pending(NamedTuple):
    """An unanswered request of the client: its message, its document, and the process to answer it.

    The message is empty if each new process gets it anyway.
    """

    body: bytes
    uri: str | None
    worker: Worker


class Guard:
    """The processes, the documents that they serve, and the client's open requests. One lock protects them together."""

    def __init__(self, writing: BinaryIO) -> None:
        self.was_shut_down = False
        self._writing = writing
        self._lock = threading.RLock()
        self._answered = threading.Condition(self._lock)
        self._sending = threading.Lock()
        self._world: list[bytes] = []
        self._encoding = "utf-16"
        self._initialize: object = None
        self._documents: dict[str, Opened] = {}
        self._serving: dict[str, Worker] = {}
        self._pending: dict[object, Pending] = {}
        self._requested: dict[object, Worker] = {}
        self._spare: Worker | None = None
        self._workers: list[Worker] = []
        self._is_over = threading.Event()
        self._main = self._start()

    # ---- messages of the client

    def run(self, reading: BinaryIO) -> None:
        """Pass on the client's messages until it leaves."""
        threading.Thread(target=self._watch, daemon=True).start()
        for body in bodies(reading):
            message = message_in(body)
            with self._answered:
                if message.get("method") == "shutdown":  # a process that shuts down cancels all that is in work
                    self._answered.wait_for(lambda: not self._pending, LAST)
                self._hand_on(body, message)
            if message.get("method") == "exit":
                break
        self._finish()

    def _hand_on(self, body: bytes, message: Record) -> None:
        method, name, uri = message.get("method"), message.get("id"), _uri(message)
        if method in _WORLD:
            self._world.append(body)
            for each in self._workers:
                each.send(body)
        elif method is None and name in self._requested:
            self._requested.pop(name).send(body)
        elif method == "$/cancelRequest":
            pending = self._pending.get((message.get("params") or {}).get("id"))
            (pending.worker if pending else self._main).send(body)
        elif method is not None and name is not None:
            self._request(body, method, name, uri)
        else:
            self._tell(body, method, uri, message)
        if method == "initialize":
            self._initialize = name
            self._pending[name] = Pending(b"", None, self._main)

    def _request(self, body: bytes, method: str, name: object, uri: str | None) -> None:
        """Hand a request on to the process that serves its document."""
        self.was_shut_down |= method == "shutdown"
        worker = self._of(uri)
        if worker.is_over:
            self._refuse(name)
            return
        self._pending[name] = Pending(body, uri, worker)
        worker.send(body)

    def _tell(self, body: bytes, method: str | None, uri: str | None, message: Record) -> None:
        """Pass on a notification or any other message, and keep its changes to a document."""
        is_open = uri in self._documents
        if method == "textDocument/didOpen" and uri is not None:
            self._documents[uri] = Opened(message["params"]["textDocument"])
            self._serving.setdefault(uri, self._main)
        elif method == "textDocument/didChange" and uri is not None and is_open:
            self._documents[uri].change(message["params"], self._encoding)
            worker = self._serving[uri]
            if worker.is_over or worker.silent_for(time.monotonic()) > ALONE:
                self._separate(worker, [uri])  # the next process begins with the current text
                return
        worker = self._of(uri)
        worker.send(body)
        if method == "textDocument/didClose" and uri is not None and is_open:
            del self._serving[uri], self._documents[uri]
            if worker is not self._main and not self._served_by(worker):
                self._end(worker)
                self._publish(uri, [])

    def _of(self, uri: str | None) -> Worker:
        """Return the process that serves a document; without a document, the main one."""
        return self._serving.get(uri, self._main) if uri is not None else self._main

    # ---- messages of the processes

    def _received(self, worker: Worker, body: bytes, message: Record) -> None:
        with self._lock:
            if worker.is_over or worker.note(message):
                return
            is_answer, name = "method" not in message, message.get("id")
            if is_answer and name is not None:
                pending = self._pending.get(name)
                if pending is None or pending.worker is not worker:
                    return
                del self._pending[name]
                self._answered.notify()
                if name == self._initialize:
                    self._encoding = _encoding(message)
            elif name is not None:
                self._requested[name] = worker
            elif not self._is_of(worker, _uri(message)):
                return
        self._send(body)

    def _is_of(self, worker: Worker, uri: str | None) -> bool:
        return uri is None or self._serving.get(uri, worker) is worker

    def _ended(self, worker: Worker) -> None:
        """Replace a process that has ended by itself; if it had not begun, end the server."""
        with self._lock:
            if worker.is_over or self._is_over.is_set():
                return
            if not worker.is_ready:
                os._exit(1)
            served = self._served_by(worker)
            suspects = [uri for uri in served if uri in worker.at]
            if suspects and len(served) == 1 and not self._are_newer(suspects):
                self._give_up(worker, "internal error: the process that checked this text has ended")
            else:
                self._separate(worker, suspects)

    # ---- slow texts

    def _watch(self) -> None:
        while not self._is_over.wait(TICK):
            with self._lock:
                now = time.monotonic()
                for worker in [*self._workers]:
                    self._look_at(worker, now)

    def _look_at(self, worker: Worker, now: float) -> None:
        """Separate the texts that keep a process from others; give up a text that keeps a process from listening."""
        if worker.at or any(pending.worker is worker for pending in self._pending.values()):
            worker.ping(now)
        served, silent = self._served_by(worker), worker.silent_for(now)
        busy = {uri: now - worker.at[uri][1] for uri in served if uri in worker.at}
        slow = [uri for uri, seconds in busy.items() if seconds > ALONE and len(self._workers) <= CROWD]
        is_shared = len(served) > len(slow or busy) or len(busy) > 1
        if self._spare is None and (silent > ALONE or (is_shared and max(busy.values(), default=0) > SPARE)):
            self._spare = self._start()
        if silent > ALONE and (is_shared or self._are_newer(busy)):
            self._separate(worker, busy)
        elif is_shared and slow:
            self._separate(worker, slow)
        elif silent > PATIENCE:
            self._give_up(worker, GIVEN_UP.format(round(PATIENCE)))

    def _are_newer(self, uris: Iterable[str]) -> bool:
        """Return whether any document was edited since its process got it."""
        return any(self._documents[uri].is_newer for uri in uris)

    def _separate(self, worker: Worker, suspects: Iterable[str]) -> None:
        """End a process; give each of the suspects a process of its own, and the rest to the main one."""
        self._leave_main(worker)
        alone = {*suspects}
        for uri in self._served_by(worker):
            self._serving[uri] = owner = self._start() if uri in alone else self._main
            document = self._documents[uri].as_opened(self._encoding)
            owner.send(spelled(method="textDocument/didOpen", params=document))
        for name, pending in self._pending_of(worker):
            self._pending[name] = pending._replace(worker=self._of(pending.uri))
            if pending.body:
                self._pending[name].worker.send(pending.body)
        self._end(worker)

    def _give_up(self, worker: Worker, reason: str) -> None:
        """End a process for one text, and report it there; refuse its open requests."""
        self._leave_main(worker)
        for uri in self._served_by(worker):
            self._publish(uri, [{"range": _BEGINNING, "severity": 1, "code": codes.INTERNAL_ERROR, "message": reason}])
        for name, _ in self._pending_of(worker):
            del self._pending[name]
            self._answered.notify()
            self._refuse(name)
        self._end(worker)

    def _leave_main(self, worker: Worker) -> None:
        """Make another process the main one if `worker` was."""
        if worker is self._main:
            self._main, self._spare = self._spare or self._start(), None

    def _pending_of(self, worker: Worker) -> list[tuple[object, Pending]]:
        return [(name, pending) for name, pending in self._pending.items() if pending.worker is worker]

    # ---- processes

    def _start(self) -> Worker:
        """Start a process, and send it the messages for every process, but no documents."""
        worker = Worker(self._received, self._ended)
        self._workers.append(worker)
        for body in self._world:
            worker.send(body)
        return worker

    def _end(self, worker: Worker) -> None:
        worker.end()
        if worker in self._workers:
            self._workers.remove(worker)

    def _served_by(self, worker: Worker) -> list[str]:
        return [uri for uri, each in self._serving.items() if each is worker]

    def _finish(self) -> None:
        """End all processes: the main one after its remaining answers, if it listens."""
        self._is_over.set()
        for worker in self._workers:
            if worker is not self._main:
                worker.end()
        self._main.finish(LAST)

    # ---- messages of the guard's own

    def _publish(self, uri: str, found: list[dict[str, object]]) -> None:
        params = {"uri": uri, "diagnostics": found}
        self._send(spelled(method="textDocument/publishDiagnostics", params=params))

    def _refuse(self, name: object) -> None:
        failure = {"code": REQUEST_FAILED, "message": "this text keeps the server from listening"}
        self._send(spelled(id=name, error=failure))

    def _send(self, body: bytes) -> None:
        with self._sending, suppress(BrokenPipeError):  # a client may leave without notice
            self._writing.write(framed(body))
            self._writing.flush()


_BEGINNING = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
"""The range of the beginning of a document."""


def _uri(message: Record) -> str | None:
    """Return the document of a message, if it has one."""
    params = message.get("params")
    if not isinstance(params, dict):
        return None
    document = params.get("textDocument", params)
    uri = document.get("uri") if isinstance(document, dict) else None
    return uri if isinstance(uri, str) else None


def _encoding(answer: Record) -> str:
    """Return the client's position encoding, from the answer to `initialize`."""
    capabilities = (answer.get("result") or {}).get("capabilities") or {}
    return capabilities.get("positionEncoding") or "utf-16"


def serve() -> int:
    """Serve one client on standard input and output; return the exit status of the process when it leaves."""
    if not sys.executable:  # no other process can be started
        from miltext.lsp.server import serve

        return serve()
    reading, writing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # prints must not get between the messages
    guard = Guard(writing)
    guard.run(reading)
    return 0 if guard.was_shut_down else 1
