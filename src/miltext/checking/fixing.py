"""Mending a text by what its findings suggest, until nothing is left that could be mended.

Each step is proven by another check: more of the text can be read, or there are fewer errors, or fewer findings. What
comes of all steps has no more errors than the text had, even where mending brings some to light.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from miltext.diagnostics import SAFE, Diagnostic, MiltextError
from miltext.diagnostics.selection import keeps_from_reading

MOST_CHECKS = 100
"""How often a text is checked at most: a suggestion that does not help has to be looked for among the others."""

_BLANKS = " \t"


class Mended(NamedTuple):
    """A text, how many suggestions were applied to make it, and all that a check says of it."""

    text: str
    applied: int
    diagnostics: list[Diagnostic]


def is_fixable(diagnostic: Diagnostic, *, unsafe: bool) -> bool:
    """Whether a finding has a suggestion that is certain; with `unsafe`, any."""
    is_there = diagnostic.suggestion is not None and diagnostic.span is not None
    return is_there and (unsafe or diagnostic.applicability == SAFE)


def mend(text: str, check: Callable[[str], list[Diagnostic]], chosen: Callable[[Diagnostic], bool]) -> Mended:
    """Apply the suggestions of the `chosen` findings, as far as that does good; `check` says what is wrong with a text.

    Raise what the first check raises.
    """
    result = last = Mended(text, 0, check(text))
    useless: set[Diagnostic] = set()
    fixes: list[Diagnostic] = []
    for _ in range(MOST_CHECKS):
        fixes = fixes or _apart(each for each in last.diagnostics if chosen(each) and each not in useless)
        if not fixes:
            break
        tried = _tried(last, fixes, check)
        if tried is not None:
            last, useless, fixes = tried, set(), []
            old, new = _badness(result), _badness(last)
            result = last if new < old and new.errors <= old.errors else result
        elif len(fixes) == 1:
            useless.add(fixes.pop())
        else:
            fixes = fixes[: len(fixes) // 2]
    return result


def _tried(before: Mended, fixes: Sequence[Diagnostic], check: Callable[[str], list[Diagnostic]]) -> Mended | None:
    """Return what fixes make of a text, None if that does no good.

    Several have to leave so many findings less; a single one may bring another finding to light instead of its own.
    """
    text = applied(before.text, fixes)
    try:
        after = Mended(text, before.applied + len(fixes), check(text))
    except MiltextError:
        return None
    old, new = _badness(before), _badness(after)
    if len(fixes) > 1:
        return after if new < old and new.findings <= old.findings - len(fixes) else None
    [fix] = fixes
    is_still_there = any(_place(each) == _place(fix) for each in after.diagnostics)
    return after if new < old or (new == old and not is_still_there) else None


def _place(found: Diagnostic) -> tuple[str, int | None]:
    return found.code, found.span and found.span.start


class _Badness(NamedTuple):
    """How many findings keep parts of a text from being read, how many are errors, and how many there are."""

    unread: int
    errors: int
    findings: int


def _badness(mended: Mended) -> _Badness:
    found = mended.diagnostics
    unread = sum(keeps_from_reading(diagnostic) for diagnostic in found)
    return _Badness(unread, sum(diagnostic.severity == "error" for diagnostic in found), len(found))


def _apart(fixes: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return fixes in the order of the text, without those that touch one before."""
    kept: list[Diagnostic] = []
    end = -1
    for fix in sorted(fixes, key=lambda fix: fix.span or (0, 0)):
        assert fix.span is not None
        if fix.span.start > end:
            kept.append(fix)
            end = fix.span.end
    return kept


def applied(text: str, fixes: Iterable[Diagnostic]) -> str:
    """Return a text with suggestions in place of their spans, which do not overlap and are in order."""
    pieces, last = list[str](), 0
    for fix in fixes:
        assert fix.span is not None
        assert fix.suggestion is not None
        start, end = fix.span if fix.suggestion else _with_blanks(text, *fix.span)
        pieces += text[last : max(start, last)], fix.suggestion
        last = end
    return "".join([*pieces, text[last:]])


def _with_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the stretch to remove with what would be left: blanks at the end of a line, or twice, or an empty line."""
    rest = re.compile(r"[ \t]*(\r?\n|\Z)?").match(text, end)
    assert rest is not None
    if rest[1] is None:
        return start, rest.end() if text[start - 1 : start].isspace() else end
    begin = len(text[:start].rstrip(_BLANKS))
    is_line = begin == 0 or text[begin - 1] == "\n"
    return begin, rest.end() if is_line else rest.start(1)
