"""Finding partners along connections: who takes values from partners, or gives values to them, in the same place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.models.pairing.likeness import Side
    from miltext.models.pairing.sequences import Pair


class Flood:
    """A spread from the pairs that there are to their neighbours, as far as these are alike at a level.

    Each place where two operations take the same from partners, or give the same to them, is a vote for the two; the
    pair with the most votes goes first, and among equals one of the same name. With `constants`, it is only from
    operations to the constants that they take.
    """

    def __init__(self, a: Side, b: Side, level: int, constants: bool = False) -> None:
        self._a = a
        self._b = b
        self._level = level
        self._constants = constants
        self._votes: dict[Pair, int] = {}
        self._heap: list[tuple[int, bool, int, Pair]] = []

    def pairs(self, needed: int) -> Iterator[Pair]:
        """Yield the new pairs, which the caller makes partners of, one after the other.

        Each has `needed` votes; where that is more than one, to have the same name counts as a vote, too.
        """
        self._spread(self._border())
        while self._heap:
            votes, renamed, _, (i, j) = heappop(self._heap)
            if self._a.mates[i] is None and self._b.mates[j] is None and (not renamed) - votes >= needed:
                yield i, j
                self._spread([(i, j)])

    def _border(self) -> list[Pair]:
        """Return the pairs with a neighbour that has no partner."""
        a = self._a
        beside: set[int] = set()
        for index in a.single():
            beside.update(maker for _, maker, _ in a.makers[index])
            beside.update(user for _, _, user in a.uses[index])
        return [(i, j) for i in sorted(beside) if (j := a.mates[i]) is not None]

    def _spread(self, partners: Iterable[Pair]) -> None:
        a, b = self._a, self._b
        for partner in partners:
            for pair in [*self._makers(*partner), *self._users(*partner)]:
                i, j = pair
                self._votes[pair] = votes = self._votes.get(pair, 0) + 1
                heappush(self._heap, (-votes, a.names(i) != b.names(j), abs(i - j), pair))

    def _makers(self, i: int, j: int) -> Iterator[Pair]:
        """Operations that partners take a value from in the same slot."""
        a, b, level = self._a, self._b, self._level
        there = {slot: (maker, place) for slot, maker, place in b.makers[j]}
        for slot, maker, place in a.makers[i]:
            other, other_place = there.get(slot, (-1, -1))
            free = place == other_place and a.mates[maker] is None and b.mates[other] is None
            if (
                free
                and not (self._constants and a.nodes[maker].grounded)
                and a.local(maker, level) == b.local(other, level)
            ):
                yield maker, other

    def _users(self, i: int, j: int) -> Iterator[Pair]:
        """Operations that take a value from partners, each the only one of its sort to do so.

        A constant that several take says nothing about them.
        """
        a, b = self._a, self._b
        shared = not a.nodes[i].grounded and (len(a.uses[i]) > 1 or len(b.uses[j]) > 1)
        if self._constants or shared:
            return
        there = self._only_users(b, j)
        for key, user in self._only_users(a, i).items():
            if user >= 0 and there.get(key, -1) >= 0:
                yield user, there[key]

    def _only_users(self, side: Side, index: int) -> dict[tuple[int, int, int], int]:
        """Return the users by the place of the value, the slot that it is taken in and what they are; -1 for
        several.
        """
        found: dict[tuple[int, int, int], int] = {}
        for place, slot, user in side.uses[index]:
            if side.mates[user] is None:
                key = place, slot, side.local(user, self._level)
                found[key] = -1 if key in found else user
        return found


def agreeing(a: Side, b: Side, found: Mapping[int, int]) -> list[int]:
    """Those of the pairs `found`, by their first, that take a value from partners, or give one to them, in one place.

    Partners are those that are it already, and the pairs found themselves. That both take the same constant says
    nothing.
    """
    agreed: set[int] = set()
    for i, j in found.items():
        if _same_values(a, i, b, j) or {*b.uses[j], *b.exits.get(j, ())} & {*_uses(a, i)}:
            agreed.add(i)
        there = {*b.makers[j]}
        for slot, maker, place in a.makers[i]:
            if a.nodes[maker].grounded and (slot, found.get(maker, a.mates[maker]), place) in there:
                agreed.update({i, maker} & found.keys())
    return sorted(agreed)


def _uses(side: Side, index: int) -> Iterator[tuple[int, int, int | None]]:
    """Yield the uses of an operation, with those who have partners as the other side knows them."""
    yield from side.exits.get(index, ())
    for place, slot, user in side.uses[index]:
        yield place, slot, side.mates[user]


def _same_values(a: Side, i: int, b: Side, j: int) -> bool:
    """Whether two operations take the same value, of an input or from outside, in the same slot."""
    there = dict(zip(b.nodes[j].slots, b.nodes[j].operands, strict=True))
    for slot, value in zip(a.nodes[i].slots, a.nodes[i].operands, strict=True):
        maker = a.graph.makers[value]
        if slot in there and (maker is None or maker.grounded):
            token = a.graph.tokens[value]
            if token is not None and token == b.graph.tokens[there[slot]]:
                return True
    return False
