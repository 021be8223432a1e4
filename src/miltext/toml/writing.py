"""Values of Python as texts in TOML."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json

WIDEST = 100
"""The most columns of a list on one line."""

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_HIDDEN = ("Cc", "Cf", "Zl", "Zp", "Co", "Cn")
"""The categories of invisible characters, which are written as escapes."""


def write_toml(table: Mapping[str, Json]) -> str:
    """Return the text of a table and those in it, each after an empty line."""
    return "".join(f"\n{block}" for block in _blocks(table, "", ""))


def table_text(table: Mapping[str, Json], way: str, listed: bool) -> str:
    """Return the text of a table with a header, as a table of an array if it is `listed`, and of its inner tables."""
    return "\n".join(_blocks(table, f"[[{way}]]" if listed else f"[{way}]", f"{way}."))


def _blocks(table: Mapping[str, Json], head: str, way: str) -> Iterator[str]:
    """Yield the text of a table's own values under its header, then the text of its inner tables."""
    lines = [f"{key_text(key)} = {value_text(value)}\n" for key, value in table.items() if not is_table(value)]
    if head or lines:
        yield "".join([*([f"{head}\n"] if head else []), *lines])
    for key, value in table.items():
        inner = f"{way}{key_text(key)}"
        if isinstance(value, dict):
            yield from _blocks(value, f"[{inner}]", f"{inner}.")
        elif is_table(value):
            for each in value:
                yield from _blocks(each, f"[[{inner}]]", f"{inner}.")


def is_table(value: object) -> bool:
    """Return whether a value is a table, or an array of tables, which are written below a header."""
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def key_text(key: str) -> str:
    """Return a key, in quotes if necessary."""
    return key if _BARE.match(key) else value_text(key)


def value_text(value: object) -> str:
    """Return a string, a truth value, a number or a list as TOML spells it."""
    if isinstance(value, str):
        return f'"{"".join(map(_character, value))}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if not isinstance(value, list):
        return str(value)
    texts = [value_text(each) for each in value]
    line = f"[{', '.join(texts)}]"
    if len(line) <= WIDEST:
        return line
    return "[\n" + "".join(f"    {each},\n" for each in texts) + "]"


def _character(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    return f"\\u{code:04X}" if code < 1 << 16 else f"\\U{code:08X}"
