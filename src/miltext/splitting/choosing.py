"""The choice of boundaries: as few bytes as possible cross them, within a limit of the weights of each part.

Units are operations between two possible boundaries. Both programs over the units are exact: the weights of a run of
units grow with it, so that the beginnings within the limit are a window, whose best one a queue of increasing costs
keeps first.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

SLACK = 4
"""A part of several equal ones may have a `SLACK`th more than its share, if fewer bytes cross then."""

_TRIES = 8
"""The most limits tried for more even parts with as few bytes across."""

_FINE = 1000
"""The least limit is found up to this part of all bytes."""


class SplitUnit(NamedTuple):
    """The bytes of the weights of a unit, by an identity for each, and the bytes that cross the boundary before it."""

    weights: Mapping[Hashable, int]
    crossing: int


class TooLarge(Exception):
    """A unit with more bytes than a part may have."""

    def __init__(self, unit: int) -> None:
        super().__init__(unit)
        self.unit = unit


def within(units: Sequence[SplitUnit], most: int) -> list[int]:
    """Return the first unit of each part: as few parts as possible, and then as few bytes across as possible.

    No part has more than `most` bytes of weights. Raise TooLarge.
    """
    costs = [(0, 0)]
    before = [0]
    window = _Window()
    for end, start in enumerate(_starts(units, most), 1):
        if start == end:
            raise TooLarge(end - 1)
        window.add(end - 1, costs[-1])
        best = window.best(start) or 0
        before.append(best)
        count, crossing = costs[best]
        costs.append((count + 1, crossing + (units[end].crossing if end < len(units) else 0)))
    return _path([before], len(units), None)


def evenly(units: Sequence[SplitUnit], number: int) -> list[int]:
    """Return the first unit of each of `number` parts with about equal weights, of which the fewest bytes cross.

    No part has more than its share and a quarter, or than the boundaries make necessary; among several such choices,
    the largest part is small. There are enough units.
    """
    share = _bytes(units) / number
    low = _least_limit(units, number)
    high = max(low, int(share + share / SLACK))
    best = _numbered(units, number, high)
    for turn in range(_TRIES):
        if low >= high:
            break
        middle = (low + high) // 2 if turn else low
        found = _numbered(units, number, middle)
        if _crossing(units, found) <= _crossing(units, best):
            best, high = found, middle
        else:
            low = middle + 1
    return best


def _crossing(units: Sequence[SplitUnit], starts: Sequence[int]) -> int:
    """Return the bytes that cross the boundaries before units."""
    return sum(units[start].crossing for start in starts[1:])


def _numbered(units: Sequence[SplitUnit], number: int, most: int) -> list[int]:
    """Return the first units of so many parts within a limit, of which the fewest bytes cross."""
    starts = [*_starts(units, most)]
    costs: list[int | None] = [0, *[None] * len(units)]
    layers = []
    for _ in range(number):
        costs, before = _layer(units, starts, costs)
        layers.append(before)
    return _path(layers[::-1], len(units), number)


def _layer(
    units: Sequence[SplitUnit], starts: Sequence[int], costs: Sequence[int | None]
) -> tuple[list[int | None], list[int]]:
    """Return the least cost of one more part that ends before each unit, and the beginning of that part."""
    window = _Window()
    made: list[int | None] = [None]
    before = [0]
    for end, start in enumerate(starts, 1):
        if (cost := costs[end - 1]) is not None:
            window.add(end - 1, (cost, 0))
        best = window.best(start)
        before.append(best if best is not None else 0)
        known = costs[best] if best is not None else None
        made.append(None if known is None else known + (units[end].crossing if end < len(units) else 0))
    return made, before


class _Window(deque[tuple[tuple[int, int], int]]):
    """Beginnings with their costs, in increasing order of both: the first is the best one of a window that moves on."""

    def add(self, start: int, cost: tuple[int, int]) -> None:
        """Add a beginning after all others."""
        while self and self[-1][0] >= cost:
            self.pop()
        self.append((cost, start))

    def best(self, start: int) -> int | None:
        """Return the best beginning from `start` on, and forget those before it."""
        while self and self[0][1] < start:
            self.popleft()
        return self[0][1] if self else None


def _path(layers: Sequence[Sequence[int]], end: int, number: int | None) -> list[int]:
    """Return the beginnings on the best way to the end: in one layer for any number of parts, or in one for each."""
    found: list[int] = []
    while end > 0 if number is None else len(found) < number:
        end = layers[0 if number is None else len(found)][end]
        found.append(end)
    return found[::-1]


def _starts(units: Sequence[SplitUnit], most: int) -> Iterator[int]:
    """Yield for each unit the first one of the longest run that ends with it and has at most so many bytes.

    It is the next unit for a unit that has more by itself.
    """
    counts: dict[Hashable, int] = {}
    size, start = 0, 0
    for end, unit in enumerate(units):
        for key, bytes_ in unit.weights.items():
            counts[key] = counts.get(key, 0) + 1
            size += bytes_ * (counts[key] == 1)
        while size > most:
            for key, bytes_ in units[start].weights.items():
                counts[key] -= 1
                size -= bytes_ * (counts[key] == 0)
            start += 1
        yield start if start <= end else end + 1


def _bytes(units: Sequence[SplitUnit]) -> int:
    """Return the bytes of all weights, each once."""
    return sum({key: size for unit in units for key, size in unit.weights.items()}.values())


def _least_limit(units: Sequence[SplitUnit], number: int) -> int:
    """Return about the least limit with which so many parts are enough."""
    total = _bytes(units)
    low, high = max((sum(unit.weights.values()) for unit in units), default=0), total
    while high - low > total // _FINE:
        middle = (low + high) // 2
        if _fewest(units, middle) <= number:
            high = middle
        else:
            low = middle + 1
    return low if _fewest(units, low) <= number else high


def _fewest(units: Sequence[SplitUnit], most: int) -> int:
    """Return the least number of parts within a limit that no unit exceeds."""
    found, begun = 0, -1
    for end, start in enumerate(_starts(units, most)):
        if start > begun:
            found, begun = found + 1, end
    return found
