"""Partners in three versions of a text: functions, statements, values; and the final name of each value."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from itertools import zip_longest
from typing import TYPE_CHECKING

from miltext.merging.forms import words_of
from miltext.merging.plans import THEIRS, chosen
from miltext.merging.sides import Hole, Item, Key, Side, function_name
from miltext.pairing.contents import Keys, ProgramContents
from miltext.pairing.keyed import KeyedGraph
from miltext.pairing.pairing import pair_functions
from miltext.parsing.spans import bodies_of
from miltext.syntax import phrases
from miltext.syntax.phrases import functions, inner_blocks, name_in, operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.pairing.pairing import PairedBlock
    from miltext.parsing.scopes import Meaning
    from miltext.syntax.tree import Node


def link(base: Side | None, ours: Side, theirs: Side) -> None:
    """Give corresponding items and values equal keys: by structure with the base, by name between the sides."""
    if base is not None:
        _found(base)
        for side in (ours, theirs):
            _Link(base, side).run()
    _Added(ours, theirs).items(ours.program, theirs.program)
    for side in (ours, theirs):
        _found(side)


def _found(side: Side) -> None:
    """Give each item and hole of a side a key, if it has none."""
    for item in side.program.inside():
        item.key = item.key or item
        for place, hole in enumerate(item.holes):
            hole.key = hole.key or (item.key, place)


# ---- by structure


class _Placed:
    """A side's graph, with the item of each operation and the hole of each block.

    A draft's statement with nested operations belongs to the last one. A graph contains only the first of duplicate
    functions and blocks.
    """

    def __init__(self, side: Side, keys: Keys) -> None:
        program, self._read = side.paired_program()
        self.side = side
        self.items: dict[Op, Item] = {}
        self.holes: dict[Block, Hole] = {}
        self.functions = {function_name(item): item for item in reversed(side.program.holes[0].items)}
        self.graph = None if program is None else KeyedGraph(program, keys, ProgramContents(keys, None))
        long = self._long_functions()
        for name, function in self.graph.functions.items() if self.graph else ():
            item = self.functions[name]
            bodies = zip_longest(bodies_of(item.node), item.holes, long.get(name, ()))
            for (path, _), hole, body in bodies:
                block = function.blocks.get(str(path[-1]))
                if block is not None and block not in self.holes:
                    self._place(hole, block, body)

    def _long_functions(self) -> dict[str, list[Node]]:
        """Return the blocks of each function in the long form of a draft in the short spelling."""
        read = self._read
        if read is None or read.elaborated is None or read.root is None:
            return {}
        return {name_in(each): [body for _, body in bodies_of(each)] for each in functions(read.root)}

    def _place(self, hole: Hole, block: Block, long: Node | None) -> None:
        self.holes[block] = hole
        owners, ops = self._owners(hole, long) if long else hole.items, [*block]
        if len(owners) != len(ops):
            return
        for op, item in {id(item): (op, item) for op, item in zip(ops, owners, strict=True)}.values():
            self.items[op] = item
            if len(item.holes) == len(op.blocks):
                inner = inner_blocks([*operations(phrases.block(long))][ops.index(op)]) if long else ()
                for each, nested, body in zip_longest(item.holes, op.blocks, inner):
                    self._place(each, nested, body)

    def _owners(self, hole: Hole, long: Node) -> list[Item]:
        """Return the statement of each operation of the long form."""
        assert self._read is not None
        starts = [item.node.start for item in hole.items]
        places = [self._read.written(each.span).end - 1 for each in operations(phrases.block(long))]
        return [hole.items[bisect_right(starts, place) - 1] for place in places]


class _Link:
    """A link between the base and a version, whose parts get the keys of their partners in the base."""

    def __init__(self, base: Side, side: Side) -> None:
        keys = Keys()
        self._base, self._side = _Placed(base, keys), _Placed(side, keys)
        self._keys = side.keys

    def run(self) -> None:
        self._items(self._base.side.program, self._side.side.program)
        self._holes(self._base.side.program.holes[0], self._side.side.program.holes[0])
        if self._base.graph is None or self._side.graph is None:
            return
        for pair in pair_functions(self._base.graph, self._side.graph):
            if pair.old is None or pair.new is None:
                continue
            self._items(self._base.functions[pair.old_name], self._side.functions[pair.name])
            for block in pair.blocks:
                self._block(block, pair.inputs)
            self._other_opsets(self._base.functions[pair.old_name], self._side.functions[pair.name])

    def _items(self, old: Item, new: Item) -> None:
        new.key = old.key
        self._values(zip(old.results, new.results, strict=False))

    def _holes(self, old: Hole, new: Hole) -> None:
        new.key = old.key

    def _values(self, pairs: Iterable[tuple[Meaning, Meaning]]) -> None:
        for old, new in pairs:
            self._keys[new] = old

    def _block(self, block: PairedBlock, inputs: Sequence[tuple[int, int]]) -> None:
        if block.old is None or block.new is None:
            return
        old, new = self._base.holes.get(block.old), self._side.holes.get(block.new)
        if old is None or new is None:
            return
        self._holes(old, new)
        given = [(i, j) for i, j in [*inputs, *block.inputs] if i < len(old.inputs) and j < len(new.inputs)]
        self._values((old.inputs[i], new.inputs[j]) for i, j in given)
        kept = list(self._kept(old, new))
        known = {id(item) for pair in kept for item in pair}
        for j, op, other in block.partners():
            a, b = self._base.items.get(op), self._side.items.get(other)
            if a is not None and b is not None and known.isdisjoint((id(a), id(b))):
                self._items(a, b)
                for inner in block.inner.get(j, ()):
                    self._block(inner, ())
        for a, b in kept:
            self._items(a, b)
        self._replaced(old, new)

    def _other_opsets(self, base: Item, side: Item) -> None:
        """Link by position the blocks of a function whose opsets have no partner."""
        linked = {hole.key for hole in side.holes}
        for old, new in zip(base.holes, side.holes, strict=False):
            if new.key is None and old.key not in linked:
                self._holes(old, new)
                there = {value.name.text: value for value in old.inputs}
                self._values((there[each.name.text], each) for each in new.inputs if each.name.text in there)
                self._replaced(old, new)

    def _kept(self, old: Hole, new: Hole) -> Iterator[tuple[Item, Item]]:
        """Yield pairs of unchanged statements without operands: constants, compared without their uses.

        By its uses, a constant could be confused with another former operand.
        """
        base, side = self._base.side, self._side.side
        there = {_names(item): item for item in old.items}
        for item in new.items:
            other = there.get(_names(item)) if item.results else None
            if other is not None and other.own_text(base.text) == item.own_text(side.text) and side.takes_nothing(item):
                yield other, item

    def _replaced(self, old: Hole, new: Hole) -> None:
        """Link statements without partners and blocks whose results have the same names: the new one replaces the
        base's.
        """
        known = {item.key for item in new.items if item.key is not None}
        left = {_names(item): item for item in old.items if item.key not in known and item.results and not item.holes}
        for item in new.items:
            if item.key is None and not item.holes and _names(item) in left:
                self._items(left.pop(_names(item)), item)


def _names(item: Item) -> tuple[str, ...]:
    """Return the names of an item's results."""
    return tuple(value.name.text for value in item.results)


# ---- by name


class _Added:
    """Assigns equal keys to items that both versions added under one name."""

    def __init__(self, ours: Side, theirs: Side) -> None:
        self._ours, self._theirs = ours, theirs

    def items(self, mine: Item, other: Item) -> None:
        """Link two corresponding items, and their contents."""
        if mine.key is None and other.key is None:
            other.key = mine.key = mine
        self._values(mine.results, other.results)
        for one, two in zip(mine.holes, other.holes, strict=False):
            if one.key is None and two.key is None:
                two.key = one.key = one
            if one.key is two.key:
                self._values(one.inputs, two.inputs)
                self._hole(one, two)

    def _hole(self, mine: Hole, other: Hole) -> None:
        known = {item.key: item for item in mine.items if item.key is not None}
        added = defaultdict[tuple[str, ...], deque[Item]](deque)
        for item in mine.items:
            if item.key is None:
                added[self._name(self._ours, item)].append(item)
        for item in other.items:
            waiting = added.get(self._name(self._theirs, item)) if item.key is None else None
            partner = waiting.popleft() if waiting else known.get(item.key)
            if partner is not None:
                self.items(partner, item)

    def _name(self, side: Side, item: Item) -> tuple[str, ...]:
        """Return the names of an item's results, or the words of an item without results."""
        return _names(item) or tuple(words_of(side.written(item.node.start, item.node.end)))

    def _values(self, mine: Iterable[Meaning], other: Iterable[Meaning]) -> None:
        ours = {value.name.text: value for value in mine if value not in self._ours.keys}
        for value in other:
            if value.name.text in ours and value not in self._theirs.keys:
                self._theirs.keys[value] = ours[value.name.text]


# ---- names


class Names:
    """The final name of each value, by key.

    `disputed` contains the keys with different names on the two sides, and those whose name the other side gives to
    another value.
    """

    def __init__(self, base: Side | None, ours: Side, theirs: Side) -> None:
        sides = [side for side in (base, ours, theirs) if side is not None]
        called = [{side.key(value): value.name.text for value in side.values if value is not None} for side in sides]
        before, mine, other = called if base is not None else ({}, *called)
        self.named: dict[Key, str] = {}
        self.disputed: set[Key] = set()
        for key in {**before, **mine, **other}:
            self.named[key] = self._settled(key, before.get(key), mine.get(key), other.get(key))
        for side in sides:
            side.names = self.named
        self._find_clashes(before, ours, theirs)

    def _settled(self, key: Key, before: str | None, mine: str | None, other: str | None) -> str:
        if mine is None or other is None:
            return mine or other or before or ""
        side = chosen((before, mine, other))
        if side is None:
            self.disputed.add(key)
        return other if side == THEIRS else mine

    def _find_clashes(self, before: Mapping[Key, str], ours: Side, theirs: Side) -> None:
        """Find names that several values of a function would share in the result, but on neither side."""
        there = {item.key: item for item in theirs.program.holes[0].items}
        for item in ours.program.holes[0].items:
            if item.key not in there:
                continue
            both = _defined(ours, item), _defined(theirs, there[item.key])
            named: dict[str, set[Key]] = defaultdict(set)
            for key in both[0].keys() | both[1].keys():
                if key not in before or (key in both[0] and key in both[1]):  # else a side deleted it
                    named[self.named[key]].add(key)
            for name, keys in named.items():
                if len(keys) > 1 and not any(all(side.get(key) == name for key in keys) for side in both):
                    self.disputed |= keys


def _defined(side: Side, function: Item) -> dict[Key, str]:
    """Return the names of the values that a function defines, by key."""
    found = side.values_in(function.node.start, function.node.end)
    return {side.key(value): value.name.text for value in found if value not in function.results}
