"""The tree of a text as the server reads it: coarse first, for the whole text, and fine where somebody looks.

The grammar has its commonest phrases a second time, as one token each. A tree of these, but for whole operations, is a
fifth of the full one, and is made in a quarter of the time; `refined` reads on where a request asks for what is inside.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from miltext.syntax import Driver, NestingFailure, Node, SyntaxFailure, Trace, named, tree_driver

COARSE = {
    "plain_tensor": "type",
    "plain_value": "value",
    "plain_arguments": "arguments",
    "plain_attributes": "attributes",
}
"""What each phrase is that is read as one token."""

SHORT = 500
"""Tokens of fewer characters are likely to come again: what they hold is kept."""


def coarse_tree(text: str) -> Trace:
    """The tree of phrases of a text, the plain ones of one token each. Raises SyntaxFailure and NestingFailure."""
    kept = Trace()
    _driver().run(text, kept)
    return kept


@lru_cache(maxsize=1)
def _driver() -> Driver:
    return Driver(whole=False)


def refined(phrase: Node) -> Node:
    """The phrase with all that is inside of it; as it is where the fine rules do not take it."""
    if phrase.name not in COARSE:
        return phrase
    found = fine(phrase.name, phrase.children[0].token or "")
    return phrase if found is None else moved(found, phrase.start)


def fine(name: str, token: str) -> Node | None:
    """What a plain phrase of that token holds, at its place in the token; None where it is none."""
    return _short(name, token) if len(token) < SHORT else _fine(name, token)


@lru_cache(maxsize=1 << 12)
def _short(name: str, token: str) -> Node | None:
    return _fine(name, token)


def _fine(name: str, token: str) -> Node | None:
    kept = Trace()
    try:
        tree_driver().fragment(COARSE[name], token, kept)
    except (SyntaxFailure, NestingFailure):
        return None
    return kept.root


def moved(phrase: Node, by: int) -> Node:
    """A phrase as it is so many characters further on."""
    copy = [phrase]
    todo = [copy]
    while todo:
        siblings = todo.pop()
        for index, node in enumerate(siblings):
            inside = list(node.children)
            siblings[index] = Node(node.name, node.start + by, node.end + by, inside, node.token)
            if inside:
                todo.append(inside)
    return copy[0]


def first(phrase: Node, *names: str) -> Node | None:
    """The first phrase of one of these names directly inside one."""
    return next(named(phrase, *names), None)


def chain(root: Node, offset: int) -> list[Node]:
    """The phrases that the character at an offset is in, outermost first, read as finely as they can be."""
    found = [root]
    while True:
        found[-1] = phrase = refined(found[-1])
        place = bisect_right(phrase.children, offset, key=lambda child: child.start) - 1
        if place < 0 or phrase.children[place].end <= offset:
            return found
        found.append(phrase.children[place])
