"""A search for the needed items of a list with few questions, for a test on a device is expensive.

A question is a part of the list, and its answer is whether the test passes on that part. If more items never make a
test fail, the result is the smallest part; else it is a part without removable single items. The last needed item is
found by halving, then the first one, then the items between: a fault in one of a thousand operations takes about ten
questions. With a `width`, as many guesses are tested at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

Ask: TypeAlias = Callable[[Sequence[Sequence[T]]], Sequence[bool]]
"""Return for several parts of a list, each in the list's order, whether the test passes."""

FEW = 4
"""With at most this number of needed items, further ones are assumed to be far apart, then as near as the last ones."""


def shrink(items: Sequence[T], ask: Ask[T], width: int = 1) -> list[T]:
    """Return items, in order, that make a test pass, and each of which it needs.

    The test passes on all `items`. Parts are tested, the empty one first.
    """
    search = Search(ask, width)
    if not items or search.passes([]):
        return []
    return search.one_by_one(search.needed(items))


def narrow(items: Sequence[T], ask: Ask[T], width: int = 1) -> list[T]:
    """Return the items from the first to the last needed by a test, as `shrink` would find them."""
    search = Search(ask, width)
    return [] if not items or search.passes([]) else search.ends(items)


class Search(Generic[T]):
    """A search with a test, `width` questions at a time."""

    def __init__(self, ask: Ask[T], width: int = 1) -> None:
        self._ask = ask
        self._width = max(1, width)

    def passes(self, part: Sequence[T]) -> bool:
        """Return whether the test passes on a part."""
        return self._ask([part])[0]

    def ends(self, items: Sequence[T]) -> list[T]:
        """Return the items from the first to the last needed by a test, if more items never make it fail.

        Without any items it fails.
        """
        end = self._least(lambda count: items[:count], 0, len(items))
        if end == 1 or self.passes([items[end - 1]]):
            return [items[end - 1]]
        return [*items[end - self._least(lambda count: items[end - count : end], 1, end) : end]]

    def needed(self, items: Sequence[T]) -> list[T]:
        """Return the items that a test needs, as `ends` does, without unneeded items between."""
        found = self.ends(items)
        return [found[0], *self._between(found[0], found[1:-1], found[-1:])] if len(found) > 1 else found

    def _between(self, first: T, rest: Sequence[T], after: list[T]) -> list[T]:
        """Return the needed items of the `rest`, and the items `after` it; `first` is needed, too."""
        gap = len(rest)
        found = 0
        while rest:
            gap = min(gap, len(rest))
            if self.passes([first, *rest[:-gap], *after]):
                rest, gap = rest[:-gap], gap * 2
                continue
            end = self._least(lambda count: [first, *rest[:count], *after], len(rest) - gap, len(rest))  # noqa: B023
            found += 1
            gap = len(rest) if found < FEW else len(rest) - end + 1
            rest, after = rest[: end - 1], [rest[end - 1], *after]
        return after

    def _least(self, part: Callable[[int], Sequence[T]], fails: int, passes: int) -> int:
        """Return the least count whose part passes, for a growing part: `fails` is a count that fails, `passes` a count
        that passes.
        """
        while passes - fails > 1:
            guesses = min(self._width, passes - fails - 1)
            counts = [fails + (passes - fails) * (nth + 1) // (guesses + 1) for nth in range(guesses)]
            for count, answer in zip(counts, self._ask([part(count) for count in counts]), strict=True):
                if answer:
                    passes = count
                    break
                fails = count
        return passes

    def one_by_one(self, items: Sequence[T]) -> list[T]:
        """Return items without removable single ones."""
        found, place, stuck = list(items), 0, 0
        while stuck < len(found):
            places = [(place + nth) % len(found) for nth in range(min(self._width, len(found) - stuck))]
            answers = self._ask([[*found[:each], *found[each + 1 :]] for each in places])
            gone = next((nth for nth, answer in enumerate(answers) if answer), None)
            if gone is None:
                stuck += len(places)
                place = (place + len(places)) % len(found)
            else:
                place, stuck = places[gone], 0
                del found[place]
                place = place % len(found) if found else 0
        return found
