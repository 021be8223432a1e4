"""Places in a text of TOML: where the value, the key or the table stands to which a way leads.

tomlkit keeps a text as it is, but does not tell places in it. So a mark is put where the value is, and looked for in
the text that this makes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tomlkit

from miltext.diagnostics import Span

_MARK = "\ue000\ue001"
"""Characters of private use."""

_KEY = re.compile(r"""("[^"\n]*"|'[^'\n]*'|[\w-]+)\s*=\s*\Z""")

_HEADER = re.compile(r"(?m)^[ \t]*\[[^\n]*\]")


def value_span(text: str, at: Sequence[str | int]) -> Span | None:
    """Return where a value stands; of a table, its header."""
    holder: Any = tomlkit.parse(text)
    for key in at[:-1]:
        holder = holder[key]
    if at and isinstance(holder[at[-1]], tomlkit.items.Table):
        return _table_span(text, at)
    return _marked(text, at) or _nearest_header(text, at)


def key_span(text: str, at: Sequence[str | int]) -> Span | None:
    """Return where the key of a value stands."""
    value = value_span(text, at)
    key = None if value is None else _KEY.search(text, 0, value.start)
    return value if key is None else Span(*key.span(1))


def _marked(text: str, at: Sequence[str | int]) -> Span | None:
    """Return where a value stands that is not a table, by a mark in its place."""
    document: Any = tomlkit.parse(text)
    holder = document
    for key in at[:-1]:
        holder = holder[key]
    value: Any = holder[at[-1]] if at else None
    written = value.as_string() if hasattr(value, "as_string") else str(value).lower()  # tomlkit unwraps truth values
    if not at or isinstance(value, tomlkit.items.AoT):
        return None
    holder[at[-1]] = _MARK
    before, mark, _ = document.as_string().partition(f'"{_MARK}"')
    is_found = mark and text.startswith(before + written)
    return Span(len(before), len(before) + len(written)) if is_found else None


def _table_span(text: str, at: Sequence[str | int]) -> Span | None:
    """Return where a table is named in its header, or that of one in an array, which has no name of its own.

    It is the last header before the first value in the table, or before a mark that is put there.
    """
    document: Any = tomlkit.parse(text)
    table = document
    for key in at:
        table = table[key]
    plain = [key for key, value in table.items() if not isinstance(value, (tomlkit.items.Table, tomlkit.items.AoT))]
    if plain:
        first = _marked(text, (*at, plain[0]))
        before = "" if first is None else text[: first.start]
    else:
        table[_MARK] = 1
        before = document.as_string().partition(_MARK)[0]
    headers = [*_HEADER.finditer(before)]
    if not headers or not text.startswith(before[: headers[-1].end()]):
        return _nearest_header(text, at)
    start, end = headers[-1].span()
    name = re.compile(rf"\b{re.escape(str(at[-1]))}\b").search(text, start, end)
    return Span(*name.span()) if name else Span(start, end)


def _nearest_header(text: str, at: Sequence[str | int]) -> Span | None:
    """Return where the header of a table stands that has one of the keys, the innermost one that there is."""
    for key in reversed(at):
        header = re.search(rf"(?m)^[ \t]*\[.*?(\b{re.escape(str(key))}\b).*\]", text)
        if header:
            return Span(*header.span(1))
    return None
