"""The messages of the Language Server Protocol, byte for byte."""

from __future__ import annotations

import json
from typing import IO, Any


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def message(method: str, params: Any, id: int | str | None = None) -> bytes:
    found = {"jsonrpc": "2.0", "method": method, "params": params, **({} if id is None else {"id": id})}
    return framed(json.dumps(found).encode())


def answers_of(output: bytes) -> list[dict[str, Any]]:
    found = []
    while output:
        head, _, rest = output.partition(b"\r\n\r\n")
        size = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
        found.append(json.loads(rest[:size]))
        output = rest[size:]
    return found


def next_of(stream: IO[bytes]) -> dict[str, Any]:
    """The next message of a stream, once it is there."""
    size = 0
    while line := stream.readline().strip():
        size = int(line.split(b":")[1]) if line.startswith(b"Content-Length") else size
    found: dict[str, Any] = json.loads(stream.read(size))
    return found


BAD_FRAMES = [
    framed(b"{"),
    framed(b"[]"),
    framed(b"\xff\xfe"),
    framed(b'{"jsonrpc": "2.0", "id": 8, "result": null}'),
    framed(b"[" * 5000),
]
"""What is framed as a message and is none."""
