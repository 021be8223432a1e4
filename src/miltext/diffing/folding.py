"""The same edit in several places, told once.

Two edits are the same if their texts are, apart from numbers in names and places in weight files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diffing.entries import ReportEntry, ScopedEntry

FEWEST = 3
"""The fewest equal edits that are told as one."""

NAMED = 3
"""The number of operations named in a fold without scopes."""

_NAME = re.compile(r'"[^"]*"|[A-Za-z_][\w.@/]*')
_PLACE = re.compile(r'(?<=" at )\d+')
_NUMBER = re.compile(r"\d+")


def folded(entries: Sequence[ScopedEntry]) -> Iterator[ReportEntry]:
    """Yield the entries; where the same edit is in FEWEST places or more, the first of them stands for all."""
    groups: dict[tuple[str, ...], list[ScopedEntry]] = {}
    for each in entries:
        groups.setdefault(_key(each), []).append(each)
    for each in entries:
        group = groups[_key(each)]
        if len(group) < FEWEST:
            yield each.entry
        elif group[0] is each:
            yield _fold(group)


def _key(each: ScopedEntry) -> tuple[str, ...]:
    """Return the facts in which equal edits agree; of a changed operation, its type and its changes."""
    shown = each.entry._replace(words=()) if each.type else each.entry
    return family(each.scope), each.type, *_texts(shown)


def _texts(entry: ReportEntry) -> Iterator[str]:
    """Yield the texts of an entry and of those inside it, without the numbers in names."""
    yield entry.sign
    for word in entry.words:
        yield _NAME.sub(_without_numbers, _PLACE.sub("#", word))
    for inner in entry.inner:
        yield from _texts(inner)


def _without_numbers(match: re.Match[str]) -> str:
    return match[0] if match[0] in BY_NAME or match[0].startswith('"') else _NUMBER.sub("#", match[0])


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
    """Return the scopes of one family in words: `layers_0 … 16` for all numbers between, `layers_0, 3, 5` for some."""
    numbers = sorted({int(match[0]) for label in labels if (match := _NUMBER.search(label))})
    others = sorted({label for label in labels if not _NUMBER.search(label)})
    if not numbers:
        return ", ".join(others)
    first = next(label for label in labels if (match := _NUMBER.search(label)) and int(match[0]) == numbers[0])
    if len(numbers) > 2 and numbers == [*range(numbers[0], numbers[-1] + 1)]:
        return f"{first} … {numbers[-1]}"
    return ", ".join([first, *map(str, numbers[1:])])
