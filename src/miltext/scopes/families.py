"""Families of scopes and names: those that differ only in their first number, such as repeated layers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TIMES = "\N{MULTIPLICATION SIGN}"
"""The sign before the number of scopes or names of a row."""

_NUMBER = re.compile(r"\d+")
_SEPARATORS = re.compile(r"^[_./@]+")


def family(label: str) -> str:
    """Return the label of a scope without its first number, in which the scopes of repeated layers differ."""
    return _NUMBER.sub("#", label, count=1)


def relative(label: str, around: str) -> str:
    """Return the label of a scope without that of the scope around it."""
    return _SEPARATORS.sub("", label.removeprefix(around)) or label


def stem(scope: str) -> str:
    """Return the name of a family: `encoder_layers` of `encoder_layers_0`, `h_*_attn` of `h_0_attn`."""
    found = family(scope)
    return found.rstrip("#_.@/") or scope if found.endswith("#") else found.replace("#", "*")


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
