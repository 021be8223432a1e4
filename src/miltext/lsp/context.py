"""What may come next at a place: the grammar's own answer, from a parse of what stands before it.

Only the beginning of the statement is parsed, as the tree has it; so a place is understood while the text round it is
broken, and quickly in a long one.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from miltext.lsp.trees import first
from miltext.parsing.spans import name_of
from miltext.syntax.lexer import FINE
from miltext.syntax.parser import NestingFailure, SyntaxFailure
from miltext.syntax.tree import Node, flat, named, tree_of, tree_parser

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from miltext.diagnostics import Span
    from miltext.lsp.documents import View
    from miltext.lsp.scopes import Scope, Value

_WORD = re.compile(r'(?:\$"[^"\n]*|[$A-Za-z_][A-Za-z0-9_@]*)\Z')
_IN_BLOCK, _IN_PROGRAM = "_rest_of_block", "_functions"
"""The phrases of the grammar that begin where a statement does."""

LONGEST = 1000
"""How long a word may be to be completed."""

_STATEMENT = re.compile(r"[;{}]")
_ARGUMENTS = ("argument", "single_argument")


class Call(NamedTuple):
    """An operation that is being written: its type, the parameters that are given, and the one that is being bound."""

    operation: str
    given: list[str]
    parameter: str | None


class Context(NamedTuple):
    """A place in the document: where the word before it begins, and that word.

    `open` are the phrases and tokens that are not finished there, `expected` the terminals that could come next.
    `values` are those that are seen, the nearest first.
    """

    start: int
    word: str
    open: Sequence[Node]
    expected: Collection[str]
    scope: Scope | None
    values: Sequence[Value]

    @property
    def opset(self) -> str | None:
        """That of the function, as the text has it."""
        return self.scope.opset if self.scope else None

    @property
    def keys(self) -> list[str]:
        """What is open, by name; marks by themselves, as in `(`."""
        return [_key(node) for node in self.open]

    def call(self) -> Call | None:
        """Return the operation whose arguments are being written."""
        keys = self.keys
        for place in range(len(keys) - 2, -1, -1):
            if keys[place : place + 2] == ["NAME", "("] and keys[max(place - 1, 0)] != "FUNC":
                inside = keys[place + 2 :]
                return None if inside.count(")") > inside.count("(") else self._call(place)
        return None

    def _call(self, place: int) -> Call:
        inside = self.open[place + 2 :]
        given = [name_of(node.children[0].token or "") for node in inside if node.name in _ARGUMENTS]
        bound = [node for node, after in itertools.pairwise(inside) if _key(after) == "="]
        parameter = name_of(bound[-1].token or "") if bound else None
        return Call(name_of(self.open[place].token or ""), given, parameter)


def context_at(view: View, offset: int) -> Context:
    """Return what may come at an offset of the document."""
    text = view.document.text
    word = _WORD.search(text, max(0, text.rfind("\n", 0, offset), offset - LONGEST), offset)
    start = word.start() if word else offset
    place = view.shift.to_old(start) if view.shift else start
    scope = view.scopes.scope_at(place)
    kind, begin = _beginning(view, scope, place)
    kept, expected = _parsed(text, kind, view.shift.to_new(begin) if view.shift else begin, start)
    return Context(start, text[start:offset], kept, expected, scope, _seen(scope, begin))


def _beginning(view: View, scope: Scope | None, place: int) -> tuple[str, int]:
    """Where the statement round a place of the reading begins, and of what phrase it is the beginning."""
    phrase = scope.phrase if scope else view.reading.root
    if phrase.name == "function":
        return _IN_PROGRAM, phrase.start
    block = phrase if phrase.name == "block" else first(phrase, "block")
    if block is not None and place > block.start:
        return _IN_BLOCK, _last_end(block, "operation", place)
    if scope is not None and scope.outer is not None:
        return _IN_PROGRAM, next(around.phrase.start for around in scope.around() if around.outer is None)
    brace = first(phrase, "LBRACE")
    return (_IN_PROGRAM, _last_end(phrase, "function", place)) if brace and brace.end <= place else ("program", 0)


def _last_end(phrase: Node, inside: str, place: int) -> int:
    """Where the last phrase of that name ends before a place, or where the first would begin."""
    ends = [child.end for child in named(phrase, "LBRACE", inside) if child.end <= place]
    return ends[-1] if ends else phrase.start


def _parsed(text: str, kind: str, begin: int, end: int) -> tuple[list[Node], list[str]]:
    """Return what is open at `end` of a parse from `begin`, and the terminals that could come; else, of the last
    statement.
    """
    found = _open(kind, text[begin:end])
    if found is None:
        marks = [match.end() for match in _STATEMENT.finditer(text, begin, end)]
        found = _open(_IN_BLOCK, text[marks[-1] if marks else begin : end])
    return found or ([], [])


def _open(kind: str, text: str) -> tuple[list[Node], list[str]] | None:
    """Return what is open at the end of a text, and what could come next; None for one that breaks off before
    its end.
    """
    comments: list[Span] = []
    stack = tree_parser(FINE).stack(kind)
    try:
        tree_of(text, FINE, stack, comments)
    except SyntaxFailure as failure:
        if failure.start < len(text):
            return None
        in_comment = any(span.end == len(text) and text.startswith("//", span.start) for span in comments)
        return ([], []) if in_comment else (flat(stack[1]), failure.expected)
    except NestingFailure:
        return None
    return [], []


def _seen(scope: Scope | None, place: int) -> list[Value]:
    """Return the values that are seen at a place, the nearest first, each name once."""
    seen: dict[str, Value] = {}
    for around in scope.around() if scope else ():
        for name, values in reversed(around.values.items()):
            defined = [value for value in values if value.seen_from <= place]
            if defined:
                seen.setdefault(name, defined[-1])
    return list(seen.values())


def _key(node: Node) -> str:
    """Return what a node of an unfinished parse goes by."""
    is_mark = node.token is not None and not node.token[:1].isalnum() and node.name not in ("NAME", "DRAFT", "STRING")
    return node.token or "" if is_mark else node.name
