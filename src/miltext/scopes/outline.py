"""The outline of a program: its scopes with the types of their operations, repeats once, on about one screen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

from miltext.ir.graph import Graph
from miltext.scopes.families import TIMES, family, relative, spread
from miltext.scopes.scopes import scope_nodes, without_neighbours
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.ir.functions import Function
    from miltext.ir.parts import Block, Op
    from miltext.printing.graph_scopes import GraphNode
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
    """

    label: str
    repeats: int
    around: int
    types: Counter[str] = field(default_factory=Counter)
    own: Counter[str] = field(default_factory=Counter)
    inside: list[OutlineScope] = field(default_factory=list)

    @property
    def rows(self) -> list[OutlineScope]:
        """The scopes inside, and one for the other operations."""
        if not self.own:
            return self.inside
        return [*self.inside, OutlineScope(OTHERS, self.repeats, self.repeats, self.own, self.own)]


def outline_lines(program: Program) -> Iterator[str]:
    """Yield the lines of an outline: the functions of a program, and their scopes, divided as far as LINES allows."""
    functions = [(function, _whole(function)) for function in Graph(program).functions.values()]
    opened = _opened([scope for _, scope in functions])
    for function, scope in functions:
        operations = f"{scope.types.total():,} operation{'s' * (scope.types.total() != 1)}"
        types = "" if scope in opened else listed_types(scope.types, scope.repeats)
        yield f"{_signature(function)}: {operations}{types}"
        if scope in opened:
            yield from _lines(scope, opened, "  ")


def _signature(function: Function) -> str:
    """Return a function's name, inputs and outputs, as in `main(x) -> (y)`."""
    block = function.block or next(iter(function.blocks.values()), None)
    inputs = [name_text(value.name) for value in function.inputs]
    outputs = [name_text(value.name) for value in block.outputs] if block is not None else []
    return f"{name_text(function.name)}({_first(inputs)}) -> ({_first(outputs)})"


def _first(words: Sequence[str]) -> str:
    return ", ".join([*words[:MOST_VALUES], *([f"{len(words) - MOST_VALUES} more"] if words[MOST_VALUES:] else [])])


# ---- scopes


def _whole(function: Function) -> OutlineScope:
    """Return a function as one scope, of all of its blocks."""
    parts = [_part_of(block) for block in function.blocks.values()]
    return _joined(name_text(function.name), parts, max(1, len(parts)))


class _Part:
    """A scope among those of its family: its operations, its nodes, and its label."""

    __slots__ = ("label", "nodes", "ops")

    def __init__(self, ops: Sequence[Op], nodes: Sequence[GraphNode], label: str) -> None:
        self.ops = ops
        self.nodes = nodes
        self.label = label


def _part_of(block: Block) -> _Part:
    """Return the contents of a function's block."""
    ops, nodes = scope_nodes(block)
    return _Part(ops, [*without_neighbours(nodes)], "")


def _joined(label: str, parts: Sequence[_Part], around: int) -> OutlineScope:
    """Return the scopes of one family as one."""
    made = OutlineScope(label, len(parts), around)
    families: dict[str, list[tuple[str, _Part]]] = {}
    for part in parts:
        for node in part.nodes:
            if node.kind == "op":
                op = part.ops[node.line]
                made.own.update(name_text(each.type) for each in (op, *op.walk()) if not each.is_constant)
            else:
                name = relative(node.label, part.label)
                families.setdefault(family(name), []).append((name, _Part(part.ops, node.inside, node.label)))
    made.types.update(made.own)
    for found in families.values():
        inner = _joined(spread([name for name, _ in found]), [part for _, part in found], len(parts))
        made.inside.append(inner)
        made.types.update(inner.types)
    return made


def _opened(scopes: Sequence[OutlineScope]) -> set[OutlineScope]:
    """Return the scopes that are divided: the functions, and then the largest ones, as long as there are lines."""
    found: set[OutlineScope] = set()
    order = count()
    waiting: list[tuple[int, int, OutlineScope]] = []
    left = LINES - len(scopes)
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
        yield f"{indent}{each.label}{_times(each)}{listed_types(each.types, each.repeats)}"
        if each in opened:
            yield from _lines(each, opened, f"{indent}  ")


def _times(scope: OutlineScope) -> str:
    """Return the number of repeats in one scope around, or in all of them where these differ."""
    if scope.repeats % scope.around:
        return f" {TIMES}{scope.repeats} in {scope.around}"
    times = scope.repeats // scope.around
    return f" {TIMES}{times}" if times > 1 else ""


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
