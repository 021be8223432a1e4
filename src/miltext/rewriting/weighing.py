"""The bytes of the constants of a graph, and the bytes that each rule removed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from miltext.printing.renaming import NAME
from miltext.weight_files.usage import value_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.ir.graph import Graph
    from miltext.ir.parts import Op
    from miltext.schema import proto


class Weighing:
    """The bytes of constants `before` all changes and `now`, and the bytes that each rule removed (`went`)."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.before = self.now = _constant_bytes(graph)
        self.went: Counter[str] = Counter()

    def weigh(self, rule: str) -> None:
        """Count the bytes that a rule removed since the last call; below 0 if it added more."""
        now = _constant_bytes(self._graph)
        self.went[rule] += self.now - now
        self.now = now


def contents_of(op: Op) -> Iterator[tuple[str, proto.Value]]:
    """Yield the constants that an operation contains, by parameter."""
    for key in sorted(op.attributes):
        if key != NAME:
            yield key, op.attributes[key]
    yield from op.literals().items()


def own_bytes(op: Op) -> int:
    """Return the bytes of the constants that an operation contains."""
    return sum(value_size(value) for _, value in contents_of(op))


def _constant_bytes(graph: Graph) -> int:
    """Return the bytes of the constants and literals in a graph; a record of a weight file counts once."""
    inside, records = 0, dict[tuple[str, int], int]()
    for op in graph.walk():
        for _, value in contents_of(op):
            if value.WhichOneof("value") == "blobFileValue":
                records[value.blobFileValue.fileName, value.blobFileValue.offset] = value_size(value)
            else:
                inside += value_size(value)
    return inside + sum(records.values())
