"""The operations of a text as a graph in nested scopes, as JSON for `html_graph.js`, which draws it.

`graph(TextReader(text))` is a dictionary of two lists, ready for `json.dumps`:

- `values`: each `[name, type, line, maker, [lines of its uses]]`, as `reading.Definition`. Values without a
  name, of operations inside others, are at the end.
- `nodes`: each `[parent, kind, label, line, makes, takes]`. `parent` is the number of a node before it, or -1; `makes`
  and `takes` are numbers of values. Kinds and their labels: `function` (its name), `block` (its opset, or its name
  in its operation), `scope` (the common beginning of the names in it, empty for a scope of mere neighbours), `op` and
  `const` (the operation's type), `input` and `output` (the value's name).

Two more items of a node are for graphs of differences: its state, which the page colours, as a class of a sign (`plus`,
`minus`, `change`, `move`, `name`) or `follow`, and the number of operations that a scope without nodes stands for.

A scope is a stretch of the text, so values lead from earlier scopes to later ones. No scope holds more than
`graph_scopes.MOST` operations and scopes: where names do not divide them, they are cut where the fewest values cross.
Constants are beside their first users.

In the browser, the SCRIPTS in their order define `drawGraph(element, data, {onSelect, onChoose, colours})`: it draws
the graph into a visible element with a size, in place of its contents. It calls `onSelect(line)` when a node is chosen,
and `onChoose(number)` for a chosen operation, constant, input or output. `colours` are further rows of its legend: a
class, a word and its meaning. It returns `{select(line), show(number), find(words), focus()}`: `select` shows and
chooses the node of a line, `show` the node of a number, `find` shows the next node with these words and returns their
count, and `focus` moves into the graph. STYLE is its style, with the colours of `colours.css`. Nothing is fetched, and
a Content-Security-Policy need not allow styles in attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.ir.liveness import crossing
from miltext.printing.graph_scopes import GraphNode, folded, scopes
from miltext.schema.operations import signature
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json
    from miltext.printing.reading import TextPart, TextReader

_NAMES = tuple(f"html_graph{part}.js" for part in ("_data", "_layout", "_filter", "_legend", ""))
SCRIPTS = tuple(Path(__file__).with_name(name) for name in _NAMES)
STYLE = Path(__file__).with_name("html_graph.css")


def graph(reader: TextReader) -> dict[str, list[Json]]:
    """Return the graph of a text, as described in the module."""
    return drawn(reader, nodes(reader))


def nodes(reader: TextReader) -> list[tuple[int, GraphNode]]:
    """Return the nodes of a text in the order of their numbers, each with the number of the node around it, or -1."""
    found: list[tuple[int, GraphNode]] = []
    todo = [(-1, node) for node in reversed(_Nodes(reader).all())]
    while todo:
        parent, node = todo.pop()
        node.number = len(found)
        todo += [(node.number, inner) for inner in reversed(node.inside)]
        found.append((parent, node))
    return found


def drawn(reader: TextReader, numbered: list[tuple[int, GraphNode]]) -> dict[str, list[Json]]:
    """Return the graph of a text with these `nodes`."""
    named = len(reader.definitions)
    rows: list[list[Json]] = []
    for parent, node in numbered:
        both = ([], []) if node.part is None else (node.part.makes, node.part.takes)
        makes, takes = ([value if value >= 0 else named - 1 - value for value in values] for values in both)
        rows.append([parent, node.kind, node.label, node.line, makes, takes])
    return {"values": [*reader.definitions, *reader.unnamed], "nodes": rows}


class _Nodes:
    """The nodes of a text: `makers` has the maker of each value, and `users` its first user.

    In a text read past its mistakes, a value may have no maker.
    """

    def __init__(self, reader: TextReader) -> None:
        self._reader = reader
        self._makers: dict[int, TextPart] = {}
        self._users: dict[int, TextPart] = {}
        for part in _parts(reader.program):
            self._makers.update(dict.fromkeys(part.makes, part))
            for value in part.takes:
                self._users.setdefault(value, part)

    def all(self) -> list[GraphNode]:
        """Return the outermost nodes, each constant in the scope of its first user, or else in its own place."""
        top = GraphNode("program", "", 1, self._reader.program, self._inside(self._reader.program))
        homes: dict[int, GraphNode] = {}  # by a part, the node that its node is in
        own: dict[int, GraphNode] = {}
        todo = [top]
        while todo:
            node = todo.pop()
            homes.update((id(inner.part), node) for inner in node.inside if inner.part)
            own[id(node.part)] = node
            todo += node.inside
        constants: dict[int, tuple[GraphNode, list[GraphNode]]] = {}
        for around in reversed([*_parts(self._reader.program)]):
            for part in filter(_is_constant, reversed(around.inside)):
                users = [self._users[value] for value in part.makes if value in self._users]
                home = homes[id(part)] = homes[id(users[0])] if users else own[id(around)]
                constants.setdefault(id(home), (home, []))[1].append(GraphNode("const", part.label, part.line, part))
        for home, found in constants.values():
            home.inside[:0] = reversed(found)
        return top.inside

    def _inside(self, part: TextPart) -> list[GraphNode]:
        """Return the nodes inside a part, without its constants: its inputs, its operations, and its outputs."""
        found = {kind: [inner for inner in part.inside if inner.kind == kind] for kind in ("input", "output")}
        inputs, outputs = (folded([self._node(inner) for inner in inners]) for inners in found.values())
        operations = [inner for inner in part.inside if inner.kind == "op" and not _is_constant(inner)]
        nodes = [self._node(operation) for operation in operations]
        names = [self._names(operation) for operation in operations]
        others = [self._node(inner) for inner in part.inside if inner.kind in ("function", "block")]
        return [*inputs, *scopes(nodes, names, self._crossing(part, operations)), *folded(others), *outputs]

    def _node(self, part: TextPart) -> GraphNode:
        node = GraphNode(part.kind, part.label, part.line, part, self._inside(part) if part.inside else [])
        found = signature(part.label) if part.kind == "op" and node.inside else None
        if found is not None:
            for block, each in zip(node.inside, found.blocks, strict=False):
                block.label = each.name
        return node

    def _names(self, operation: TextPart) -> list[str]:
        """Return the names of an operation's outputs, and of the constants that it takes."""
        makers = ((value, self._makers.get(value)) for value in operation.takes if value >= 0)
        constants = [value for value, maker in makers if maker is not None and _is_constant(maker)]
        return [self._reader.definitions[value].name for value in (*operation.makes, *constants) if value >= 0]

    def _crossing(self, part: TextPart, operations: list[TextPart]) -> list[int]:
        """Return, for each place between operations, the number of values made before it and used after it, without
        constants.
        """
        last = {value: place for place, op in enumerate(operations) for inner in _parts(op) for value in inner.takes}
        last |= {value: len(operations) for inner in part.inside if inner.kind == "output" for value in inner.takes}
        made = ((place, last.get(value, place), 1) for place, op in enumerate(operations) for value in op.makes)
        return crossing(made, len(operations))


def _parts(part: TextPart) -> Iterator[TextPart]:
    """Yield a part and all parts inside it, in the order of the text."""
    todo = [part]
    while todo:
        part = todo.pop()
        yield part
        todo += reversed(part.inside)


def _is_constant(part: TextPart) -> bool:
    return part.kind == "op" and (part.label == "const" or is_compressed(part.label))
