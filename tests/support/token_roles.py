"""What the parser says of each token of a text: the view that every highlighter is held to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, _TokenType

from miltext.parsing.parser import parse_tree
from miltext.schema.operations import all_names
from miltext.syntax.tree import Node

NAME_ROLES = {
    "function": "function",
    "opset": "opset",
    "operation_opset": "opset",
    "operation": "operation",
    "call": "operation",
    "named_value": "definition",
    "draft_value": "definition",
    "name_binding": "use",
    "outputs": "use",
    "argument": "parameter",
    "single_argument": "parameter",
    "attribute": "parameter",
    "draft_attribute": "parameter",
    "draft_marker": "marker",
}
"""By the rule that a NAME is in."""

TERMINAL_ROLES = {
    "PROGRAM": "declaration",
    "FUNC": "declaration",
    "DTYPE": "type",
    "DRAFT": "type",
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


CLASSES: dict[str, set[_TokenType]] = {
    "comment": {Comment.Single, Comment.Multiline},
    "declaration": {Keyword.Declaration},
    "function": {Name.Function},
    "opset": {Name.Namespace},
    "known operation": {Name.Builtin},
    "operation": {Name.Function},
    "parameter": {Name.Attribute},
    "definition": {Name.Variable},
    "use": {Name},
    "type": {Keyword.Type},
    "marker": {Keyword.Pseudo},
    "blob": {Keyword},
    "constant": {Keyword.Constant},
    "number": {Number.Integer, Number.Float, Number.Hex},
    "string": {String.Double, String.Escape},
    "operator": {Operator},
    "punctuation": {Punctuation},
}
"""What a highlighter may make of each role: the classes are those of the Pygments lexer."""


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
    if role := TERMINAL_ROLES.get(node.name) or TEXT_ROLES.get(node.token, ""):
        return role
    return "marker" if node.token.startswith("$") else "punctuation"


Piece = tuple[int, str, str]
"""A piece of a highlighted text: its offset, its class, and the text itself."""


def contradictions(text: str, pieces: Iterable[Piece], names: Mapping[_TokenType, str]) -> list[str]:
    """Where a highlighter gives a token of the parser's a class that its role does not allow.

    `names` says how the highlighter names each class.
    """
    classes = classes_of(text, pieces)
    found = []
    for start, end, role in roles(text):
        allowed = {names[token] for token in CLASSES[role]}
        given = {name for name, char in zip(classes[start:end], text[start:end], strict=True) if not char.isspace()}
        for name in sorted(given - allowed):
            line = text.count("\n", 0, start) + 1
            found.append(f"line {line}: {text[start:end]!r} is a {role} for the parser, here {name or 'nothing'}")
    return found


def classes_of(text: str, pieces: Iterable[Piece]) -> list[str]:
    """The class of each character; none where no piece has it."""
    classes = [""] * len(text)
    for start, name, piece in pieces:
        classes[start : start + len(piece)] = [name] * len(piece)
    return classes
