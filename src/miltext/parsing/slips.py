"""Slips: what writers of C, Python, PyTorch, MLIR and ONNX write out of habit, and what MIL writes instead.

No row of the table is looked at unless a parse has failed, and then only at the text around that place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miltext.diagnostics import SAFE, UNSAFE, Diagnostic, Span, error
from miltext.parsing.misread_types import is_misread, literal_given, unknown_type
from miltext.parsing.phrase_slips import PHRASE_SLIPS
from miltext.parsing.slip_patterns import CLEANED, Slip, pattern
from miltext.parsing.spans import name_in
from miltext.parsing.statement_slips import STATEMENT_SLIPS
from miltext.schema.dtypes import AMBIGUOUS, BY_NAME, ELSEWHERE
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from miltext.syntax.tree import Node

SLIPS = (*STATEMENT_SLIPS, *PHRASE_SLIPS)
"""All slips. Of those that fit, the first is told."""

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
        after = pattern(slip.found).match(text, at, at + WINDOW)
        read = after and pattern(slip.before + r"\Z").search(before)
        if after and read and _is_value(text, (read.groupdict() | after.groupdict()).get("defined")):
            marked = read.span("at") if "at" in read.re.groupindex else (len(before), len(before))
            start, end = (at - len(before) + place for place in marked)
            end = after.end() if after.end() > at else end
            return told(text, slip, Span(start, end), read.groupdict() | after.groupdict())
    return None


def misread_error(text: str, operation: Node) -> Diagnostic | None:
    """Return what is said of a phrase that was read as an operation, and is none: `c = fp16(0.5);`, `x = float(1)`."""
    literal = literal_given(operation)
    if literal is None:
        return None
    if operation.name == "call":
        unknown = unknown_type(name_in(operation), operation.children[0].span) if is_misread(operation) else None
        return unknown and (slip_error(text, literal.start, set()) or unknown)
    name = name_in(operation)
    is_constant = name == "const" or name in BY_NAME or name.lower() in ELSEWHERE
    return slip_error(text, literal.start, set()) if is_constant else None


def misread_operations(text: str, phrases: Iterable[Node]) -> Iterator[tuple[Node, Diagnostic]]:
    """Yield the phrases that were read as operations, and are none, with what is said of them."""
    for phrase in phrases:
        if phrase.name in ("call", "operation") and (found := misread_error(text, phrase)):
            yield phrase, found


def _is_value(text: str, name: str | None) -> bool:
    """Tell whether a name, if there is one, stands after a type or `_` as it does where a value is defined."""
    return name is None or re.search(rf"[\w>]\s+{name}\s*(?:=(?!=)|[,)])", text) is not None


def told(text: str, slip: Slip, place: Span, groups: dict[str, str | None]) -> Diagnostic:
    """Return what is said of a slip at a place, given what the groups of its patterns found."""
    cleaned = {name: CLEANED.get(name, str)(found or "") for name, found in groups.items()}
    seen = {name: shown(" ".join(found.split())) for name, found in cleaned.items()}
    mend = None if slip.mend is None else slip.mend.format(**cleaned)
    if mend is None or mend.endswith(" "):  # the white space after it is not a part of it
        place = Span(place.start, place.start + len(text[place.start : place.end].rstrip()))
    is_certain = slip.certain and (groups.get("dtype") or "").lower() not in AMBIGUOUS
    mend, applicability = mend and mend.rstrip(), SAFE if is_certain else UNSAFE
    return error("MIL025", slip.message.format(**seen), place, suggestion=mend, applicability=applicability)
