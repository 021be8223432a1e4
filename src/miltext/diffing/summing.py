"""Lists of findings summed up, for forms with a limit of lines.

The first findings of a list stay, and the rest is counted by scope and by kind of edit.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING

from miltext.diagnostics.wording import tally
from miltext.diffing.entries import SIGNS, ReportEntry
from miltext.scopes.families import family, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KINDS = 8
"""The number of kinds of edits named for a scope."""

_COUNTED = {"change", "move", "cause", "line"}
"""The nouns that need no word for the kind of edit."""

_NOUNS = {"value", "weight", "function", "model", "block"} | _COUNTED
"""The nouns of findings other than operations, which are counted by their type."""


def summed(findings: Sequence[ReportEntry], most: int, way: str) -> tuple[ReportEntry, ...]:
    """Return findings with about `most` lines in each list, and sums of the others; `way` is the way to see them."""
    shown = [each if each.closed else each._replace(inner=summed(each.inner, most, way)) for each in findings]
    ends = [*accumulate(1 if _is_heading(each) else _lines(each) for each in shown)]
    kept = max(1, len([*takewhile(lambda end: end <= most, ends)]))  # a long finding is summed up itself
    if kept >= len(shown):
        return tuple(shown)
    return (*shown[:kept], _sum([*_leaves(findings[kept:])], max(2, most // 3), way))


def _is_heading(entry: ReportEntry) -> bool:
    return entry.sign == "@" and bool(entry.inner)


def _lines(entry: ReportEntry) -> int:
    return 1 + (0 if entry.closed else sum(map(_lines, entry.inner)))


def _leaves(findings: Iterable[ReportEntry]) -> Iterator[ReportEntry]:
    """Yield the counted findings: folded ones, and findings below headings without a noun."""
    for each in findings:
        if each.folded:
            yield from _leaves(each.folded)
        elif not each.what and each.inner:
            yield from _leaves(each.inner)
        else:
            yield each


def _sum(findings: Sequence[ReportEntry], most: int, way: str) -> ReportEntry:
    """Return one entry for findings: below it, the counts of each family of scopes."""
    families: dict[str, list[ReportEntry]] = {}
    for each in findings:
        families.setdefault(family(each.scope), []).append(each)
    found = sorted(families.values(), key=len, reverse=True)
    lines = [f"{_where(each)}{_kinds(each)}" for each in found[:most]]
    if rest := [each for group in found[most:] for each in group]:
        lines.append(f"in {tally(len(found) - most, 'other scope')}: {_kinds(rest)}")
    return ReportEntry("=", (f"and {len(findings)} more{way}",), tuple(ReportEntry("", (line,)) for line in lines))


def _where(findings: Sequence[ReportEntry]) -> str:
    scopes = sorted({each.scope for each in findings if each.scope})
    return f"in {spread(scopes)}: " if scopes else ""


def _kinds(findings: Iterable[ReportEntry]) -> str:
    """Return the counts of findings by kind of edit: `120 conv changed, 34 add removed`."""
    counts = Counter((each.what or "line", each.sign) for each in findings)
    named = [_kind(count, what, sign) for (what, sign), count in counts.most_common(KINDS)]
    rest = sum(counts.values()) - sum(count for _, count in counts.most_common(KINDS))
    return ", ".join([*named, *([f"{rest} of other kinds"] if rest else [])])


def _kind(count: int, what: str, sign: str) -> str:
    counted = tally(count, what) if what in _NOUNS else f"{count} {what}"
    return counted if what in _COUNTED else f"{counted} {'changed' if sign in ('@', '') else SIGNS[sign]}"
