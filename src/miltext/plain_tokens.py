"""Expressions that take the grammar's coarse tokens apart, for all who read those.

The terminals are stricter: what they let pass matches, so that names and types need no exact spelling here. Only of a
list they know no more than its characters, and `is_list` judges it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from miltext.grammar import load_grammar

PLAIN_NAME = "[A-Za-z0-9_@]+"
PLAIN_TYPE = r"tensor[^>]*>|[a-z0-9]+"

operation_parts = re.compile(
    rf"({PLAIN_TYPE})\s*({PLAIN_NAME})\s*=\s*({PLAIN_NAME})\s*(\([^)]*\))(.*);", re.DOTALL
).fullmatch
"""Type and name of the output, the operation's type, its arguments, and its attributes with the space round them."""

argument_pairs = re.compile(rf"({PLAIN_NAME})\s*=\s*({PLAIN_NAME})").findall
"""The pairs of an argument list."""

PIECES = re.compile(r"[\[\],]|[^\s\[\],]+")
"""The brackets, commas and elements of a list."""

_CHUNK = 1 << 13
"""How many characters are matched at once: what Python's expressions keep of a repetition stays small."""

_TO_ELEMENTS = str.maketrans("", "", "[]")
_TO_BRACKETS = str.maketrans("", "", "".join(chr(code) for code in range(128) if chr(code) not in "[]"))
_TO_OUTLINE = {code: "0" for code in range(128) if chr(code) not in "[],"}
_MISPLACED = ("0[", "]0", "][", "[,", ",]")


def is_list(text: str) -> bool:
    """Whether a list of plain elements without spaces, `[[1,2],[3,4]]`, is one by the rules of the grammar."""
    if text == "[]":
        return True
    if text.count("[") + text.count("]") == 2:
        return _are_elements(text[1:-1])
    text = text.replace("[]", "[0]")
    outline = text.translate(_TO_OUTLINE)
    depths = list(accumulate(1 if bracket == "[" else -1 for bracket in text.translate(_TO_BRACKETS)))
    is_nested = not depths[-1] and min(depths[:-1]) > 0 and not any(pair in outline for pair in _MISPLACED)
    return is_nested and _are_elements(text.translate(_TO_ELEMENTS))


def _are_elements(text: str) -> bool:
    return all(map(_elements().fullmatch, _chunks(text)))


def _chunks(flat: str) -> Iterator[str]:
    start = 0
    while start <= len(flat):
        end = flat.find(",", start + _CHUNK)
        end = len(flat) if end < 0 else end
        yield flat[start:end]
        start = end + 1


@lru_cache(maxsize=1)
def element() -> re.Pattern[str]:
    """An element of a list of plain ones."""
    of = {terminal.name: terminal.pattern for terminal in load_grammar().terminals}
    return re.compile(rf"{of['NUMBER']}|{of['BOOL']}|{of['INF']}|{of['NAN']}")


@lru_cache(maxsize=1)
def _elements() -> re.Pattern[str]:
    one = f"(?:{element().pattern})"
    return re.compile(rf"{one}(?:,{one})*")
