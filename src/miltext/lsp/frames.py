"""The frames of the protocol's messages, byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,9})\s*", re.IGNORECASE)


def bodies(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the bodies of framed messages until the stream ends; skip other lines."""
    length = None
    while line := stream.readline():
        if found := _LENGTH.fullmatch(line):
            length = int(found[1])
        elif not line.strip() and length is not None:
            body = stream.read(length)
            if len(body) < length:
                return
            yield body
            length = None


def message_in(body: bytes) -> Record:
    """Return the message of a frame; an empty one for a malformed frame."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def framed(body: bytes) -> bytes:
    """Return the frame of a message."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def spelled(**message: object) -> bytes:
    """Return a message as the protocol spells it, without its frame."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode()
