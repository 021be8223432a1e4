"""Places in a text of TOML: the value, the key or the table at the end of a way.

tomlkit keeps a text as it is, but does not report places. So a mark replaces the value, and its place is found in the
new text of the block around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from miltext.diagnostics import Span
from miltext.toml.blocks import TableBlock, blocks

_MARK = "\ue000\ue001"
"""Characters of private use."""

_KEY = re.compile(r"""("[^"\n]*"|'[^'\n]*'|[\w-]+)\s*=\s*\Z""")

_FIRST = re.compile(r"^[ \t]*[^#\s][^\n]*", re.MULTILINE)


def value_span(text: str, at: Sequence[str | int]) -> Span | None:
    """Return the place of a value. The place of a table is its name in the header; in an array of tables, the whole
    header.

    A value without a place of its own has the header of the first table in it, or of the table around it.
    """
    way, found = tuple(at), blocks(text)
    around = max((block for block in found if way[: len(block.at)] == block.at), key=lambda block: len(block.at))
    if way == around.at:
        return _header(text, around)
    inner = _marked(text[around.body : around.end], way[len(around.at) :])
    if inner is not None:
        return Span(around.body + inner.start, around.body + inner.end)
    below = [block for block in found if block.at[: len(way)] == way]
    return _header(text, below[0], way[-1]) if below else _header(text, around)


def key_span(text: str, at: Sequence[str | int]) -> Span | None:
    """Return the place of a value's key."""
    value = value_span(text, at)
    key = None if value is None else _KEY.search(text, 0, value.start)
    return value if key is None else Span(*key.span(1))


def start_span(text: str) -> Span:
    """Return the first line with content: the place of a mistake that has no other place in the text."""
    found = _FIRST.search(text)
    return Span(*found.span()) if found else Span(0, 0)


def _header(text: str, block: TableBlock, name: str | int | None = None) -> Span | None:
    """Return the place of a name in a header, by default the table's own name; for an index, the whole header."""
    if not block.at:
        return None
    word = re.escape(str(block.at[-1] if name is None else name))
    found = re.compile(rf"(?<![\w-]){word}(?![\w-])").search(text, *block.header)
    return block.header if found is None else Span(*found.span())


def _marked(body: str, at: Sequence[str | int]) -> Span | None:
    """Return the place of a value in the text of a table, found by a mark; None for a way without a value.

    A table made only by dotted keys has the place of its first value.
    """
    import tomlkit

    document: Any = tomlkit.parse(body)
    holder = document
    for key in at[:-1]:
        if isinstance(holder, dict) and key not in holder:
            return None
        holder = holder[key]
    if isinstance(holder, dict) and at[-1] not in holder:
        return None
    value: Any = holder[at[-1]]
    if isinstance(value, tomlkit.items.Table):
        return _marked(body, (*at, next(iter(value))))
    written = value.as_string() if hasattr(value, "as_string") else str(value).lower()  # tomlkit unwraps truth values
    holder[at[-1]] = _MARK
    before, mark, _ = document.as_string().partition(f'"{_MARK}"')
    is_found = mark and body.startswith(before + written)
    return Span(len(before), len(before) + len(written)) if is_found else None
