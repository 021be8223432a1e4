"""The same edit in several places, told once.

`repeats` decides which edits are the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diffing.entries import ReportEntry, ScopedEntry

FEWEST = 3
"""The fewest equal edits that are told as one."""

NAMED = 3
"""The number of operations named in a fold without scopes."""

_NUMBER = re.compile(r"\d+")


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


def family(label: str) -> str:
    """Return the label of a scope without its first number, in which the scopes of repeated layers differ."""
    return _NUMBER.sub("#", label, count=1)


def spread(labels: Sequence[str]) -> str:
    """Return the scopes of one family in words: `layers_0 … 3, 5 … 16`, with spans of three numbers or more."""
    numbers = sorted({int(match[0]) for label in labels if (match := _NUMBER.search(label))})
    others = sorted({label for label in labels if not _NUMBER.search(label)})
    if not numbers:
        return ", ".join(others)
    first = next(label for label in labels if (match := _NUMBER.search(label)) and int(match[0]) == numbers[0])
    named = [first, *map(str, numbers[1:])]
    return ", ".join(_spans(numbers, named))


def _spans(numbers: Sequence[int], named: Sequence[str]) -> Iterator[str]:
    """Yield sorted numbers by their names; three consecutive ones or more by the first and the last name."""
    start = 0
    for end, number in enumerate(numbers, 1):
        if numbers[end : end + 1] == [number + 1]:
            continue
        if end - start > 2:
            yield f"{named[start]} … {named[end - 1]}"
        else:
            yield from named[start:end]
        start = end
