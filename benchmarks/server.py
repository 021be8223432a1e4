"""The language server as a client measures it: messages over standard input and output, and the time until answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from types import TracebackType
from typing import Any

HOME = Path(__file__).resolve().parent.parent / "src"
URI = "untitled:measured.mil"

KEYSTROKE = 0.1
"""Seconds from one keystroke to the next of somebody who types without a pause."""


class Session:
    """A server in a process of its own. Messages that nobody waits for are ignored."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(HOME), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "miltext", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._sent = 0
        self._messages: Queue[dict[str, Any] | None] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Session:
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self._send({"method": "initialized", "params": {}})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.ask("shutdown", None)
        self._send({"method": "exit", "params": None})
        with self._process:  # which closes its pipes
            self._reader.join(timeout=60)

    def diagnosed(self, text: str) -> list[Any]:
        """Open a document in place of the last one, and wait for its diagnostics."""
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": URI}}})
        document = {"uri": URI, "languageId": "mil", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        while True:
            params = _published(self._received())
            if params and "version" in params:
                return list(params["diagnostics"])

    def noticed(self, text: str, place: tuple[int, int]) -> float:
        """Break a valid text at a line and column, type on in a comment at its end, and return the seconds until a
        diagnostic comes.
        """
        self.diagnosed(f"{text}// ")
        start, version = time.perf_counter(), 2
        self._type(version, place, "?")
        end = (text.count("\n"), 3)
        while True:
            try:
                params = _published(self._received(KEYSTROKE))
            except Empty:
                version += 1
                self._type(version, end, "x")
                continue
            if params and params["diagnostics"]:
                return time.perf_counter() - start

    def _type(self, version: int, place: tuple[int, int], keys: str) -> None:
        at = {"line": place[0], "character": place[1]}
        change = {"range": {"start": at, "end": at}, "text": keys}
        document = {"uri": URI, "version": version}
        self._send(
            {"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": [change]}}
        )

    def ask(self, method: str, params: Any) -> Any:
        """Ask, and wait for the answer."""
        self._sent += 1
        number = self._sent
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._received()
            if message.get("id") == number:
                return message["result"]

    def ask_at(self, method: str, line: int, character: int) -> Any:
        """Ask about a place in the document, and wait for the answer."""
        return self.ask(method, {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _received(self, seconds: float | None = None) -> dict[str, Any]:
        """Wait for a message, for so many seconds at most. Raise Empty if none came, and EOFError if none will."""
        message = self._messages.get(timeout=seconds)
        if message is None:
            raise EOFError("the server has ended")
        return message

    def _read(self) -> None:
        """Take the messages as they come."""
        output = self._process.stdout
        assert output is not None
        size = 0
        while line := output.readline():
            name, _, content = line.partition(b":")
            if name == b"Content-Length":
                size = int(content)
            elif not line.strip():
                self._messages.put(json.loads(output.read(size)))
        self._messages.put(None)


def _published(message: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a message that publishes diagnostics, and of any other none."""
    found: dict[str, Any] = message["params"] if message.get("method") == "textDocument/publishDiagnostics" else {}
    return found
