"""When two operations are alike: by what each says itself, and by all that it is made from."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from miltext.models.pairing.graph import NAME, SHAPED, TYPED

if TYPE_CHECKING:
    from miltext.models.pairing.graph import FunctionGraph, Graph, Node, Region


def local(graph: Graph, node: Node, level: int) -> int:
    """Return what an operation is by itself, as an integer."""
    known = node.kinds.get(level)
    if known is None:
        known = node.kinds[level] = graph.keys[_kind(graph, node, level)]
    return known


def _kind(graph: Graph, node: Node, level: int) -> Hashable:
    if level is SHAPED:
        return _shape(graph, node)
    return ("type", node.operation.type) if level is TYPED else ("grounded", node.grounded)


def _shape(graph: Graph, node: Node) -> Hashable:
    """Return an operation without the values of its literals: their types are left."""
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


class Sources:
    """Integers for all that operations are made from, up to inputs or to values that have a token.

    An operation must come after those that it takes values from.
    """

    def __init__(self, graph: Graph, level: int) -> None:
        self._graph = graph
        self._level = level
        self._known: dict[int, int] = {}

    def function(self, function: FunctionGraph) -> Hashable:
        """All that a function says but its own name and those of its values."""
        types = self._inputs(function.inputs, 0)
        blocks = [(opset, self.block(region, 1)) for opset, region in function.blocks.items()]
        attributes = function.function.attributes
        stated = [(name, self._graph.contents.key(attributes[name])) for name in sorted(attributes)]
        return function.function.opset, types, tuple(blocks), tuple(stated)

    def node(self, node: Node, depth: int = 0) -> int:
        """Return an operation that stands in so many blocks."""
        keys = self._graph.keys
        operands = self._tokens(node.operands)
        blocks = tuple([self.block(block, depth + 1) for block in node.blocks]) if node.blocks else ()
        number = keys["from", self._level, local(self._graph, node, self._level), node.slots, operands, blocks]
        for place, value in enumerate(node.values):
            self._known[value] = keys["output", number, place] if place else number
        return number

    def block(self, region: Region, depth: int) -> int:
        """Return a block, the order of its operations aside."""
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
