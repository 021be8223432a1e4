"""What arguments and attributes of operations are bound to, and what uses each value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from miltext.models.pairing.graph import NAME
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.models.pairing.graph import Graph, Node, Region
    from miltext.schema.proto import Value

Bound: TypeAlias = "int | Value | None"
"""What an argument is bound to: the number of a value for a name, a Value for a literal, None for nothing."""

Bindings: TypeAlias = "Mapping[str, Sequence[Bound]]"
"""The bindings of arguments or attributes by name."""


def arguments(node: Node) -> dict[str, list[Bound]]:
    """Return what the arguments of an operation are bound to, by key."""
    numbers = iter(node.operands)
    inputs = node.operation.inputs
    return {
        key: [
            each.value if each.HasField("value") else next(numbers) if each.HasField("name") else None
            for each in inputs[key].arguments
        ]
        for key in sorted(inputs)
    }


def stated(node: Node) -> dict[str, list[Value]]:
    """Return the attributes of an operation except its name."""
    attributes = node.operation.attributes
    return {name_text(key): [attributes[key]] for key in attributes if key != NAME}


def regions(outer: Iterable[Region]) -> Iterator[Region]:
    """Yield blocks, and those inside their operations."""
    todo = [*outer]
    while todo:
        region = todo.pop()
        yield region
        todo += [block for node in region.nodes for block in node.blocks]


def counted_uses(graph: Graph) -> Counter[int]:
    """Return how often each value is taken by an operation, or returned by a block."""
    found = Counter[int]()
    for region in regions(block for function in graph.functions.values() for block in function.blocks.values()):
        found.update(region.outputs)
        for node in region.nodes:
            found.update(node.operands)
    return found
