"""The language server as a client measures it: messages over standard input and output, and the time until answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

HOME = Path(__file__).resolve().parent.parent / "src"
URI = "untitled:measured.mil"


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

    def __enter__(self) -> Session:
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self._send({"method": "initialized", "params": {}})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.ask("shutdown", None)
        self._send({"method": "exit", "params": None})
        self._process.communicate(timeout=60)

    def diagnosed(self, text: str) -> list[Any]:
        """Open a document in place of the last; its diagnostics, once they are there."""
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": URI}}})
        document = {"uri": URI, "languageId": "mil", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        while True:
            message = self._received()
            params = message.get("params") or {}
            if message.get("method") == "textDocument/publishDiagnostics" and "version" in params:
                return list(params["diagnostics"])

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

    def _received(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        size = 0
        while line := self._process.stdout.readline().strip():
            name, _, content = line.partition(b":")
            size = int(content) if name == b"Content-Length" else size
        message: dict[str, Any] = json.loads(self._process.stdout.read(size))
        return message
