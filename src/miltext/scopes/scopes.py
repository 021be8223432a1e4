"""The scopes of the operations of a function, as the graph of `print --html` divides them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from miltext.ir.liveness import crossing, last_places
from miltext.printing.graph_scopes import GraphNode, scopes
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op

_NUMBER = re.compile(r"\d+")


def function_scopes(function: Function) -> dict[Op, str]:
    """Return the scopes of the operations of a function; operations of inner blocks are in the scope around them."""
    found: dict[Op, str] = {}
    for block in function.blocks.values():
        for op, scope in zip(block, scopes_of(block), strict=True):
            found.update(dict.fromkeys((op, *op.walk()), scope))
    return found


def scope_nodes(block: Block) -> tuple[list[Op], list[GraphNode]]:
    """Return the operations of a block without constants, and these in nested scopes: the `line` of a node is the place
    of its first operation. The nodes of operations in inner blocks are inside theirs.
    """
    ops = [op for op in block if not op.is_constant]
    nodes = [GraphNode("op", name_text(op.type), place, None, _inner_nodes(op)) for place, op in enumerate(ops)]
    return ops, scopes(nodes, [_names(op) for op in ops], _crossing(block, ops))


def _inner_nodes(op: Op) -> list[GraphNode]:
    return [GraphNode("op", name_text(inner.type), -1) for inner in op.walk() if not inner.is_constant]


def types_in(node: GraphNode) -> Iterator[str]:
    """Yield the types of the operations in a node, also of inner blocks, without constants."""
    todo = [node]
    while todo:
        found = todo.pop()
        if found.kind == "op":
            yield found.label
        todo += reversed(found.inside)


def without_neighbours(nodes: Iterable[GraphNode]) -> Iterator[GraphNode]:
    """Yield nodes, with the contents of scopes without a name, and of those that only hold numbered scopes, in place of
    these.
    """
    for node in nodes:
        inside = [*without_neighbours(node.inside)]
        holds_scopes = all(each.kind in ("scope", "const") for each in inside)
        if node.kind == "scope" and (not node.label or (holds_scopes and not _NUMBER.search(node.label))):
            yield from inside
        else:
            yield replace(node, inside=inside)


def scopes_of(block: Block) -> list[str]:
    """Return the outermost numbered scope of each operation of a block, or else its outermost one; "" without any.

    A constant is in the scope of its first user.
    """
    ops, nodes = scope_nodes(block)
    found: dict[Op, str] = {}
    for node in nodes:
        found.update((ops[place], label) for place, label in _labels(node, ""))
    for op in reversed([*block]):
        if op.is_constant:
            found[op] = next((found[user] for user in op.users if user in found), "")
    return [found.get(op, "") for op in block]


def _labels(node: GraphNode, label: str) -> Iterator[tuple[int, str]]:
    """Yield the place of each operation in a node, with the label of its scope."""
    if node.kind == "op":
        yield node.line, label
        return
    if not _NUMBER.search(label):
        label = node.label or label
    for inner in node.inside:
        yield from _labels(inner, label)


def _names(op: Op) -> list[str]:
    constants = [value.name for value in op.operands if value.is_constant]
    return [*[value.name for value in op.outputs], *constants]


def _crossing(block: Block, ops: Sequence[Op]) -> list[int]:
    """Return, for each place between operations, the number of values made before it and used after it."""
    last = last_places(ops) | dict.fromkeys(block.outputs, len(ops))
    return crossing(((place, last[value], 1) for place, op in enumerate(ops) for value in op.outputs), len(ops))
