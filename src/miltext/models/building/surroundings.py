"""What stands around a value in the graph, whatever the value itself is called."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING

from miltext.models.pairing.graph import EXACT

if TYPE_CHECKING:
    from miltext.models.pairing.graph import FunctionGraph, Graph, Node

STEPS = 6
"""How far away from a value is looked at most."""


def own_outputs(function: FunctionGraph) -> list[int]:
    """Return the outputs of a function: of the block of its own opset, or of the only one there is; as `own_block` has
    it.
    """
    blocks = function.blocks
    own = blocks.get(function.function.opset) or (next(iter(blocks.values())) if len(blocks) == 1 else None)
    return own.outputs if own else []


class Surroundings:
    """The places of a function's inputs, states and outputs in its graph.

    An operation that makes a value with a `lasting` name is known by that name; another by what it says, and by what
    stands around it in turn.
    """

    def __init__(self, graph: Graph, function: FunctionGraph, lasting: Collection[str]) -> None:
        self._graph = graph
        self._lasting = lasting
        self._known: dict[Hashable, int] = {}
        self._users: dict[int, list[tuple[int, Node]]] = {}
        for region in function.blocks.values():
            for node in region.nodes:
                for slot, value in _taken(graph, node):
                    self._users.setdefault(value, []).append((slot, node))
        inputs = {graph.names[value]: value for value in function.inputs.inputs}
        outputs = {graph.names[value]: value for value in own_outputs(function)}
        self._values = {"input": inputs, "state": inputs, "output": outputs}

    def place(self, side: str, name: str, steps: int) -> int | None:
        """Return an integer for all that is so many steps around a value; None where nothing is."""
        value = self._values[side][name]
        nothing = self._graph.makers[value] is None and value not in self._users
        return None if nothing else self._value(value, steps)

    def landmarks(self, side: str, name: str) -> set[Hashable]:
        """Return the uses that operations of lasting names have for a value."""
        users = self._users.get(self._values[side][name], ())
        return {(slot, names) for slot, node in users if (names := self._lasting_names(node))}

    def _lasting_names(self, node: Node) -> tuple[str, ...]:
        return tuple([name for name in node.names if name in self._lasting])

    def _value(self, value: int, steps: int) -> int:
        known = self._known.get((value, steps))
        if known is None:
            known = self._known[value, steps] = self._graph.keys[self._around(value, steps)]
        return known

    def _around(self, value: int, steps: int) -> Hashable:
        if steps == 0:
            return "a value", self._graph.types[value]
        maker = self._graph.makers[value]
        made = None if maker is None else (self._graph.places[value], self._node(maker, steps - 1))
        uses = sorted([(slot, self._node(user, steps - 1)) for slot, user in self._users.get(value, ())])
        return "around", made, tuple(uses)

    def _node(self, node: Node, steps: int) -> int:
        known = self._known.get((node, steps))
        if known is None:
            known = self._known[node, steps] = self._graph.keys[self._look(node, steps)]
        return known

    def _look(self, node: Node, steps: int) -> Hashable:
        names = self._lasting_names(node)
        if names:
            return "called", names
        taken = [(slot, self._value(value, steps)) for slot, value in _taken(self._graph, node)] if steps else []
        made = [self._value(value, steps) for value in node.values] if steps else []
        return "look", node.kinds[EXACT], tuple(taken), tuple(made)


def _taken(graph: Graph, node: Node) -> list[tuple[int, int]]:
    """Return the values that an operation takes, each with the slot that it is taken in; its inner blocks' come
    last.
    """
    inside = [(graph.keys["inside", place], value) for place, value in enumerate(node.captures)]
    return [*zip(node.slots, node.operands, strict=True), *inside]
