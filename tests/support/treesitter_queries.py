"""Queries of tree-sitter, as far as ours use them: read, and matched with the nodes of a tree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from support.token_roles import Piece
from support.treesitter import SyntaxNode

_TOKEN = re.compile(r'\s+|;[^\n]*|(?P<read>[()\[\]]|"(?:[^"\\]|\\.)*"|[#@:]?[\w.!?-]+:?)')

ANY = "_"

Captured = list[tuple[str, SyntaxNode]]


class Pattern(NamedTuple):
    """What a node is: of a `name`, named or anonymous, with some `children` in their order, or else one of `options`.

    It can have a `field`, `captures`, and `predicates` on them: the words between their brackets.
    """

    name: str | None
    is_named: bool = True
    children: tuple[Pattern, ...] = ()
    options: tuple[Pattern, ...] = ()
    field: str | None = None
    captures: tuple[str, ...] = ()
    predicates: tuple[tuple[str, ...], ...] = ()

    def walk(self) -> Iterator[Pattern]:
        yield self
        for inner in (*self.children, *self.options):
            yield from inner.walk()


def read_query(text: str) -> list[Pattern]:
    """The patterns of a query. Raise ValueError at syntax that our queries have not used so far."""
    tokens, place = list[str](), 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"not read: {text[place : place + 20]!r}")
        tokens += [match["read"]] if match["read"] else []
        place = match.end()
    return list(_patterns(tokens))


def _patterns(tokens: list[str]) -> Iterator[Pattern]:
    """Take patterns off a list of tokens, up to a closing bracket, which stays."""
    while tokens and tokens[0] not in (")", "]"):
        yield _pattern(tokens)


def _pattern(tokens: list[str]) -> Pattern:
    field = tokens.pop(0)[:-1] if tokens[0].endswith(":") else None
    found, captures = _node(tokens), list[str]()
    while tokens and tokens[0].startswith("@"):
        captures.append(tokens.pop(0)[1:])
    return found._replace(field=field, captures=tuple(captures))


def _node(tokens: list[str]) -> Pattern:
    first = tokens.pop(0)
    if first.startswith('"'):
        return Pattern(json.loads(first), is_named=False)
    if first == "[":
        found = Pattern(None, options=tuple(_patterns(tokens)))
    elif first == "(" and tokens[0][0] in '(["':
        found = Pattern(None, options=(_pattern(tokens),), predicates=tuple(_predicates(tokens)))
    elif first == "(":
        found = Pattern(tokens.pop(0), children=tuple(_patterns(tokens)))
    else:
        raise ValueError(f"{first} begins no pattern")
    tokens.pop(0)
    return found


def _predicates(tokens: list[str]) -> Iterator[tuple[str, ...]]:
    while tokens[0] == "(":
        end = tokens.index(")")
        yield tuple(json.loads(word) if word.startswith('"') else word for word in tokens[1:end])
        del tokens[: end + 1]


# ---- matching


def matches(pattern: Pattern, node: SyntaxNode, text: str) -> Iterator[Captured]:
    """The captures of each way in which a node matches."""
    if pattern.field and pattern.field != node.field:
        return
    for captured in _inside(pattern, node, text):
        found = [*((name, node) for name in pattern.captures), *captured]
        if all(_holds(predicate, found, text) for predicate in pattern.predicates):
            yield found


def _inside(pattern: Pattern, node: SyntaxNode, text: str) -> Iterator[Captured]:
    for option in pattern.options:
        yield from matches(option, node, text)
    if node.is_named == pattern.is_named and pattern.name in (ANY, node.name):
        yield from _in_order(pattern.children, node.children, text)


def _in_order(patterns: tuple[Pattern, ...], nodes: tuple[SyntaxNode, ...], text: str) -> Iterator[Captured]:
    if not patterns:
        yield []
        return
    first, *others = patterns
    for at, node in enumerate(nodes):
        for captured in matches(first, node, text):
            for rest in _in_order(tuple(others), nodes[at + 1 :], text):
                yield [*captured, *rest]


def _holds(predicate: tuple[str, ...], captured: Captured, text: str) -> bool:
    name, subject, *words = predicate
    if name == "#set!":
        return True
    if name == ":match":  # Emacs has the regular expression before the capture
        return all(re.match(_from_emacs(subject), text[node.start : node.end]) for _, node in captured)
    if name not in ("#any-of?", "#not-any-of?"):
        raise ValueError(f"{name} is not known here")
    (found,) = (text[node.start : node.end] for capture, node in captured if f"@{capture}" == subject)
    return (found in words) == (name == "#any-of?")


def _from_emacs(pattern: str) -> str:
    """A regular expression of Emacs in Python's syntax: that of a list of words."""
    spelled = {r"\`": r"\A", r"\'": r"\Z", r"\(?:": "(?:", r"\|": "|", r"\)": ")"}
    return re.sub(r"\\(?:\(\?:|.)", lambda found: spelled[found[0]], pattern)


def pieces(query: list[Pattern], root: SyntaxNode, text: str) -> list[Piece]:
    """The captured pieces of a text, with the names of their captures."""
    found = [
        captured
        for node in root.walk()
        for pattern in query
        for match in matches(pattern, node, text)
        for captured in match
    ]
    return [(node.start, capture, text[node.start : node.end]) for capture, node in found]
