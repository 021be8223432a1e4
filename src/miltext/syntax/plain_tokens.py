"""Expressions that split the grammar's coarse tokens, made of the grammar's own terminals.

For a list, they check only its characters; `is_list` checks its form. Each is compiled at its first use: that takes
longer than to read a short text without coarse tokens.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import accumulate

from miltext.syntax.literals import TO_ELEMENTS, chunks
from miltext.syntax.tables import load_grammar


def _grouped(terminal: str, *parts: str, whole: bool = True) -> re.Pattern[str]:
    """Return the expression of a terminal with a group around each of its own terminals, in their order.

    Unless it is the `whole`, it ends with the last of them.
    """
    of = load_grammar().parts
    pattern, at = of[terminal], 0
    for part in parts:
        at = pattern.index(of[part], at)
        group = f"({of[part]})"
        pattern = pattern[:at] + group + pattern[at + len(of[part]) :]
        at += len(group)
    return re.compile(pattern if whole else pattern[:at])


@cache
def operation_head() -> re.Pattern[str]:
    """Return the expression for the type and the name of the output, the operation's type and its arguments, but not
    its attributes.
    """
    return _grouped("OPERATION", "_PLAIN_TYPE", "_PLAIN_NAME", "_PLAIN_NAME", "_ARGUMENTS", whole=False)


@cache
def argument_parts() -> re.Pattern[str]:
    """Return the expression for the parameter and the name of each argument."""
    return _grouped("_ARGUMENT", "_PLAIN_NAME", "_PLAIN_NAME")


@cache
def attribute_parts() -> re.Pattern[str]:
    """Return the expression for the name, the type and the literal of each attribute."""
    return _grouped("_ATTRIBUTE", "_PLAIN_NAME", "_PLAIN_TYPE", "_PLAIN_LITERAL")


@cache
def blob_parts() -> re.Pattern[str]:
    """Return the expression for the two types of a blob's fields, each with its value."""
    return _grouped("_PLAIN_BLOB", "_PLAIN_TYPE", "STRING", "_PLAIN_TYPE", "_DIGITS")


@cache
def tensor_parts() -> re.Pattern[str]:
    """Return the expression for the data type of a tensor type, and its dimensions in brackets."""
    return _grouped("TENSOR", "_WORD", "_SIZES")


_CHUNK = 1 << 13
"""Number of characters matched at once: Python's memory for a repetition stays small."""

_TO_BRACKETS = str.maketrans("", "", "".join(chr(code) for code in range(128) if chr(code) not in "[]"))
_TO_OUTLINE = {code: "0" for code in range(128) if chr(code) not in "[],"}
_MISPLACED = ("0[", "]0", "][", "[,", ",]")


def is_list(text: str) -> bool:
    """Return whether a list of plain elements without spaces, `[[1,2],[3,4]]`, is one by the rules of the grammar."""
    if text == "[]":
        return True
    if text.count("[") + text.count("]") == 2:
        return _are_elements(text[1:-1])
    text = text.replace("[]", "[0]")
    outline = text.translate(_TO_OUTLINE)
    depths = list(accumulate(1 if bracket == "[" else -1 for bracket in text.translate(_TO_BRACKETS)))
    is_nested = not depths[-1] and min(depths[:-1]) > 0 and not any(pair in outline for pair in _MISPLACED)
    return is_nested and _are_elements(text.translate(TO_ELEMENTS))


def _are_elements(text: str) -> bool:
    return all(map(_elements().fullmatch, chunks(text, _CHUNK)))


@lru_cache(maxsize=1)
def plain_element() -> re.Pattern[str]:
    """Return an element of a list of plain ones."""
    of = {terminal.name: terminal.pattern for terminal in load_grammar().terminals}
    return re.compile(rf"{of['NUMBER']}|{of['BOOL']}|{of['INF']}|{of['NAN']}")


@lru_cache(maxsize=1)
def _elements() -> re.Pattern[str]:
    one = f"(?:{plain_element().pattern})"
    return re.compile(rf"{one}(?:,{one})*")
