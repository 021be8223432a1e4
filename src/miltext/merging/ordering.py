"""The merged order of items that two versions moved, added or removed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TypeVar

from miltext.pairing.sequences import in_order

K = TypeVar("K", bound=Hashable)


def merged_order(base: Sequence[K], ours: Sequence[K], theirs: Sequence[K]) -> list[K]:
    """Return all keys of both in the order of ours, with keys that theirs added or moved after their predecessors in
    theirs.

    If both added keys at one place, the keys of ours come first; a key that both moved has its place in ours. A
    key that one side removed stays: the caller decides on it.
    """
    own = set(ours)
    known, there = {*base}, {*theirs}
    moved = _moved(base, theirs) & own - _moved(base, ours)
    order = [key for key in ours if key not in moved]
    before = None
    for key in theirs:
        if key in moved or key not in own:
            place = 0 if before is None else order.index(before) + 1
            while place < len(order) and order[place] not in known and order[place] not in there:
                place += 1
            order.insert(place, key)
        before = key
    return order


def replaced_twice(base: Collection[K], ours: Collection[K], theirs: Collection[K]) -> bool:
    """Return whether both replaced the same key by different keys: a list with both would match neither side."""
    mine, other = {*ours}, {*theirs}
    added = mine.difference(base), other.difference(base)
    return not mine.union(other).issuperset(base) and bool(added[0] - added[1]) and bool(added[1] - added[0])


def _moved(base: Sequence[K], side: Sequence[K]) -> set[K]:
    """Return the keys that a side moved."""
    places = {key: place for place, key in enumerate(side)}
    pairs = [(place, places[key]) for place, key in enumerate(base) if key in places]
    still = {place for place, _ in in_order(pairs)}
    return {base[place] for place, _ in pairs if place not in still}


def after_needs(order: Iterable[K], needs: Callable[[K], Collection[K]]) -> list[K]:
    """Return the nearest order to the given one in which each key comes after the keys that it needs.

    Keys that need one another stay in the given order.
    """
    waiting = list(order)
    left = set(waiting)
    done: list[K] = []
    held: list[K] = []
    for key in waiting:
        held.append(key)
        before = 0
        while before != len(held):
            before = len(held)
            for each in [*held]:
                if left.isdisjoint(needs(each) - {each}):  # type: ignore[operator]
                    held.remove(each)
                    left.remove(each)
                    done.append(each)
    return [*done, *held]
