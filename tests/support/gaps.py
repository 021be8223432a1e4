"""Texts with comments in the gaps between their tokens."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from miltext.parsing.parser import parse_tree
from miltext.syntax.tree import Node

FORMS = ["\n// %d\n", "\n/* %d */\n", " // %d\n", " /* %d */\n", "/* %d */", "\n/* %d */ ", " /* %d\n\r\n  * x */ "]
"""On a line of its own; ending a line; within one; starting one; over several."""


class Token(NamedTuple):
    text: str
    start: int
    end: int


@lru_cache(maxsize=16)
def tokens(text: str) -> list[Token]:
    return tokens_of(parse_tree(text).root)


def tokens_of(root: Node) -> list[Token]:
    """The tokens of a tree, those inside a list that the grammar reads as one among them."""
    found: list[Token] = []
    todo = [root]
    while todo:
        node = todo.pop()
        todo += reversed(node.children)
        if node.token is not None:
            pieces = re.finditer(r"[\[\],]|[^\s\[\],]+" if node.name == "LIST" else "(?s).+", node.token)
            found += [Token(piece[0], node.start + piece.start(), node.start + piece.end()) for piece in pieces]
    return found


def commented(text: str, forms: dict[int, str]) -> str:
    """The text with a comment in each of these gaps, numbered: 0 is that before the first token."""
    found = tokens(text)
    starts, ends = [token.start for token in found] + [len(text)], [0, *[token.end for token in found]]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    for gap, form in forms.items():
        gaps[gap] = form.replace("%d", str(gap))
    return "".join([gap + token.text for gap, token in zip(gaps, found)]) + gaps[-1]  # noqa: B905  # one gap more
