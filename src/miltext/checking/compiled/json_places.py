"""The places of keys and entries in a JSON text."""

from __future__ import annotations

import json
import re

from miltext.diagnostics import Span

Way = tuple[str | int, ...]
"""The keys and indices that lead to a value."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+')


def places(text: str) -> dict[Way, Span]:
    """Return the beginning of each key of an object and each entry of a list in a JSON text, by its path."""
    found: dict[Way, Span] = {}
    way: list[str | int | None] = []  # of each object and list around: the key or index being read
    for match in _TOKEN.finditer(text):
        token = match.group()
        is_key = bool(way) and way[-1] is None
        if token == ",":
            way[-1] = way[-1] + 1 if isinstance(way[-1], int) else None
            continue
        if token in "}]":
            way.pop()
            continue
        if is_key:
            way[-1] = json.loads(token)
        if is_key or (way and isinstance(way[-1], int)):
            found[tuple(each for each in way if each is not None)] = Span(*match.span())
        if token in "{[":
            way.append(None if token == "{" else 0)
    return found
