"""The server where its extra is not installed: it says what to install, and needs the standard library only.

It can do nothing else: it stays until the client ends it, for many clients start again what ends by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

METHOD_NOT_FOUND = -32601
"""JSON-RPC's code for a method that is not there."""

ERROR = 1
"""The protocol's number for a message that is shown as an error."""


def serve(reading: BinaryIO, writing: BinaryIO, said: str) -> None:
    """Show one client the message `said` in a window; return when it sends `exit` or leaves."""
    for message in _messages(reading):
        method = message.get("method")
        if method == "exit":
            return
        if "id" in message and method is not None:
            _send(writing, {"id": message["id"], **_answer(method)})
        if method == "initialize":
            _send(writing, {"method": "window/showMessage", "params": {"type": ERROR, "message": said}})


def _answer(method: object) -> dict[str, object]:
    if method == "initialize":
        return {"result": {"capabilities": {}, "serverInfo": {"name": "miltext"}}}
    if method == "shutdown":
        return {"result": None}
    return {"error": {"code": METHOD_NOT_FOUND, "message": "the server's extra is not installed"}}


def _messages(stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """Yield the messages that come, without what is malformed, until the stream ends."""
    while header := _header(stream):
        length = header.get(b"content-length", b"")
        body = stream.read(int(length)) if length.isdigit() and len(length) < 10 else b""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict):
            yield message


def _header(stream: BinaryIO) -> dict[bytes, bytes]:
    """Return the fields before a message; an empty dictionary where the stream ends."""
    fields: dict[bytes, bytes] = {}
    while line := stream.readline():
        name, _, value = line.partition(b":")
        if line.strip():
            fields[name.strip().lower()] = value.strip()
        elif fields:
            break
    return fields


def _send(stream: BinaryIO, message: dict[str, object]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()
