"""The outline of a program: its scopes with the types of their operations, repeats once, on about one screen.

Its scopes are nodes as `printing.graph_scopes` divides operations: of a Program, or of the graph of a text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from miltext.ir.graph import Graph
from miltext.printing.graph_scopes import GraphNode
from miltext.scopes.families import TIMES, family, relative, spread
from miltext.scopes.scopes import scope_nodes, types_in, without_neighbours
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.ir.functions import Block, Function
    from miltext.schema.proto import Program

LINES = 48
"""The lines of an outline, unless it has more functions or outermost scopes."""

MOST_TYPES = 8
"""The most types of operations in a line."""

MOST_VALUES = 6
"""The most inputs, or outputs, in a line."""

OTHERS = "(others)"
"""The label of the operations of a scope in none of its inner scopes."""


@dataclass(eq=False, slots=True)
class OutlineScope:
    """A scope, or all scopes of one family as one: its label, the number of scopes, in so many scopes `around`, the
    types of all operations and of those in no inner scope, and the scopes inside.

    `places` are the nodes of the scopes, and `own_places` the first ones of stretches of operations in no inner scope.
    """

    label: str
    repeats: int
    around: int
    types: Counter[str] = field(default_factory=Counter)
    own: Counter[str] = field(default_factory=Counter)
    inside: list[OutlineScope] = field(default_factory=list)
    places: list[GraphNode] = field(default_factory=list)
    own_places: list[GraphNode] = field(default_factory=list)

    @property
    def rows(self) -> list[OutlineScope]:
        """The scopes inside, and one for the other operations; none without scopes inside."""
        if not (self.inside and self.own):
            return self.inside
        others = OutlineScope(OTHERS, self.repeats, self.repeats, self.own, self.own, places=self.own_places)
        return [*self.inside, others]

    @property
    def words(self) -> str:
        """The words after the label: the number of repeats in one scope around, or in all of them where these differ,
        and the types.
        """
        differing = self.repeats % self.around
        times = self.repeats if differing else self.repeats // self.around
        shown = f" {TIMES}{times}" if times > 1 or differing else ""
        return f"{shown}{f' in {self.around}' if differing else ''}{listed_types(self.types, self.repeats)}"


class OutlineFunction(NamedTuple):
    """A function: its name with its inputs and outputs, as in `main(x) -> (y)`, and its operations as one scope."""

    signature: str
    scope: OutlineScope

    def words(self, is_opened: bool) -> str:
        """Return the words after the signature: the number of operations, and their types if no scopes follow."""
        total = self.scope.types.total()
        types = "" if is_opened else listed_types(self.scope.types, self.scope.repeats)
        return f": {total:,} operation{'s' * (total != 1)}{types}"


def outline_lines(program: Program) -> Iterator[str]:
    """Yield the lines of an outline: the functions of a program, and their scopes, divided as far as LINES allows."""
    functions = outline_of_program(program)
    opened = opened_scopes(functions, LINES)
    for each in functions:
        yield f"{each.signature}{each.words(each.scope in opened)}"
        if each.scope in opened:
            yield from _lines(each.scope, opened, "  ")


def outline_of_program(program: Program) -> list[OutlineFunction]:
    """Return the functions of a program."""
    return [_of_function(function) for function in Graph(program).functions.values()]


def outline_of_nodes(nodes: Iterable[GraphNode]) -> list[OutlineFunction]:
    """Return the functions among the outermost nodes of the graph of a text."""
    return [_of_node(node) for node in without_neighbours(nodes) if node.kind == "function"]


# ---- functions


def _of_function(function: Function) -> OutlineFunction:
    block = function.block or next(iter(function.blocks.values()), None)
    inputs = [name_text(value.name) for value in function.inputs]
    outputs = [name_text(value.name) for value in block.outputs] if block is not None else []
    whole = _whole([_node_of(each) for each in function.blocks.values()])
    return OutlineFunction(_signature(name_text(function.name), inputs, outputs), whole)


def _node_of(block: Block) -> GraphNode:
    _, nodes = scope_nodes(block)
    return GraphNode("block", "", 0, None, [*without_neighbours(nodes)])


def _of_node(function: GraphNode) -> OutlineFunction:
    blocks = [each for each in function.inside if each.kind == "block"]
    if not blocks or any(each.kind in ("op", "scope", "output") for each in function.inside):
        blocks.insert(0, function)  # its own block
    inputs = [each.label for each in function.inside if each.kind == "input"]
    outputs = [each.label for each in blocks[0].inside if each.kind == "output"]
    whole = _whole(blocks)
    whole.places = [function]
    return OutlineFunction(_signature(function.label, inputs, outputs), whole)


def _whole(blocks: Sequence[GraphNode]) -> OutlineScope:
    """Return all blocks of a function as one scope."""
    blocks = blocks or [GraphNode("block", "", 0)]
    return _joined("", blocks, len(blocks))


def _signature(name: str, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    return f"{name}({_first(inputs)}) -> ({_first(outputs)})"


def _first(words: Sequence[str]) -> str:
    return ", ".join([*words[:MOST_VALUES], *([f"{len(words) - MOST_VALUES} more"] if words[MOST_VALUES:] else [])])


# ---- scopes


def _joined(label: str, parts: Sequence[GraphNode], around: int) -> OutlineScope:
    """Return the scopes of one family as one, or the blocks of a function."""
    made = OutlineScope(label, len(parts), around, places=[*parts])
    families: dict[str, list[tuple[str, GraphNode]]] = {}
    for part in parts:
        is_stretch = False
        for node in part.inside:
            if node.kind == "scope":
                name = relative(node.label, part.label if part.kind == "scope" else "")
                families.setdefault(family(name), []).append((name, node))
            elif node.kind == "op":
                made.own.update(types_in(node))
                made.own_places += [] if is_stretch else [node]
            is_stretch = node.kind == "op"
    made.types.update(made.own)
    for found in families.values():
        inner = _joined(spread([name for name, _ in found]), [node for _, node in found], len(parts))
        made.inside.append(inner)
        made.types.update(inner.types)
    return made


def opened_scopes(functions: Sequence[OutlineFunction], lines: int) -> set[OutlineScope]:
    """Return the scopes that are divided: the functions, and then the largest ones, as long as there are lines."""
    scopes = [each.scope for each in functions]
    found: set[OutlineScope] = set()
    order = count()
    waiting: list[tuple[int, int, OutlineScope]] = []
    left = lines - len(scopes)
    for scope in scopes:
        if scope.inside:
            found.add(scope)
            left -= len(scope.rows)
            for each in scope.rows:
                heappush(waiting, (-each.types.total(), next(order), each))
    while waiting:
        _, _, scope = heappop(waiting)
        if scope.inside and len(scope.rows) <= left:
            found.add(scope)
            left -= len(scope.rows)
            for each in scope.rows:
                heappush(waiting, (-each.types.total(), next(order), each))
    return found


# ---- lines


def _lines(scope: OutlineScope, opened: set[OutlineScope], indent: str) -> Iterator[str]:
    for each in scope.rows:
        yield f"{indent}{each.label}{each.words}"
        if each in opened:
            yield from _lines(each, opened, f"{indent}  ")


def listed_types(types: Counter[str], repeats: int) -> str:
    """Return the types of the operations in one of so many scopes, the most frequent first, after a colon, or after
    "about" where the scopes differ; empty without operations.
    """
    numbers = {name: (number + repeats // 2) // repeats for name, number in types.items()}
    is_exact = all(number * repeats == types[name] for name, number in numbers.items())
    words = [
        f"{name} {TIMES}{number}" if number > 1 else name
        for name, number in sorted(numbers.items(), key=lambda item: -item[1])
        if number
    ]
    more = [f"{len(words) - MOST_TYPES} more types"] if words[MOST_TYPES + 1 :] else words[MOST_TYPES:]
    listed = ", ".join([*words[:MOST_TYPES], *more])
    return f"{'' if is_exact else ', about'}: {listed}" if listed else ""
