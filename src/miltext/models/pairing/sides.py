"""A block's operations while their partners are looked for: what each is like, by itself and where it stands."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from miltext.models.pairing.graph import EXACT
from miltext.models.pairing.likeness import Sources, local

if TYPE_CHECKING:
    from miltext.models.pairing.graph import Graph, Node, Region


class Side:
    """The operations of one block, by index.

    `mates` are their partners' indexes in the other block, `tokens` what partners have in common. `makers` lists for
    each the operations that it takes values from, as (slot, index, place among that one's outputs), `uses` those that
    take values from it, as (place, slot, index), and `exits` where the block's outputs do, with a token of the output
    for an index.
    """

    def __init__(self, graph: Graph, region: Region) -> None:
        self.graph = graph
        self.region = region
        self.nodes = region.nodes
        self.mates: list[int | None] = [None] * len(self.nodes)
        self.tokens: list[int] = [0] * len(self.nodes)
        self.exits: dict[int, list[tuple[int, int, int]]] = {}
        self.makers: list[list[tuple[int, int, int]]] = [self._makers(node) for node in self.nodes]
        self.uses: list[list[tuple[int, int, int]]] = [[] for _ in self.nodes]
        for index, makers in enumerate(self.makers):
            for slot, maker, place in makers:
                self.uses[maker].append((place, slot, index))

    def _makers(self, node: Node) -> list[tuple[int, int, int]]:
        inside = self.graph.keys["inside"]
        taken = [*zip(node.slots, node.operands, strict=True), *[(inside, value) for value in node.captures]]
        return [
            (slot, maker.index, self.graph.places[value])
            for slot, value in taken
            if (maker := self.maker(value)) is not None
        ]

    def maker(self, value: int) -> Node | None:
        """Return the operation of this block that makes a value, if one does."""
        maker = self.graph.makers[value]
        own = maker is not None and maker.index < len(self.nodes) and self.nodes[maker.index] is maker
        return maker if own else None

    def set_exits(self, tokens: list[int]) -> None:
        """Say which token each output of the block has: those that correspond share theirs."""
        outside = self.graph.keys["outside"]
        for value, token in zip(self.region.outputs, tokens, strict=True):
            maker = self.maker(value)
            if maker is not None:
                self.exits.setdefault(maker.index, []).append((self.graph.places[value], outside, token))

    def is_used(self, index: int) -> bool:
        """Whether anything takes a value of an operation."""
        return bool(self.uses[index]) or index in self.exits

    def is_telling(self, index: int) -> bool:
        """Whether what an operation says, and its name, is worth something: it has weights, or is no constant."""
        return self.nodes[index].grounded or self.nodes[index].weighty

    def single(self, among: range | None = None) -> list[int]:
        """Return the operations, all or those of a range, that have no partner yet."""
        return [index for index in (range(len(self.nodes)) if among is None else among) if self.mates[index] is None]

    def local(self, index: int, level: int) -> int:
        """Return what an operation is by itself, at a level."""
        return local(self.graph, self.nodes[index], level)

    def names(self, index: int) -> tuple[str, ...]:
        """Return the names of an operation's outputs."""
        return self.nodes[index].names

    def line(self, index: int) -> Hashable:
        """Return an operation as it is written, but for weights, inner blocks and the attribute `name`."""
        node, names = self.nodes[index], self.graph.names
        return node.kinds[EXACT], node.slots, self.names(index), tuple([names[value] for value in node.operands])

    def upward(self, level: int) -> dict[int, int]:
        """For each operation without a partner, all that it is made from, up to the inputs or to a pair of partners."""
        sources = Sources(self.graph, level)
        return {index: sources.node(self.nodes[index]) for index in self.single()}

    def downward(self, level: int) -> dict[int, int]:
        """For each operation without a partner, all that is made from it, down to the outputs or to partners."""
        keys = self.graph.keys
        known = list(self.tokens)
        found: dict[int, int] = {}
        for index in reversed(self.single()):
            uses = [(place, slot, known[user]) for place, slot, user in self.uses[index]] + self.exits.get(index, [])
            found[index] = known[index] = keys["to", level, self.local(index, level), tuple(sorted(uses))]
        return found
