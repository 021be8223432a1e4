"""The same edit in several places, reported once.

`repeats` decides which edits are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.scopes.families import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diffing.entries import ReportEntry, ScopedEntry

FEWEST = 3
"""The fewest equal edits reported as one."""

NAMED = 3
"""The number of operations named in a fold without scopes."""


def folded(entries: Sequence[ScopedEntry]) -> Iterator[ReportEntry]:
    """Yield the entries; where the same edit is in FEWEST places or more, the first of them stands for all."""
    groups: dict[str, list[ScopedEntry]] = {}
    for each in entries:
        groups.setdefault(each.repeat, []).append(each)
    for each in entries:
        group = groups[each.repeat]
        if len(group) < FEWEST or not each.repeat:
            yield each.entry
        elif group[0] is each:
            yield _fold(group)


def _fold(group: Sequence[ScopedEntry]) -> ReportEntry:
    """Return one entry for equal edits, with all of them in it."""
    first = group[0].entry
    scopes = [each.scope for each in group]
    named = [scope for scope in scopes if scope]
    if len(named) == len(group) == len({*named}):
        where = f"in each of {spread(scopes)}"
    elif len(named) == len(group):
        where = f"{len(group)} times, in {spread(scopes)}"
    else:
        where = f"{len(group)} times"
    more = ", ".join([each.name for each in group[1:NAMED]])
    left = len(group) - NAMED
    others = f"also {more}{f' and {left} more' if left > 0 else ''}"
    words = f"{where}: {first.words[0]} ({others})"
    return first._replace(words=(words,), folded=tuple(each.entry for each in group))
