"""The server without its extra: it shows how to install it, and needs the standard library only.

It can do nothing else: it stays until the client ends it, for many clients restart a server that ends by itself.
"""

from __future__ import annotations

from typing import BinaryIO

from miltext.lsp.frames import bodies, framed, message_in, spelled

METHOD_NOT_FOUND = -32601
"""JSON-RPC's code for an unknown method."""

ERROR = 1
"""The protocol's number for an error message."""


def serve(reading: BinaryIO, writing: BinaryIO, notice: str) -> None:
    """Show one client the `notice` in a window; return when it sends `exit` or leaves."""
    for message in map(message_in, bodies(reading)):
        method = message.get("method")
        if method == "exit":
            return
        if "id" in message and method is not None:
            _send(writing, {"id": message["id"], **_answer(method)})
        if method == "initialize":
            _send(writing, {"method": "window/showMessage", "params": {"type": ERROR, "message": notice}})


def _answer(method: object) -> dict[str, object]:
    if method == "initialize":
        return {"result": {"capabilities": {}, "serverInfo": {"name": "miltext"}}}
    if method == "shutdown":
        return {"result": None}
    return {"error": {"code": METHOD_NOT_FOUND, "message": "the server's extra is not installed"}}


def _send(stream: BinaryIO, message: dict[str, object]) -> None:
    stream.write(framed(spelled(**message)))
    stream.flush()
