"""Corresponding operations of two blocks: by likeness and connections, then by name.

No operation is compared with all others. A step computes a key of each unpaired operation, and pairs operations whose
key is unique on both sides; or it follows the connections of partners. Strict steps come first, and looser ones build
on the pairs that these found: keys do not distinguish partners.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from miltext.pairing.connections import Flood, agreeing, only_pairs
from miltext.pairing.keyed import EXACT, HELD, LOOSE, SHAPED, TYPED
from miltext.pairing.likeness import BlockOperations
from miltext.pairing.sequences import Pair, common, in_order

if TYPE_CHECKING:
    from miltext.ir.functions import Block
    from miltext.ir.parts import Value
    from miltext.pairing.keyed import KeyedGraph

__all__ = ["match_blocks", "match_names"]


def match_blocks(old: KeyedGraph, a: Block, new: KeyedGraph, b: Block) -> list[Pair]:
    """Return the pairs of operations of two blocks, by index, in the order of the first.

    All values from outside, and the inputs of both, must have their tokens; the values in the blocks get theirs.
    """
    matcher = _Matcher(BlockOperations(old, a), BlockOperations(new, b))
    matcher.run()
    return matcher.finish()


def match_names(old: KeyedGraph, a: Sequence[Value], new: KeyedGraph, b: Sequence[Value]) -> list[Pair]:
    """Return the pairs of values, by index: values of the same name, then values of the same type, in order.

    The rest is paired in order, if both sides have the same number.
    """
    left, free = dict(enumerate(a)), dict(enumerate(b))
    pairs: list[Pair] = []
    keys: list[Callable[[KeyedGraph, Value], Hashable]] = [
        lambda _, value: value.name,
        lambda graph, value: graph.types[value],
    ]
    for key in keys:
        found = _pair_off(
            {i: key(old, value) for i, value in left.items()}, {j: key(new, value) for j, value in free.items()}
        )
        pairs += found
        for i, j in found:
            del left[i], free[j]
    if len(left) == len(free):
        pairs += zip(left, free, strict=True)
    return sorted(pairs)


def _pair_off(old: Mapping[int, Hashable], new: Mapping[int, Hashable]) -> list[Pair]:
    """Return pairs with equal keys, in order."""
    waiting: dict[Hashable, deque[int]] = {}
    for j, key in new.items():
        waiting.setdefault(key, deque()).append(j)
    return [(i, waiting[key].popleft()) for i, key in old.items() if waiting.get(key)]


_LOOSER = {EXACT: SHAPED, SHAPED: TYPED}
"""The levels at which operations may have crossed partners, each with the next one."""

Keyed = Callable[[BlockOperations, int], Mapping[int, Hashable]]
"""A function that gives each unpaired operation of a side a key."""


class _Matcher:
    def __init__(self, a: BlockOperations, b: BlockOperations) -> None:
        self._a = a
        self._b = b
        self._keys = a.graph.keys
        exits = match_names(a.graph, a.block.outputs, b.graph, b.block.outputs)
        for side, place in ((a, 0), (b, 1)):
            tokens = [self._keys.fresh() for _ in side.block.outputs]
            for pair in exits:
                tokens[pair[place]] = self._keys["exit", pair]
            side.set_exits(tokens)

    def run(self) -> None:
        """Find partners by successive kinds of evidence, while both sides have unpaired operations."""
        for step in self._steps():
            if not (self._a.single() and self._b.single()):
                return
            step()

    def _steps(self) -> Iterator[Callable[[], None]]:
        yield partial(self._match_closures, EXACT)
        yield partial(self._match_by, _lines, EXACT)
        yield partial(self._flood, SHAPED, constants=True)
        yield partial(self._match_by, _weights, EXACT)
        yield self._match_twins
        for level in (EXACT, SHAPED, TYPED):
            if level is TYPED:  # a weight in another form has the same users, among all values of its new type
                yield partial(self._flood, HELD, constants=True)
            if level is not EXACT:
                yield partial(self._match_closures, level)
            yield partial(self._align, level)
            yield partial(self._match_by, _named, level)
        for level in (EXACT, TYPED, HELD):
            yield partial(self._match_by, _constants, level)
        yield partial(self._flood, LOOSE, needed=2)

    def finish(self) -> list[Pair]:
        """Return the pairs, and assign new tokens to all other values."""
        self._settle_repeats()
        for side in (self._a, self._b):
            for value in side.block.made():
                if value not in side.graph.tokens:
                    side.graph.tokens[value] = self._keys.fresh()
        return self._pairs()

    def _settle_repeats(self) -> None:
        """Pair operations of the same name in a row of equal operations that is shorter in one program.

        By structure, any of them may be the added or removed one. Both programs may have as many, if a user takes the
        value of another one: those that are parted are then pairs of the same name, too.
        """
        while self._settle_once():
            self._match_by(_named, EXACT)

    def _settle_once(self) -> bool:
        """Pair each unpaired operation with the operation of its name whose partner is next to it; return whether any
        was found.

        In a chain, the operation that is parted may be the next one of these.
        """
        old = [*self._repeats(self._a, self._b)]
        for i, j in old:
            self._match(i, j)
        new = [*self._repeats(self._b, self._a)]
        for j, i in new:
            self._match(i, j)
        return bool(old or new)

    def _repeats(self, side: BlockOperations, beside: BlockOperations) -> Iterator[Pair]:
        """Yield an unpaired operation and the one of its name beside it, whose partner was next to it and is parted."""
        single = side.single()
        at = {names: place for place, names in enumerate(beside.names) if names} if single else {}
        for own in single:
            place = at.get(side.names[own])
            mate = None if place is None else beside.mates[place]
            if place is None or mate is None or not side.is_next(own, mate):
                continue
            if side.local(own, EXACT) == side.local(mate, EXACT) == beside.local(place, EXACT):
                side.part(mate)
                yield own, place

    def _pairs(self) -> list[Pair]:
        return [(i, j) for i, j in enumerate(self._a.mates) if j is not None]

    def _match(self, i: int, j: int) -> None:
        a, b = self._a, self._b
        a.mates[i], b.mates[j] = j, i
        a.tokens[i] = b.tokens[j] = self._keys.fresh()
        for old, new in zip(a.ops[i].outputs, b.ops[j].outputs, strict=False):  # one may have more outputs
            a.graph.tokens[old] = b.graph.tokens[new] = self._keys.fresh()
            a.graph.known_as[old] = new.name

    def _match_closures(self, level: int) -> None:
        """Match by all sources of operations, then by all their results."""
        pairs = self._equal_keys(_sources, level)
        if level in _LOOSER and self._are_crossed(pairs):
            self._match_namesakes(_LOOSER[level])
            pairs = self._equal_keys(_sources, level)
        for i, j in pairs:
            self._match(i, j)
        self._match_by(_results, level)

    def _are_crossed(self, pairs: Sequence[Pair]) -> bool:
        """Return whether operations would have partners of other names, though both names are on both sides."""
        here, there = ({name for name in side.names if name} for side in (self._a, self._b))
        both = here & there
        names = ((self._a.names[i], self._b.names[j]) for i, j in pairs)
        return any(old != new and {old, new} <= both for old, new in names)

    def _match_namesakes(self, level: int) -> None:
        """Make partners of operations of one name at the same place: parallel operations that differ only in numbers or
        sizes may have exchanged these.
        """
        self._match_keys(_places, level)
        if {value.name for value in self._a.block.outputs} == {value.name for value in self._b.block.outputs}:
            self._match_keys(_outputs, TYPED)

    def _match_by(self, keys: Keyed, level: int) -> None:
        """Match by a key, then by the connections of the new partners."""
        self._match_keys(keys, level)
        self._flood(level)

    def _match_keys(self, keys: Keyed, level: int) -> None:
        """Make partners of operations whose key is unique on both sides."""
        for i, j in self._equal_keys(keys, level):
            self._match(i, j)

    def _equal_keys(self, keys: Keyed, level: int) -> list[Pair]:
        """Return the operations whose key is unique on both sides."""
        return only_pairs(keys(self._a, level).items(), keys(self._b, level).items())

    def _match_twins(self) -> None:
        """Make partners of operations that differ only in name or order."""
        a, b = self._a, self._b
        old, new = _surroundings(a), _surroundings(b)
        for i, j in _pair_off(
            {i: (key, a.names[i]) for i, key in old.items()}, {j: (key, b.names[j]) for j, key in new.items()}
        ):
            self._match(i, j)
            del old[i], new[j]
        for i, j in _pair_off(old, new):
            self._match(i, j)

    def _align(self, level: int) -> None:
        """Make partners of operations in the same order between the same partners, if their connections agree."""
        found = self._in_order(level)
        if level in _LOOSER and self._are_crossed([*found.items()]):
            self._match_namesakes(TYPED)
            found = self._in_order(level)
        for i in agreeing(self._a, self._b, found):
            self._match(i, found[i])
        self._flood(level)

    def _in_order(self, level: int) -> dict[int, int]:
        """Return the operations in the same order between the same partners; constants are matched by their users."""
        a, b = self._a, self._b
        found: dict[int, int] = {}
        start, stop = 0, 0
        for end, edge in [*in_order(self._pairs()), (len(a.ops), len(b.ops))]:
            left = [i for i in a.single(start, end) if a.facts[i].grounded]
            free = [j for j in b.single(stop, edge) if b.facts[j].grounded]
            pairs = common([a.local(i, level) for i in left], [b.local(j, level) for j in free])
            found.update((left[i], free[j]) for i, j in pairs)
            start, stop = end + 1, edge + 1
        return found

    def _flood(self, level: int, needed: int = 1, constants: bool = False) -> None:
        """Make partners of operations with the same connections to partners."""
        for i, j in Flood(self._a, self._b, level, constants).pairs(needed):
            self._match(i, j)


def _sources(side: BlockOperations, level: int) -> dict[int, Hashable]:
    """Return the keys of operations with all their sources, except of constants.

    Constants are identified by their users: if several change, one often becomes equal to the old value of another, and
    converters renumber them.
    """
    return {index: key for index, key in side.upward(level).items() if side.facts[index].grounded}


def _results(side: BlockOperations, level: int) -> dict[int, Hashable]:
    """Return the keys of operations with all their results."""
    return {index: key for index, key in side.downward(level).items() if side.is_used(index)}


def _places(side: BlockOperations, level: int) -> dict[int, Hashable]:
    """Return operations with all their sources, all their results, and their names."""
    down = side.downward(level)
    return {index: (key, down[index], side.names[index]) for index, key in _sources(side, level).items()}


def _outputs(side: BlockOperations, level: int) -> dict[int, Hashable]:
    """Return the operations that make outputs of the block, with all their sources, and their names."""
    sources = _sources(side, level).items()
    return {index: (key, side.names[index]) for index, key in sources if index in side.exits}


def _lines(side: BlockOperations, _: int) -> dict[int, Hashable]:
    """Return operations as written, except constants."""
    return {index: side.line(index) for index in side.single() if side.is_telling(index)}


def _weights(side: BlockOperations, _: int) -> dict[int, Hashable]:
    """Return the contents of weights."""
    return {index: side.facts[index].kinds[EXACT] for index in side.single() if side.facts[index].weighty}


def _surroundings(side: BlockOperations) -> dict[int, Hashable]:
    """Return the keys of operations with all their sources, and all their results."""
    down = side.downward(EXACT)
    return {index: (key, down[index]) for index, key in side.upward(EXACT).items()}


def _named(side: BlockOperations, level: int) -> dict[int, Hashable]:
    """Return operations by themselves, and their names, except constants."""
    return {index: key for index, key in _constants(side, level).items() if side.is_telling(index)}


def _constants(side: BlockOperations, level: int) -> dict[int, Hashable]:
    """Return operations by themselves, and their names: for constants that their users do not identify."""
    return {index: (side.local(index, level), side.names[index]) for index in side.single()}
