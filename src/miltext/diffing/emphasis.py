"""The words that differ between two texts, such as the two sides of `old -> new`."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from miltext.pairing.sequences import common

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from miltext.diffing.entries import Replaced

_WORD = re.compile(r"-?\d[\w.]*(?:(?<=e)[+-]\d+)?|\w+|\s+|.", re.DOTALL)
"""A number with its sign, a name, spaces, or another character."""


def differing(old: Sequence[Hashable], new: Sequence[Hashable]) -> tuple[set[int], set[int]]:
    """Return the places of the items of each sequence that differ from the other."""
    pairs = common(old, new)
    return {*range(len(old))} - {i for i, _ in pairs}, {*range(len(new))} - {j for _, j in pairs}


def emphasized(text: str, part: Replaced | None) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a text, each with its sign: `-` for words that only the old side has, `+` for words that only
    the new side has, and an empty one for all others.
    """
    if part is None:
        yield "", text
        return
    sides = [_WORD.findall(side) for side in (part.old, part.new)]
    marked = differing(*sides)
    yield "", text[: part.start]
    yield from _pieces(sides[0], marked[0], "-")
    yield "", " -> "
    yield from _pieces(sides[1], marked[1], "+")
    yield "", text[part.start + len(f"{part.old} -> {part.new}") :]


def _pieces(words: Sequence[str], marked: set[int], sign: str) -> Iterator[tuple[str, str]]:
    spaces = {place for place, word in enumerate(words) if word.isspace() and {place - 1, place + 1} <= marked}
    for is_marked, places in groupby(range(len(words)), (marked | spaces).__contains__):
        yield sign if is_marked else "", "".join(words[place] for place in places)
