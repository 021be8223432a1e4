"""The blocks of a text in TOML: each header of a table with the lines below it, up to the next header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from miltext.diagnostics import Span

_TOKEN = re.compile(
    r'''(?xs) """ (?: \\. | [^\\] )*? "{3,5} | \'\'\' .*? \'{3,5} | " (?: \\. | [^"\\\n] )* " | ' [^'\n]* '
        | \# [^\n]* | [\[\]{}] | \n'''
)
"""The brackets, the ends of lines, and the strings and comments whose brackets open nothing."""


class TableBlock(NamedTuple):
    """A header with its table.

    `at` is the way to the table: keys, and indices in arrays of tables. The comments directly above the header begin at
    `start`, and the values, with the text between them, are from `body` to `end`. The block above the first header has
    an empty way and an empty header.
    """

    at: tuple[str | int, ...]
    start: int
    header: Span
    body: int
    end: int


def blocks(text: str) -> list[TableBlock]:
    """Return the blocks of a text in TOML, in their order."""
    headers = [*_headers(text)]
    starts = [_start(text, header.start) for header in headers]
    ends = [*starts, len(text)]
    found = [TableBlock((), 0, Span(0, 0), 0, ends[0])]
    counts: dict[tuple[str | int, ...], int] = {}
    for header, start, end in zip(headers, starts, ends[1:], strict=True):
        way = _way(text[header.start : header.end], counts)
        found.append(TableBlock(way, start, header, header.end, end))
    return found


def _headers(text: str) -> Iterator[Span]:
    """Yield the place of each header, brackets included."""
    depth = line = start = 0
    is_header = False
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign == "\n":
            line = token.end()
        elif sign in "[{":
            if not depth:
                start, is_header = token.start(), not text[line : token.start()].strip()
            depth += 1
        elif sign in "]}":
            depth -= 1
            if not depth and is_header:
                yield Span(start, token.end())


def _start(text: str, header: int) -> int:
    """Return the beginning of the comments directly above a header."""
    line = text.rfind("\n", 0, header) + 1
    while line:
        above = text.rfind("\n", 0, line - 1) + 1
        if not text[above:line].lstrip().startswith("#"):
            break
        line = above
    return line


def _way(header: str, counts: dict[tuple[str | int, ...], int]) -> tuple[str | int, ...]:
    """Return the way to a header's table; `counts` contains the index of the last table in each array so far."""
    way: tuple[str | int, ...] = ()
    *outer, last = _keys(header)
    for key in outer:
        way = (*way, key)
        way += (counts[way],) if way in counts else ()
    way = (*way, last)
    if header.startswith("[["):
        counts[way] = counts.get(way, -1) + 1
        way += (counts[way],)
    return way


@lru_cache(maxsize=64)
def _keys(header: str) -> list[str]:
    """Return the keys in a header, cached because many tables of an array have equal headers."""
    import tomlkit

    keys = []
    inner: Any = tomlkit.parse(header).unwrap()
    while inner:
        key = next(iter(inner))
        keys.append(key)
        inner = inner[key][0] if isinstance(inner[key], list) else inner[key]
    return keys
