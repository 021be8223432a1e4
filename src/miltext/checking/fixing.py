"""Fixes of a text by the suggestions of its findings, until no fixable finding is left.

Each step is proven by another check. A mistake often hides the next one in its phrase. So a step that lets a parse
continue is kept if the parse does not fail in the inserted text, nor in more lines. Any other step is kept if it adds
no error and no finding.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from miltext.diagnostics import SAFE, Diagnostic, MiltextError, line_and_column
from miltext.diagnostics.selection import keeps_from_reading
from miltext.syntax.editing import Edit, EditedText, edited
from miltext.syntax.removal import with_blanks

MOST_CHECKS = 100
"""The greatest number of checks of a text; a useless suggestion is found by further checks."""


class Mended(NamedTuple):
    """A text, the number of suggestions applied to make it, and all findings of its check.

    `useless` counts the remaining suggestions that would not improve the text; None if MOST_CHECKS was reached.
    """

    text: str
    applied: int
    diagnostics: list[Diagnostic]
    useless: int | None = 0


def is_fixable(diagnostic: Diagnostic, *, unsafe: bool) -> bool:
    """Return whether a finding has a certain suggestion; with `unsafe`, any suggestion."""
    is_there = diagnostic.suggestion is not None and diagnostic.span is not None
    return is_there and (unsafe or diagnostic.applicability == SAFE)


def mend(text: str, check: Callable[[str], list[Diagnostic]], chosen: Callable[[Diagnostic], bool]) -> Mended:
    """Apply the suggestions of the `chosen` findings where they improve the text; `check` finds the errors of a text.

    A certain fix stays, even if it reveals more findings. A guess stays only if it reduces the errors. Raise the errors
    of the first check.
    """
    result = last = Mended(text, 0, check(text))
    batches = _batches(last, chosen)
    seen = {text}
    for _ in range(MOST_CHECKS):
        if not batches:
            break
        fixes = batches.pop()
        after, failed = _tried(last, fixes, check)
        if after is None or after.text in seen:
            batches += _smaller(last.text, fixes, failed)
            continue
        is_certain = last is result and all(fix.applicability == SAFE for fix in fixes)
        result = after if is_certain or _is_better(after, result) else result
        last, batches = after, _batches(after, chosen)
        seen.add(after.text)
    return result._replace(useless=None if batches else sum(map(chosen, result.diagnostics)))


# ---- the fixes to try


def _batches(mended: Mended, chosen: Callable[[Diagnostic], bool]) -> list[list[Diagnostic]]:
    """Return the fixes to try together, from the end of the text: first fixes of unreadable phrases, then certain
    fixes, then guesses.
    """
    kinds: dict[tuple[bool, bool], list[Diagnostic]] = {}
    for fix in filter(chosen, mended.diagnostics):
        kinds.setdefault((fix.applicability == SAFE, keeps_from_reading(fix)), []).append(fix)
    return [_apart(kinds[kind]) for kind in sorted(kinds)]


def _smaller(text: str, fixes: list[Diagnostic], failed: set[Diagnostic]) -> list[list[Diagnostic]]:
    """Return smaller batches of fixes, from the end of the text, in place of a batch that did not help.

    A fix that failed alone in its line is not tried again.
    """
    if len(fixes) == 1:
        return []
    lines = _lines(text, fixes)
    in_line = Counter(lines)
    good = [fix for fix in fixes if fix not in failed]
    doubtful = [fix for fix, line in zip(fixes, lines, strict=True) if fix in failed and in_line[line] > 1]
    parts = [doubtful, good]
    if len(fixes) in (len(good), len(doubtful)):
        parts = [fixes[len(fixes) // 2 :], fixes[: len(fixes) // 2]]
    return [part for part in parts if part]


def _apart(fixes: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return fixes in the order of the text, without any that touches an earlier fix."""
    kept: list[Diagnostic] = []
    end = -1
    for fix in sorted(fixes, key=lambda fix: fix.span or (0, 0)):
        assert fix.span is not None
        if fix.span.start > end:
            kept.append(fix)
            end = fix.span.end
    return kept


# ---- whether it does good


def _tried(
    before: Mended, fixes: Sequence[Diagnostic], check: Callable[[str], list[Diagnostic]]
) -> tuple[Mended | None, set[Diagnostic]]:
    """Return the text with fixes of one kind applied, None if that does not improve it; and the fixes that fail."""
    made = applied(before.text, fixes)
    text, starts = made.text, _starts(made, fixes)
    try:
        after = Mended(text, before.applied + len(fixes), check(text))
    except MiltextError:
        return None, set()
    old, new = _badness(before), _badness(after)
    failed = _failed(fixes, starts, after.diagnostics)
    if keeps_from_reading(fixes[0]):
        is_good = new.unread <= old.unread
    else:
        is_good = new <= old
        was, is_now = _by_line(before), _by_line(after)
        lines = zip(_lines(before.text, fixes), [line_and_column(text, at)[0] for at in starts], strict=True)
        failed |= {fix for fix, (line, new_line) in zip(fixes, lines, strict=True) if is_now[new_line] > was[line]}
    return (after if is_good and not failed else None), failed


def _failed(fixes: Sequence[Diagnostic], starts: Sequence[int], found: Sequence[Diagnostic]) -> set[Diagnostic]:
    """Return the fixes whose findings remain, and those in whose suggestions a parse now fails."""
    same = {(each.code, each.message, each.span.start) for each in found if each.span}
    unread = sorted(each.span.start for each in found if each.span and keeps_from_reading(each))
    failed = set[Diagnostic]()
    for fix, start in zip(fixes, starts, strict=True):
        end = start + len(fix.suggestion or "")
        if (fix.code, fix.message, start) in same or bisect_left(unread, start) < bisect_left(unread, end):
            failed.add(fix)
    return failed


class _Badness(NamedTuple):
    """The numbers of unreadable lines, of errors, and of findings in a text."""

    unread: int
    errors: int
    findings: int


def _badness(mended: Mended) -> _Badness:
    found = mended.diagnostics
    unread = {*_lines(mended.text, filter(keeps_from_reading, found))}
    return _Badness(len(unread), sum(each.severity == "error" for each in found), len(found))


def _by_line(mended: Mended) -> Counter[int]:
    """Return the number of errors in each line."""
    return Counter(_lines(mended.text, (each for each in mended.diagnostics if each.severity == "error")))


def _is_better(new: Mended, old: Mended) -> bool:
    """Return whether a text is better than another: fewer findings or unreadable lines, and no more errors."""
    return _badness(new) < _badness(old) and _badness(new).errors <= _badness(old).errors


def _lines(text: str, found: Iterable[Diagnostic]) -> list[int]:
    """Return the line in which each finding begins; -1 for a finding without a place."""
    return [-1 if each.span is None else line_and_column(text, each.span.start)[0] for each in found]


# ---- how it is applied


def applied(text: str, fixes: Iterable[Diagnostic]) -> EditedText:
    """Return a text with suggestions in place of their separate spans."""
    return edited(text, (edit_of(text, fix) for fix in fixes))


def edit_of(text: str, fix: Diagnostic) -> Edit:
    """Return the edit that a finding suggests; a removal includes the blanks around it."""
    assert fix.span is not None
    return *(fix.span if fix.suggestion else with_blanks(text, *fix.span)), fix.suggestion or ""


def _starts(made: EditedText, fixes: Iterable[Diagnostic]) -> list[int]:
    """Return the places of the suggestions in the fixed text."""
    return [made.text.index(fix.suggestion or "", made.place(fix.span.start)) for fix in fixes if fix.span]
