"""Phrases of a text's tree, by name or by place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.parsing.spans import name_of
from miltext.syntax.plain_tokens import operation_head
from miltext.syntax.tree import Statement, named

if TYPE_CHECKING:
    from miltext.syntax.tree import Node


def first(phrase: Node, *names: str) -> Node | None:
    """Return the first phrase of one of these names directly inside another phrase."""
    return next(named(phrase, *names), None)


def name_in(phrase: Node | None) -> str | None:
    """Return the name of the first NAME directly inside a phrase: of an operation its type, of an opset the opset."""
    if isinstance(phrase, Statement) and (head := operation_head(phrase.text)):
        return head[3]
    token = first(phrase, "NAME") if phrase else None
    return name_of(token.token or "") if token else None


def given_in(phrase: Node) -> Iterator[Node]:
    """Yield the phrases in the arguments or the attributes of an operation, also of nested ones, except for values.

    They come in the order of the text.
    """
    todo = [phrase]
    while todo:
        found = todo.pop()
        yield found
        if found.name not in ("value", "raw_list"):
            todo += reversed(found.children)
