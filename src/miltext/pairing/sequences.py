"""Alignment of two sequences: their common items, and the pairs in the same order."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

_EFFORT = 100
"""The number of differences between two sequences that are considered at once."""

Pair = tuple[int, int]


def in_order(pairs: Sequence[Pair]) -> list[Pair]:
    """Return a longest selection of pairs, sorted by their first numbers, whose second numbers rise too."""
    ends: list[int] = []
    at_end: list[int] = []
    before: list[int] = []
    for place, (_, second) in enumerate(pairs):
        length = bisect_left(ends, second)
        before.append(at_end[length - 1] if length else -1)
        ends[length : length + 1] = [second]
        at_end[length : length + 1] = [place]
    place = at_end[-1] if at_end else -1
    chosen: list[Pair] = []
    while place >= 0:
        chosen.append(pairs[place])
        place = before[place]
    return chosen[::-1]


def merged(spine: Sequence[Pair], length: int, other: int) -> Iterator[tuple[int | None, int | None]]:
    """Yield two sequences in a common order: both places of each pair in the spine, one place of any other item."""
    i, j = 0, 0
    for end, edge in [*spine, (length, other)]:
        yield from ((place, None) for place in range(i, end))
        yield from ((None, place) for place in range(j, edge))
        if end < length and edge < other:
            yield end, edge
        i, j = end + 1, edge + 1


def common(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Return the places of a longest common subsequence; for very different sequences, of a long one, found piece by
    piece.
    """
    both = {*a} & {*b}
    left, free = [i for i, item in enumerate(a) if item in both], [j for j, item in enumerate(b) if item in both]
    old, new = [a[i] for i in left], [b[j] for j in free]
    pairs: list[Pair] = []
    start, stop = 0, 0
    while start < len(old) and stop < len(new):
        found, (start, stop) = _piece(old, new, start, stop)
        pairs += found
    return [(left[i], free[j]) for i, j in pairs]


def _piece(a: Sequence[Hashable], b: Sequence[Hashable], start: int, stop: int) -> tuple[list[Pair], Pair]:
    """Return the common items from these places on, and the places after them.

    The greedy algorithm of E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986: on the diagonal of all
    places i in `a` and j in `b` with the same i - j, the furthest place for a cost, the number of omitted items.
    """
    first = start - stop
    reach = {1: start}
    history: list[dict[int, int]] = []
    for cost in range(_EFFORT + 1):
        history.append(dict(reach))
        for diagonal in range(-cost, cost + 1, 2):
            place, offset = _entry(reach, diagonal, cost)[1], first + diagonal
            while place < len(a) and place - offset < len(b) and a[place] == b[place - offset]:
                place += 1
            reach[diagonal] = place
            if place >= len(a) and place - offset >= len(b):
                return [*_way_back(history, diagonal, place, first)][::-1], (place, place - offset)
    furthest = max(range(-cost, cost + 1, 2), key=lambda diagonal: 2 * reach[diagonal] - diagonal)
    end = reach[furthest], reach[furthest] - first - furthest
    return [*_way_back(history, furthest, reach[furthest], first)][::-1], end


def _entry(reach: dict[int, int], diagonal: int, cost: int) -> Pair:
    """Return the diagonal before this one, and the place of entry: after an item of `b`, or of `a`, is left out."""
    if diagonal == -cost or (diagonal != cost and reach[diagonal - 1] < reach[diagonal + 1]):
        return diagonal + 1, reach[diagonal + 1]
    return diagonal - 1, reach[diagonal - 1] + 1


def _way_back(history: list[dict[int, int]], diagonal: int, place: int, first: int) -> Iterator[Pair]:
    for cost in range(len(history) - 1, -1, -1):
        previous, entry = _entry(history[cost], diagonal, cost)
        for found in range(place - 1, entry - 1, -1):
            yield found, found - first - diagonal
        diagonal, place = previous, history[cost][previous]
