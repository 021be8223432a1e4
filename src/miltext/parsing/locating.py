"""The operation at a place of a text, such as the `model.mil:7:12` of Core ML's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.syntax.phrases import OPERATIONS, name_in, outputs, own_name, string_of
from miltext.syntax.tree import chain

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.syntax.tree import Node


class Located(NamedTuple):
    """An operation in a text: its function, type, outputs and `name`, and the depth of its block.

    `name` is None without such an attribute; `depth` is 0 in the function's own block.
    """

    function: str
    type: str
    outputs: list[str]
    name: str | None
    depth: int
    span: Span


def enclosing(program: Node, offset: int) -> Located | None:
    """Return the innermost operation that contains an offset of the text; `program` is the root of its tree of
    phrases.
    """
    found, depth, function = None, 0, program
    for phrase in chain(program, offset):
        if phrase.name == "function":
            function = phrase
        elif phrase.name == "inner_block":
            depth += 1
        elif phrase.name in OPERATIONS and phrase.children:  # a broken operation has no children
            found = _located(function, phrase, depth)
    return found


def at_place(text: str, program: Node, line: int, column: int | None = None) -> Located | None:
    """Return the innermost operation at a line, counted from 1, and a column, counted from 0 as Core ML's errors do.

    Without a column, or in the space before the line's first token, it is the operation of this token; at the line's
    end, the operation of the last token. Raise IndexError for a place outside the text.
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
    token = own_name(operation)
    return Located(
        function=name_in(function),
        type=name_in(operation),
        outputs=[name_in(value) for value in outputs(operation)],
        name=None if token is None else string_of(token),
        depth=depth,
        span=operation.span,
    )
