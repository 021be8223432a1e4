"""Slips: habits of writers of C, Python, PyTorch, MLIR and ONNX, and the right spelling in MIL.

The table is used only after a failed parse, for the tokens around its place.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import SAFE, UNSAFE, Diagnostic, Span, codes, error
from miltext.parsing.misread_types import is_misread, literal_given, unknown_type
from miltext.parsing.phrase_slips import PHRASE_SLIPS
from miltext.parsing.slip_patterns import CLEANED, Slip, pattern
from miltext.parsing.statement_slips import STATEMENT_SLIPS
from miltext.parsing.token_lines import TokenLine, after, before
from miltext.schema.dtypes import AMBIGUOUS, BY_NAME, ELSEWHERE
from miltext.syntax.literals import shown
from miltext.syntax.phrases import OPERATIONS, name_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from miltext.syntax.tree import Node

SLIPS = (*STATEMENT_SLIPS, *PHRASE_SLIPS)
"""All slips; the first match is reported."""

_DEFINED = re.compile(r"[\w>]\s+([A-Za-z_][A-Za-z0-9_@]*)\s*(?:=(?!=)|[,)])")


def slip_error(text: str, at: int, words: set[str]) -> Diagnostic | None:
    """Return the error for a slip at the place where a parse stopped; None for an unknown slip.

    `words` are the possible terminals there, as words if a terminal has only one.
    """
    around = _Around(text, at)
    for row in _rows():
        wants = row.slip.wants
        fit = around.fit(row) if not wants or wants in words else None
        if fit and _is_value(text, fit.groups.get("defined")):
            return slip_diagnostic(text, row.slip, fit)
    return None


class _SlipPatterns(NamedTuple):
    """A slip, and its patterns as regular expressions: for the line before a place, and for the line after it."""

    slip: Slip
    before: Callable[[str], re.Match[str] | None]
    found: Callable[[str], re.Match[str] | None]


@lru_cache(maxsize=1)
def _rows() -> list[_SlipPatterns]:
    return [_SlipPatterns(slip, pattern(rf"(?:{slip.before})\Z").search, pattern(slip.found).match) for slip in SLIPS]


class Fit(NamedTuple):
    """The match of a row: the place of the error, the contents of the groups, and whether it contains a comment."""

    place: Span
    groups: dict[str, str | None]
    has_comment: bool = False


class _Around:
    """The lines of the tokens before and after a place of a text."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.after = after(text, at)

    @cached_property
    def before(self) -> TokenLine:
        return before(self.text, self.at)

    @cached_property
    def phrase(self) -> TokenLine:
        return after(self.text, self.at, phrase=True)

    def fit(self, row: _SlipPatterns) -> Fit | None:
        """Return the match of a row here, if any. For a long row, the short pattern before the place is tried first."""
        following = self.after
        if row.slip.long:
            read = row.before(self.before.line)
            following = self.phrase if read else following
            found = read and row.found(following.line)
        else:
            found = row.found(following.line)
            read = found and row.before(self.before.line)
        return self._fit(read, found, following) if read and found else None

    def _fit(self, read: re.Match[str], found: re.Match[str], following: TokenLine) -> Fit:
        start, end = read.span("at") if "at" in read.re.groupindex else (read.end(), read.end())
        place = Span(self.before.place(start), self.before.place(end))
        if found.end():
            place = Span(place.start, following.place(found.end()))
        groups = {**_groups(read, self.before), **_groups(found, following)}
        comments = (*self.before.comments, *following.comments)
        return Fit(place, groups, any(place.start <= at < place.end for at in comments))


def _groups(match: re.Match[str], line: TokenLine) -> dict[str, str | None]:
    """Return the texts of a match's groups."""
    spans = {name: match.span(name) for name in match.re.groupindex}
    return {
        name: line.text[line.place(start) : line.place(end)] if start >= 0 else None
        for name, (start, end) in spans.items()
    }


def misread_error(text: str, operation: Node) -> Diagnostic | None:
    """Return the error of a phrase that was misread as an operation: `c = fp16(0.5);`, `x = float(1)`."""
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
    """Yield the phrases that were misread as operations, with their errors."""
    for phrase in phrases:
        if phrase.name in OPERATIONS and (found := misread_error(text, phrase)):
            yield phrase, found


def _is_value(text: str, name: str | None) -> bool:
    """Return whether the text defines a value of this name, after a type or `_`; true without a name."""
    return name is None or name in defined_names(text)


@lru_cache(maxsize=1)
def defined_names(text: str) -> frozenset[str]:
    """Return the names in a text after a type or `_`, as in the definition of a value."""
    return frozenset(_DEFINED.findall(text))


def slip_diagnostic(text: str, slip: Slip, fit: Fit) -> Diagnostic:
    """Return the error of a matching slip, without a suggestion if that would drop a comment."""
    place, groups = fit.place, fit.groups
    cleaned = {name: CLEANED.get(name, str)(found or "") for name, found in groups.items()}
    seen = {name: shown(" ".join(found.split())) for name, found in cleaned.items()}
    mend = None if slip.mend is None or fit.has_comment else slip.mend.format(**cleaned)
    if mend is None or mend.endswith(" "):  # without the white space after the match
        place = Span(place.start, place.start + len(text[place.start : place.end].rstrip()))
    is_certain = slip.certain and (groups.get("dtype") or "").lower() not in AMBIGUOUS
    mend, applicability = mend and mend.rstrip(), SAFE if is_certain else UNSAFE
    return error(codes.OTHER_LANGUAGE, slip.message.format(**seen), place, suggestion=mend, applicability=applicability)
