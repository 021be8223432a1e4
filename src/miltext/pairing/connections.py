"""Partners by connections: similar operations that use the values of partners, or whose values partners use."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from miltext.pairing.likeness import BlockOperations
    from miltext.pairing.sequences import Pair


class Flood:
    """A spread from pairs to neighbours equal at a level.

    Each connection of two operations with the same partners is a vote for the two. The pair with the most votes comes
    first, and among equals a pair of the same name. With `constants`, the spread goes only from operations to their
    constants.
    """

    def __init__(self, a: BlockOperations, b: BlockOperations, level: int, constants: bool = False) -> None:
        self._a = a
        self._b = b
        self._level = level
        self._constants = constants
        self._votes: dict[Pair, int] = {}
        self._heap: list[tuple[int, bool, int, Pair]] = []

    def pairs(self, needed: int) -> Iterator[Pair]:
        """Yield the new pairs; the caller makes each pair partners before it requests the next.

        Each has `needed` votes, and an equal name counts as a vote if `needed` is above 1.
        """
        self._spread(self._border())
        while self._heap:
            votes, renamed, _, (i, j) = heappop(self._heap)
            if self._a.mates[i] is None and self._b.mates[j] is None and (not renamed) - votes >= needed:
                yield i, j
                self._spread([(i, j)])

    def _border(self) -> list[Pair]:
        """Return the pairs with an unpaired neighbour."""
        a = self._a
        beside: set[int] = set()
        for index in a.single():
            for _, maker, _ in a.makers[index]:
                beside.add(maker)
            for _, _, user in a.uses[index]:
                beside.add(user)
        return [(i, j) for i in sorted(beside) if (j := a.mates[i]) is not None]

    def _spread(self, partners: Iterable[Pair]) -> None:
        a, b = self._a, self._b
        for partner in partners:
            for pair in [*self._makers(*partner), *self._users(*partner)]:
                i, j = pair
                self._votes[pair] = votes = self._votes.get(pair, 0) + 1
                heappush(self._heap, (-votes, a.names[i] != b.names[j], abs(i - j), pair))

    def _makers(self, i: int, j: int) -> Iterator[Pair]:
        """Yield the operations whose values partners use in the same slot."""
        a, b, level = self._a, self._b, self._level
        there = {slot: (maker, place) for slot, maker, place in b.makers[j]}
        for slot, maker, place in a.makers[i]:
            other, other_place = there.get(slot, (-1, -1))
            if place != other_place or a.mates[maker] is not None or b.mates[other] is not None:
                continue
            wanted = not (self._constants and a.facts[maker].grounded)
            if wanted and a.local(maker, level) == b.local(other, level):
                yield maker, other

    def _users(self, i: int, j: int) -> Iterator[Pair]:
        """Yield the operations that use a value of partners, each the only user of its kind.

        A constant with several users is not evidence for any of them.
        """
        a, b = self._a, self._b
        shared = not a.facts[i].grounded and (len(a.uses[i]) > 1 or len(b.uses[j]) > 1)
        if not (self._constants or shared):
            yield from only_pairs(self._unpaired_users(a, i), self._unpaired_users(b, j))

    def _unpaired_users(self, side: BlockOperations, index: int) -> Iterator[tuple[int, Hashable]]:
        """Yield the users, each with the place of the value, its slot for it, and its kind."""
        for place, slot, user in side.uses[index]:
            if side.mates[user] is None:
                yield user, (place, slot, side.local(user, self._level))


def only_pairs(old: Iterable[tuple[int, Hashable]], new: Iterable[tuple[int, Hashable]]) -> list[Pair]:
    """Return the pairs of operations with equal keys, unique on both sides."""
    there = _only_ones(new)
    return [(i, there[key]) for key, i in _only_ones(old).items() if key in there]


def _only_ones(keyed: Iterable[tuple[int, Hashable]]) -> dict[Hashable, int]:
    """Return the operations with a unique key, by key."""
    found: dict[Hashable, int] = {}
    several: set[Hashable] = set()
    for index, key in keyed:
        if key in found:
            several.add(key)
        found[key] = index
    return {key: index for key, index in found.items() if key not in several}


def agreeing(a: BlockOperations, b: BlockOperations, found: Mapping[int, int]) -> list[int]:
    """Return the first of each pair in `found` that uses a value of partners, or whose value partners use, in the same
    place.

    Partners are the operations paired before, and the pairs in `found`. An equal constant is not evidence.
    """
    agreed: set[int] = set()
    for i, j in found.items():
        if _same_values(a, i, b, j) or {*b.uses[j], *b.exits.get(j, ())} & {*_uses(a, i)}:
            agreed.add(i)
        there = {*b.makers[j]}
        for slot, maker, place in a.makers[i]:
            if a.facts[maker].grounded and (slot, found.get(maker, a.mates[maker]), place) in there:
                agreed.update({i, maker} & found.keys())
    return sorted(agreed)


def _uses(side: BlockOperations, index: int) -> Iterator[tuple[int, int, int | None]]:
    """Yield the uses of an operation; users with partners have the partners' indexes."""
    yield from side.exits.get(index, ())
    for place, slot, user in side.uses[index]:
        yield place, slot, side.mates[user]


def _same_values(a: BlockOperations, i: int, b: BlockOperations, j: int) -> bool:
    """Return whether two operations use the same value, an input or an outer value, in the same slot."""
    there = dict(zip(b.facts[j].slots, b.facts[j].operands, strict=True))
    for slot, value in zip(a.facts[i].slots, a.facts[i].operands, strict=True):
        if slot in there and (value.maker is None or a.graph.facts[value.maker].grounded):
            token = a.graph.tokens.get(value)
            if token is not None and token == b.graph.tokens.get(there[slot]):
                return True
    return False
