"""Slips: what writers of C, Python, PyTorch, MLIR and ONNX write out of habit, and what MIL writes instead.

No row of the table is looked at unless a parse has failed, and then only at the text around that place.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from miltext.diagnostics import Diagnostic, Span, error
from miltext.parsing.slip_table import PIECES, SLIPS, Slip
from miltext.schema.dtypes import ELSEWHERE
from miltext.schema.elsewhere import meant
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW = 300
"""How many characters before and after the place are looked at."""


def slip_error(text: str, at: int, words: set[str]) -> Diagnostic | None:
    """Return what is said of a slip at the place where a parse stopped; None where there is none that is known.

    `words` are the terminals that could stand there, by their words where they have only one.
    """
    before = text[max(at - WINDOW, 0) : at]
    for slip in SLIPS:
        if slip.wants and slip.wants not in words:
            continue
        after = _pattern(slip.found).match(text, at, at + WINDOW)
        read = after and _pattern(slip.before + r"\Z").search(before)
        if after and read:
            marked = read.span("at") if "at" in read.re.groupindex else (len(before), len(before))
            start, end = (at - len(before) + place for place in marked)
            end = after.end() if after.end() > at else end
            return told(text, slip, Span(start, end), read.groupdict() | after.groupdict())
    return None


def told(text: str, slip: Slip, place: Span, groups: dict[str, str | None]) -> Diagnostic:
    """Return what is said of a slip at a place, given what the groups of its patterns found."""
    cleaned = {name: _CLEANED.get(name, str)(found or "") for name, found in groups.items()}
    seen = {name: shown(" ".join(found.split())) for name, found in cleaned.items()}
    mend = None if slip.mend is None else slip.mend.format(**cleaned)
    if mend is None or mend.endswith(" "):  # the white space after it is not a part of it
        place = Span(place.start, place.start + len(text[place.start : place.end].rstrip()))
    return error("MIL025", slip.message.format(**seen), place, suggestion=mend and mend.rstrip())


@lru_cache(maxsize=1 << 9)
def _pattern(written: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern of the table."""
    for word, piece in PIECES.items():
        written = re.sub(rf"\b{word}\b", lambda _, piece=piece: piece, written)  # type: ignore[misc]
    return re.compile(written.replace(" ", r"[ \t\r\n]*"))


def _operation(name: str) -> str:
    known = meant(name)
    return known.operations[0] if known and len(known.operations) == 1 else name


_CLEANED: dict[str, Callable[[str], str]] = {
    "dtype": lambda name: ELSEWHERE.get(name.lower(), name),
    "sizes": lambda sizes: ", ".join(re.findall(r"\d+|\?", sizes)),
    "odd": lambda name: re.sub(r"[^A-Za-z0-9_@]+", "_", name),
    "names": lambda names: ", ".join(f"_ {name}" for name in re.findall(r"\w+", names)),
    "digits": lambda number: number.replace("_", ""),
    "whole": lambda number: str(int(number, 0)),
    "operation": _operation,
}
"""How MIL writes what the groups of these names found."""
