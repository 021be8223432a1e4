"""Which operation stands at a place of a text, such as the `model.mil:7:12` of Core ML's errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.parsing.spans import name_of

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.syntax.tree import Node


class Located(NamedTuple):
    """An operation in a text: the function that it is in, its type, outputs and `name`, and how deep its block is.

    `name` is None where it has none; `depth` is 0 in the function's own block.
    """

    function: str
    type: str
    outputs: list[str]
    name: str | None
    depth: int
    span: Span


def enclosing(program: Node, offset: int) -> Located | None:
    """Return the innermost operation that an offset of the text is in; `program` is the root of its tree of phrases."""
    found = None
    for function in program.children:
        if function.name == "function" and function.start <= offset < function.end:
            for depth, operation in _around(function, offset):
                found = _located(function, operation, depth)
    return found


def at_place(text: str, program: Node, line: int, column: int | None = None) -> Located | None:
    """Return the innermost operation at a line, counted from 1, and a column, counted from 0 as Core ML's errors do.

    Without a column, or in the space before the line's first code, that of this code; at the line's end, the last one.
    Raise IndexError for a place outside the text.
    """
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        raise IndexError(f"the text has {len(lines)} lines")
    start, written = sum(len(before) + 1 for before in lines[: line - 1]), lines[line - 1].rstrip()
    if column is not None and column > len(lines[line - 1]):
        raise IndexError(f"the line ends at column {len(lines[line - 1])}")
    first = len(written) - len(written.lstrip())
    place = min(max(column or 0, first), max(len(written) - 1, 0))
    return enclosing(program, start + place)


def _around(phrase: Node, offset: int, depth: int = 0) -> Iterator[tuple[int, Node]]:
    """Yield the operations in a phrase that the offset is in, outermost first."""
    for child in phrase.children:
        if child.start <= offset < child.end:
            if child.name == "operation" and child.children:  # there are none in one that breaks the syntax
                yield depth, child
            yield from _around(child, offset, depth + (child.name == "inner_block"))


def _located(function: Node, operation: Node, depth: int) -> Located:
    name = next(child.token or "" for child in function.children if child.name == "NAME")
    kind = next(child.token or "" for child in operation.children if child.name == "NAME")
    outputs = [name_of(named.children[-1].token or "") for named in results(operation)]
    token = name_token(operation)
    own_name = None if token is None else string_of(token)
    return Located(name_of(name), name_of(kind), outputs, own_name, depth, operation.span)


def results(operation: Node) -> list[Node]:
    """Return the phrases of an operation's outputs, a type (in a draft, perhaps `_`) and a name each."""
    found = [child for child in operation.children if child.name == "results"]
    return [value for value in found[0].children if value.name in ("named_value", "draft_value")] if found else []


def name_token(operation: Node) -> Node | None:
    """Return the string of an operation's attribute `name`, where it is a plain one."""
    for attributes in operation.children:
        if attributes.name == "attributes":
            for attribute in attributes.children:
                if attribute.name == "attribute" and attribute.children[0].token == "name":
                    strings = [part for part in attribute.children[2].children if part.name == "STRING"]
                    return strings[0] if len(strings) == 1 else None
    return None


def string_of(token: Node) -> str:
    """Return what the token of a string says."""
    from miltext.syntax.literals import unquote

    return unquote(token.token or "")
