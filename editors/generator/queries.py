"""Queries that highlight by tree-sitter's nodes: one list of patterns, with the captures of each editor."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from textwrap import fill

from generator.treesitter import WIDTH, literals
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, _TokenType

from miltext.syntax.vocabulary import keywords, operation_names

STANDARD: dict[_TokenType, str] = {
    Comment.Single: "comment",
    Comment.Multiline: "comment",
    Keyword: "keyword",
    Keyword.Constant: "constant.builtin",
    Keyword.Declaration: "keyword",
    Keyword.Pseudo: "keyword.directive",
    Keyword.Type: "type.builtin",
    Name: "variable",
    Name.Attribute: "property",
    Name.Builtin: "function.builtin",
    Name.Function: "function",
    Name.Namespace: "module",
    Name.Variable: "variable",
    Number.Float: "number",
    Number.Hex: "number",
    Number.Integer: "number",
    Operator: "operator",
    Punctuation: "punctuation",
    String.Double: "string",
    String.Escape: "string",
}
"""The capture of each of the lexer's tokens, for Neovim and for tree-sitter itself. No node is an escape alone."""

HELIX = {
    **STANDARD,
    Name.Attribute: "variable.other.member",
    Name.Namespace: "namespace",
    **dict.fromkeys([Number.Float, Number.Hex, Number.Integer], "constant.numeric"),
}
ZED = {**STANDARD, Name.Namespace: "constant"}

LITERALS: dict[str, _TokenType] = {
    "?": Keyword.Constant,
    **dict.fromkeys(["=", "->"], Operator),
    **dict.fromkeys("()[]{}<>,;", Punctuation),
    "$[": Punctuation,
}
"""The token of each mark that the grammar contains; of words, the vocabulary knows it."""

NODES: dict[str, _TokenType] = {
    "(comment) @": Comment.Single,
    "(string) @": String.Double,
    "[(number) (inf) (nan)] @": Number.Float,
    "(bool) @": Keyword.Constant,
    "[(dtype_name) (code) (draft)] @": Keyword.Type,
    "[(field) (no_block)] @": Keyword.Pseudo,
    "(draft_marker (name) @)": Keyword.Pseudo,
    "(function name: (name) @)": Name.Function,
    "(opset (name) @)": Name.Namespace,
    "(operation_opset (name) @)": Name.Namespace,
    "(named_value name: (name) @)": Name.Variable,
    "(draft_value name: (name) @)": Name.Variable,
    "(name_binding (name) @)": Name,
    "(outputs (name) @)": Name,
    "(single_argument name: (name) @)": Name.Attribute,
    "(argument name: (name) @)": Name.Attribute,
    "(attribute name: (name) @)": Name.Attribute,
    "(draft_attribute name: (name) @)": Name.Attribute,
}
"""Patterns of nodes, with the capture left out behind the `@`."""

OPERATIONS = ("(operation type: (name) @)", "(call type: (name) @)")
"""Patterns of operations, which are known by their names."""

HEAD = """\
; Made by editors/generate.py. Each token has one pattern: the first or the last of several wins, by the editor.
"""


def highlights(captures: Mapping[_TokenType, str]) -> str:
    """Make a file `highlights.scm`."""
    known, unknown = _operations("any-of?", captures[Name.Builtin]), _operations("not-any-of?", captures[Name.Function])
    return "\n".join([HEAD, *patterns(captures), "", known, "", unknown]) + "\n"


def patterns(captures: Mapping[_TokenType, str]) -> Iterator[str]:
    """Yield the patterns of words and marks, then those of nodes, except for operations."""
    kinds = _kinds()
    for token in dict.fromkeys(kinds.values()):
        listed = " ".join(json.dumps(literal) for literal, kind in kinds.items() if kind == token)
        yield f"[{listed}] @{captures[token]}"
    for pattern, token in NODES.items():
        yield pattern.replace("@", f"@{captures[token]}")


def _kinds() -> dict[str, _TokenType]:
    """Return the token of each literal in the grammar's rules. Raise KeyError at one of unknown kind."""
    known = keywords()
    words = {
        **dict.fromkeys(known.declarations, Keyword.Declaration),
        **dict.fromkeys(known.constructors, Keyword.Type),
        **dict.fromkeys(known.fields, Name.Attribute),
        **dict.fromkeys(known.blobs, Keyword),
        **dict.fromkeys(known.markers, Keyword.Pseudo),
    }
    return {literal: {**LITERALS, **words}[literal] for literal in sorted(literals())}


def _operations(predicate: str, capture: str) -> str:
    names = fill(" ".join(map(json.dumps, operation_names())), WIDTH, initial_indent="  ", subsequent_indent="  ")
    captured = " ".join(pattern.replace("@", f"@{capture}") for pattern in OPERATIONS)
    return f"([{captured}]\n (#{predicate} @{capture}\n{names}))"
