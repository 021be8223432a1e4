"""The likeness of operations: each by itself, with all that it is made from, and with its connections."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING

from miltext.models.pairing.graph import EXACT, HELD, LOOSE, NAME, SHAPED, TYPED
from miltext.schema.walk import is_constant

if TYPE_CHECKING:
    from miltext.models.pairing.graph import FunctionGraph, Graph, Node, Region


def local(graph: Graph, node: Node, level: int) -> int:
    """Return an integer for an operation by itself, at a level."""
    known = node.kinds.get(level)
    if known is None:
        known = node.kinds[level] = graph.keys[_LEVELS[level](graph, node)]
    return known


def _shape(graph: Graph, node: Node) -> Hashable:
    """Return an operation with the types of its literals, but without their values."""
    type_key, operation = graph.contents.type_key, node.operation
    arguments = [
        (
            key,
            *[type_key(each.value) if each.HasField("value") else None for each in operation.inputs[key].arguments],
        )
        for key in sorted(operation.inputs)
    ]
    stated = [(key, type_key(operation.attributes[key])) for key in sorted(operation.attributes) if key != NAME]
    types = [type_key(output) for output in operation.outputs]
    return "shape", operation.type, tuple(arguments), tuple(stated), tuple(types), len(node.blocks)


_LEVELS: dict[int, Callable[[Graph, Node], Hashable]] = {
    SHAPED: _shape,
    TYPED: lambda _, node: ("type", node.operation.type),
    HELD: lambda graph, node: "held" if is_constant(node.operation) else graph.keys.fresh(),
    LOOSE: lambda _, node: ("grounded", node.grounded),
}
"""What an operation is by itself, at each level but the exact one."""


class Sources:
    """Integers for operations with all that they are made from, up to inputs or to values that have a token.

    Operations must be visited after those that they take values from.
    """

    def __init__(self, graph: Graph, level: int) -> None:
        self._graph = graph
        self._level = level
        self._known: dict[int, int] = {}

    def function(self, function: FunctionGraph) -> Hashable:
        """Return everything in a function except its own name and those of its values."""
        types = self._inputs(function.inputs, 0)
        blocks = [(opset, self.block(region, 1)) for opset, region in function.blocks.items()]
        attributes = function.function.attributes
        stated = [(name, self._graph.contents.key(attributes[name])) for name in sorted(attributes)]
        return function.function.opset, types, tuple(blocks), tuple(stated)

    def node(self, node: Node, depth: int = 0) -> int:
        """Return the integer of an operation inside `depth` blocks."""
        keys = self._graph.keys
        operands = self._tokens(node.operands)
        blocks = tuple([self.block(block, depth + 1) for block in node.blocks]) if node.blocks else ()
        number = keys["from", self._level, local(self._graph, node, self._level), node.slots, operands, blocks]
        for place, value in enumerate(node.values):
            self._known[value] = keys["output", number, place] if place else number
        return number

    def block(self, region: Region, depth: int) -> int:
        """Return the integer of a block, whatever the order of its operations."""
        types = self._inputs(region, depth)
        made = sorted([self.node(node, depth) for node in region.nodes])
        return self._graph.keys["block", types, tuple(made), self._tokens(region.outputs)]

    def _inputs(self, region: Region, depth: int) -> tuple[int, ...]:
        for place, value in enumerate(region.inputs):
            self._known[value] = self._graph.keys["input", depth, place]
        return tuple([self._graph.types[value] for value in region.inputs])

    def _tokens(self, values: Iterable[int]) -> tuple[int, ...]:
        known, tokens = self._known, self._graph.tokens
        return tuple([known[value] if (token := tokens[value]) is None else token for value in values])


class Side:
    """The operations of one block, by index.

    `mates` are their partners' indexes in the other block, `tokens` integers that partners share. `makers` lists for
    each the operations that it takes values from, as (slot, index, place among that one's outputs), `uses` those that
    take values from it, as (place, slot, index), and `exits` the outputs of the block that do, with a token of the
    output for an index.
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
        """Return the operation of this block that makes a value, if any."""
        maker = self.graph.makers[value]
        own = maker is not None and maker.index < len(self.nodes) and self.nodes[maker.index] is maker
        return maker if own else None

    def set_exits(self, tokens: list[int]) -> None:
        """Set the token of each output of the block: those that correspond share theirs."""
        outside = self.graph.keys["outside"]
        for value, token in zip(self.region.outputs, tokens, strict=True):
            maker = self.maker(value)
            if maker is not None:
                self.exits.setdefault(maker.index, []).append((self.graph.places[value], outside, token))

    def is_used(self, index: int) -> bool:
        """Whether anything takes a value of an operation."""
        return bool(self.uses[index]) or index in self.exits

    def is_telling(self, index: int) -> bool:
        """Whether an operation is known by its text and name: it has weights, or is not a constant."""
        return self.nodes[index].grounded or self.nodes[index].weighty

    def single(self, start: int = 0, stop: int | None = None) -> list[int]:
        """Return the unpaired operations, all or those of a range."""
        return [index for index, mate in enumerate(self.mates[start:stop], start) if mate is None]

    def local(self, index: int, level: int) -> int:
        """Return an integer for an operation by itself, at a level."""
        return local(self.graph, self.nodes[index], level)

    def names(self, index: int) -> tuple[str, ...]:
        """Return the names of an operation's outputs."""
        return self.nodes[index].names

    def line(self, index: int) -> Hashable:
        """Return an operation as it is written, except weights, inner blocks and the attribute `name`."""
        node, names = self.nodes[index], self.graph.names
        return node.kinds[EXACT], node.slots, self.names(index), tuple([names[value] for value in node.operands])

    def upward(self, level: int) -> dict[int, int]:
        """Return an integer for all that each unpaired operation is made from, up to the inputs or to partners."""
        sources = Sources(self.graph, level)
        return {index: sources.node(self.nodes[index]) for index in self.single()}

    def downward(self, level: int) -> dict[int, int]:
        """Return an integer for all that is made from each unpaired operation, down to the outputs or to partners."""
        keys = self.graph.keys
        known = list(self.tokens)
        found: dict[int, int] = {}
        for index in reversed(self.single()):
            uses = [(place, slot, known[user]) for place, slot, user in self.uses[index]] + self.exits.get(index, [])
            found[index] = known[index] = keys["to", level, self.local(index, level), tuple(sorted(uses))]
        return found
