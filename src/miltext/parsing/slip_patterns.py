"""The form of the tables of slips: rows of patterns, with words for common parts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from miltext.schema.dtypes import BY_NAME, ELSEWHERE
from miltext.schema.elsewhere import meant
from miltext.schema.operations import all_names
from miltext.syntax.names import ARRAYS

if TYPE_CHECKING:
    from collections.abc import Callable


class Slip(NamedTuple):
    """A row: patterns of the text `before` a place and of the text `found` there, and the message about them.

    Both are matched over the lines of `token_lines`. In a pattern, a space is any white space, or none, and a word in
    capitals is a key of PIECES. The wrong text is the group `at` of `before`, if there is one, and the match of
    `found`. `mend` is the replacement. Message and replacement may use the groups of both patterns by name, as
    converted by CLEANED. The row applies only where the terminal `wants` is possible; a group `defined` must be a name
    that the text defines. A replacement is `certain` if it is the only possible one and keeps the meaning. The match of
    a `long` row extends to the end of its phrase.
    """

    before: str
    found: str
    message: str
    mend: str | None = None
    wants: str = ""
    certain: bool = False
    long: bool = False


LITERALS = {
    "(?:bf16|fp16|fp32|fp64)": "NUMBER",
    r"u?int\d+": "WHOLE",
    "string": "STRING",
    r"(?:tensor <[^;=(){}]*\[ [\d?][^;=(){}]*>|list <[^;=(){}]*>)": r"\[[^;=(){}]*\]",
}
"""Patterns of types, with the patterns of their literals. Truth values are absent, for they are first read as names."""

PIECES: dict[str, str] = {
    "OUTPUT": r"(?:TYPE\s+|START)NAME",
    "LITERAL": r"(?:NUMBER|STRING|(?:true|false)(?![\w@])|\[[^;=(){}]*\])",
    "START": r"(?:\A|[;{}\n]) ",
    "NAME": r"[A-Za-z_][A-Za-z0-9_@]*(?![\w@])",
    "DTYPE": rf"(?:{'|'.join({*BY_NAME, *ELSEWHERE})})(?![\w@])",
    "TYPE": r"(?:\w+ <(?:[^>;=(){}]|>(?= [,>]))*>|\w+(?![\w@]))",
    "NUMBER": r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])",
    "WHOLE": r"[-+]?\d+(?![\w.])",
    "STRING": r'"[^"\\\n]*"',
    "MADE": "(?:tensor|list|dict|tuple)",
    "WEIGHT": rf"(?:{'|'.join(map(re.escape, (*ARRAYS, '$blob')))}) \([^();=]*\)",
    "OPERATION": rf"(?:{'|'.join(all_names())})(?![\w@])",
    "MODULE": r"(?:mb|mil|ct|types|torch|nn|F|aten|np|numpy|math|tf|keras|jax|jnp|mx|onnx|tosa|linalg|arith|stablehlo)",
}
"""The meanings of words in capitals in patterns."""


@lru_cache(maxsize=1 << 9)
def pattern(written: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern of the table."""
    for word, piece in PIECES.items():
        written = re.sub(rf"\b{word}\b", lambda _, piece=piece: piece, written)  # type: ignore[misc]
    return re.compile(written.replace(" ", r"[ \n]?"))


def _operation(name: str) -> str:
    known = meant(name)
    return known.names[0] if known and len(known.names) == 1 else name


CLEANED: dict[str, Callable[[str], str]] = {
    "dtype": lambda name: ELSEWHERE.get(name.lower(), name),
    "given": lambda name: ELSEWHERE.get(name.lower(), name),
    "sizes": lambda sizes: ", ".join(re.findall(r"\d+|\?", sizes)),
    "odd": lambda name: re.sub(r"[^A-Za-z0-9_@]+", "_", name),
    "names": lambda names: ", ".join(re.findall(r"\w+", names)),
    "digits": lambda number: number.replace("_", ""),
    "whole": lambda number: str(int(number, 0)),
    "operation": _operation,
}
"""Functions that convert the matches of groups, by the groups' names, to MIL's spelling."""
