"""What the parser says of each token of a text: the view that every highlighter is held to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from miltext.parser import parse_tree
from miltext.signatures import all_names
from miltext.syntax import Node

NAME_ROLES = {
    "function": "function",
    "opset": "opset",
    "operation": "operation",
    "named_value": "definition",
    "name_binding": "use",
    "outputs": "use",
    "argument": "parameter",
    "single_argument": "parameter",
    "attribute": "parameter",
}
"""By the rule that a NAME stands in."""

TERMINAL_ROLES = {
    "PROGRAM": "declaration",
    "FUNC": "declaration",
    "DTYPE": "type",
    "CODE": "type",
    "TENSOR_BUFFER": "type",
    "TUPLE": "type",
    "DICT": "type",
    "STATE": "type",
    "SHAPE": "parameter",
    "STRIDES": "parameter",
    "INTERLEAVE_FACTORS": "parameter",
    "PATH": "parameter",
    "OFFSET": "parameter",
    "BLOBFILE": "blob",
    "BOOL": "constant",
    "QMARK": "constant",
    "NUMBER": "number",
    "INF": "number",
    "NAN": "number",
    "STRING": "string",
    "NO_BLOCK": "marker",
    "FIELD": "marker",
    "EQUAL": "operator",
}

TEXT_ROLES = {"tensor": "type", "list": "type", "->": "operator", "$[": "punctuation"}
"""Of the terminals that Lark gives numbers for names."""

ELEMENT = re.compile(r"(?P<punctuation>[\[\],])|(?P<constant>true|false)|(?P<number>[^\s\[\],]+)")
"""A piece of a list literal, which the grammar reads as one token."""


class Role(NamedTuple):
    """A token's place and the part it plays."""

    start: int
    end: int
    role: str


def roles(text: str) -> list[Role]:
    """The tokens of a text that parses, comments among them, in their order."""
    trace = parse_tree(text)
    comments = [Role(span.start, span.end, "comment") for span in trace.comments]
    return sorted([*comments, *_tokens(trace.root, "")])


def _tokens(node: Node, rule: str) -> Iterator[Role]:
    if node.token is None:
        for child in node.children:
            yield from _tokens(child, node.name)
    elif node.name == "LIST":
        for match in ELEMENT.finditer(node.token):
            assert match.lastgroup
            yield Role(node.start + match.start(), node.start + match.end(), match.lastgroup)
    elif node.start < node.end:
        yield Role(node.start, node.end, _role(node, rule))


def _role(node: Node, rule: str) -> str:
    assert node.token is not None
    if node.name == "NAME":
        role = NAME_ROLES[rule]
        return "known operation" if role == "operation" and node.token in all_names() else role
    if (role := TERMINAL_ROLES.get(node.name) or TEXT_ROLES.get(node.token, "")):
        return role
    return "marker" if node.token.startswith("$") else "punctuation"


class Piece(NamedTuple):
    """A stretch of text that a highlighter gave one class."""

    start: int
    end: int
    kind: str


def contradictions(text: str, pieces: list[Piece], allowed: Callable[[str], set[str]]) -> list[str]:
    """Where a highlighter's pieces, in order, give a token a class that is not among those `allowed` for its role.

    A piece that no token of the parser's touches must be white space.
    """
    found, index = [], 0
    tokens = roles(text)
    for piece in pieces:
        while index < len(tokens) and tokens[index].end <= piece.start:
            index += 1
        touched = index
        while touched < len(tokens) and tokens[touched].start < piece.end:
            if piece.kind not in allowed(tokens[touched].role):
                found.append(_shown(text, piece, tokens[touched]))
            touched += 1
    return found


def _shown(text: str, piece: Piece, token: Role) -> str:
    line = text.count("\n", 0, token.start) + 1
    return f"line {line}: {text[token.start : token.end]!r} is a {token.role}, but {text[piece.start : piece.end]!r} is {piece.kind}"
