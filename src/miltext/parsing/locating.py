"""Which operation stands at a place of a text, such as the `model.mil:7:12` of Core ML's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.parsing.spans import name_in
from miltext.syntax.literals import unquote
from miltext.syntax.tree import chain, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.diagnostics import Span
    from miltext.syntax.tree import Node


class Located(NamedTuple):
    """An operation in a text: the function that it is in, its type, outputs and `name`, and how deep its block is.

    `name` is None without such an attribute; `depth` is 0 in the function's own block.
    """

    function: str
    type: str
    outputs: list[str]
    name: str | None
    depth: int
    span: Span


def enclosing(program: Node, offset: int) -> Located | None:
    """Return the innermost operation that an offset of the text is in; `program` is the root of its tree of phrases."""
    found, depth, function = None, 0, program
    for phrase in chain(program, offset):
        if phrase.name == "function":
            function = phrase
        elif phrase.name == "inner_block":
            depth += 1
        elif phrase.name in ("operation", "call") and phrase.children:  # a broken operation does not have any
            found = _located(function, phrase, depth)
    return found


def at_place(text: str, program: Node, line: int, column: int | None = None) -> Located | None:
    """Return the innermost operation at a line, counted from 1, and a column, counted from 0 as Core ML's errors do.

    Without a column, or in the space before the line's first code, it is the operation of this code; at the line's end,
    the last one. Raise IndexError for a place outside the text.
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


def _located(function: Node, operation: Node, depth: int) -> Located:
    token = name_token(operation)
    return Located(
        function=name_in(function),
        type=name_in(operation),
        outputs=[name_in(value) for value in results(operation)],
        name=None if token is None else string_of(token),
        depth=depth,
        span=operation.span,
    )


def results(operation: Node) -> list[Node]:
    """Return the phrases of an operation's outputs, a type (in a draft, perhaps `_` or none) and a name each."""
    return [value for found in named(operation, "results") for value in named(found, "named_value", "draft_value")]


def name_token(operation: Node) -> Node | None:
    """Return the string of an operation's attribute `name`, where it is a plain one."""
    for attribute in attributes_of(operation, "name"):
        held = attribute.children[2]
        return held if held.name == "STRING" else next(named(held, "STRING"), None)
    return None


def attributes_of(phrase: Node, key: str) -> Iterator[Node]:
    """Yield the attributes of a function or an operation that have a key, in any spelling."""
    for attributes in named(phrase, "attributes"):
        found = named(attributes, "attribute", "draft_attribute")
        yield from (attribute for attribute in found if name_in(attribute) == key)


def string_of(token: Node) -> str:
    """Return the text of a string's token."""
    return unquote(token.token or "")
