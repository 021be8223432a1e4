"""The graphs of two texts in panes, with the state of each node, as JSON for `html_report_graphs.js`.

`graph_data(panes, names, length)` is an object: `types`, the types of all values, each once, and `sides`, for the old
and the new text a graph as in `miltext.printing.graph`, whose values are only `[name, number of the type]`. If the data
is long beside the texts, scopes without a difference have no nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from miltext.diffing.html_rows import KINDS
from miltext.diffing.lining_up import EQUAL
from miltext.diffing.panes import RENAMED
from miltext.printing.graph import drawn as drawn_graph
from miltext.printing.graph import nodes
from miltext.printing.html_page import embedded
from miltext.printing.reading import TextReader

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json
    from miltext.diffing.html_rows import DrawnPanes
    from miltext.diffing.structure import FunctionDifference
    from miltext.printing.graph_scopes import GraphNode

SHARE = 4
"""The texts of a page are at least this number of times as long as the data of whole graphs."""

LEAST = 20_000
"""A number of characters of data that is never too large."""

FOLLOWS = "follow"
"""The state of a node whose differences all follow from others."""

Port = tuple[int, str, str]
"""The place of an input or output: the row of its line, its kind, and its name in the new program."""

Ports = Mapping[Port, tuple[str, str]]
"""The types and the own names of inputs and outputs."""

Names = Mapping[tuple[str, str], str]
"""The new names of values by the old name of their function, and their own old name."""


def new_names(functions: Sequence[FunctionDifference]) -> dict[tuple[str, str], str]:
    """Return the new names of renamed values."""
    found = {}
    for function in functions:
        blocks = (block for outer in function.blocks for block in outer.walk())
        for rename in chain(function.renamed, *[block.renamed for block in blocks]):
            if rename.kind != "name" and rename.old is not None and rename.new is not None:
                found[function.old_name, rename.old] = rename.new
    return found


def graph_data(panes: DrawnPanes, names: Names, length: int) -> str:
    """Return the graphs of both texts, of this length in the page, as described in the module."""
    sides = [_Side(panes, side, names if side == 0 else {}) for side in (0, 1)]
    ports = [side.ports() for side in sides]
    graphs = [side.graph(other) for side, other in zip(sides, reversed(ports), strict=True)]
    whole = _json(graphs)
    if len(whole) <= max(LEAST, length // SHARE):
        return whole
    return _json([_without_equal(*graph) for graph in graphs])


def _json(graphs: Sequence[tuple[list[Json], list[Json]]]) -> str:
    types: dict[str, int] = {}
    sides = [
        {"values": [[name, types.setdefault(type_, len(types))] for name, type_ in values], "nodes": rows}
        for values, rows in graphs
    ]
    return embedded({"types": [*types], "sides": sides})


@dataclass
class _Side:
    """The graph of one text: `rows` has the row of each line."""

    panes: DrawnPanes
    side: int
    names: Names
    rows: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        lines = [(place, line) for place, row in enumerate(self.panes.panes.rows) if (line := row.sides[self.side])]
        self.rows = [place for place, _ in lines]
        self._reader = TextReader("".join(f"{line.text}\n" for _, line in lines))
        self._nodes = nodes(self._reader)

    def ports(self) -> Ports:
        """Return the types and the own names of inputs and outputs."""
        numbered = [(number, node) for number, (_, node) in enumerate(self._nodes) if _is_port(node)]
        return {self._port(number): (self._type(node), node.label) for number, node in numbered}

    def graph(self, other: Ports) -> tuple[list[Json], list[Json]]:
        """Return the values, each with its name and type, and the nodes of the graph, for the ports of the other
        text.
        """
        states = [
            self._port_state(number, other) if _is_port(node) else self._state(node)
            for number, (_, node) in enumerate(self._nodes)
        ]
        graph = drawn_graph(self._reader, self._nodes)
        rows = [[*row, state] if state else row for row, state in zip(graph["nodes"], states, strict=True)]
        return [[name, type_] for name, type_, *_ in graph["values"]], rows

    def _row(self, node: GraphNode) -> int:
        return self.rows[node.line - 1]

    def _state(self, node: GraphNode) -> str:
        """Return the state of an operation: its entry's, or its row's."""
        row = self._row(node)
        if node.kind not in ("op", "const"):
            return ""
        mark = self.panes.panes.rows[row].mark
        return self.panes.states.get(row) or (KINDS[mark] if mark not in (EQUAL, RENAMED) else "")

    # ---- inputs and outputs

    def _function(self, number: int) -> str:
        while self._nodes[number][1].kind != "function":
            number = self._nodes[number][0]
        return self._nodes[number][1].label

    def _port(self, number: int) -> Port:
        node = self._nodes[number][1]
        name = self.names.get((self._function(number), node.label), node.label)
        return self._row(node), node.kind, name

    def _type(self, node: GraphNode) -> str:
        values = [*node.part.makes, *node.part.takes] if node.part else []
        return self._reader.definitions[values[0]].type if values else ""

    def _port_state(self, number: int, other: Ports) -> str:
        node, port = self._nodes[number][1], self._port(number)
        if port not in other:
            return "plus" if self.side else "minus"
        type_, name = other[port]
        if type_ == self._type(node):
            return "name" if name != node.label else ""
        follows = node.kind == "output" or self.panes.states.get(port[0]) == FOLLOWS
        return FOLLOWS if follows else "change"


def _is_port(node: GraphNode) -> bool:
    return node.kind in ("input", "output")


# ---- large graphs


def _without_equal(values: list[Json], rows: list[Json]) -> tuple[list[Json], list[Json]]:
    """Return the values and rows of a graph without nodes in scopes that have no difference."""
    differs = [len(row) > 6 for row in rows]
    for number in reversed(range(len(rows))):
        if differs[number] and rows[number][0] >= 0:
            differs[rows[number][0]] = True
    homes: list[int] = []  # by row, the outermost equal scope around it, or itself
    for number, (parent, *_) in enumerate(rows):
        around = homes[parent] if parent >= 0 else -1
        is_inside = around >= 0 and rows[around][1] == "scope" and not differs[around]
        homes.append(around if is_inside else number)
    return _renumbered(values, [*_gathered(rows, homes)])


def _gathered(rows: list[Json], homes: Sequence[int]) -> Iterator[Json]:
    """Yield each row that is its own home, numbered anew, with the values of all rows in it."""
    numbers = {home: number for number, home in enumerate(sorted({*homes}))}
    inside: dict[int, list[Json]] = {}
    for row, home in zip(rows, homes, strict=True):
        inside.setdefault(home, []).append(row)
    for home in numbers:
        parent, kind, label, line, _, _, *state = rows[home]
        found = inside[home]
        makes, takes = ([*dict.fromkeys(value for row in found for value in row[place])] for place in (4, 5))
        if len(found) > 1:
            label = label or f"lines {line}\u2013{max(row[3] for row in found)}"
            state = ["", sum(row[1] == "op" for row in found)]
        yield [numbers.get(parent, -1), kind, label, line, makes, takes, *state]


def _renumbered(values: list[Json], rows: list[Json]) -> tuple[list[Json], list[Json]]:
    """Return the values that lead from row to row, and the rows with their numbers."""
    makers = {value: number for number, row in enumerate(rows) for value in row[4]}
    led = {value for number, row in enumerate(rows) for value in row[5] if makers.get(value) != number}
    own = {value for row in rows if row[1] != "scope" for value in row[4]}
    kept = sorted(led | own)
    numbers = {value: number for number, value in enumerate(kept)}
    for row in rows:
        row[4:6] = [[numbers[value] for value in row[place] if value in numbers] for place in (4, 5)]
    return [values[value] for value in kept], rows
