"""The context of a place: the possible next terminals of the grammar, from a parse of the text before it.

Only the beginning of the statement is parsed, from its place in the tree; so a place is understood even in a broken
text, and quickly in a long one.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from miltext.lsp.calls import parameters
from miltext.reference.markdown import known_signature
from miltext.syntax.lexer import FINE
from miltext.syntax.names import name_of
from miltext.syntax.parser import SyntaxFailure
from miltext.syntax.phrases import (
    ARGUMENTS,
    BODIES,
    Every,
    block,
    functions,
    is_positional,
    name_in,
    opening,
    operations,
)
from miltext.syntax.tree import Node, tree_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from miltext.diagnostics import Span
    from miltext.lsp.documents import View
    from miltext.parsing.scopes import Meaning, Scope
    from miltext.schema.operations import Parameter, Signature

_WORD = re.compile(r'(?:\$"[^"\n]*|[$A-Za-z_][A-Za-z0-9_@]*)\Z')
_IN_BLOCK, _IN_PROGRAM = "_rest_of_block", "_functions"
"""The phrases of the grammar that begin where a statement does."""

LONGEST = 1000
"""The longest completed word."""

FARTHEST = 1 << 15
"""The most characters parsed before a place: edits far apart may leave no place between them known."""


class UnfinishedCall(NamedTuple):
    """An unfinished operation: its signature, if known, the `given` parameters, the parameter being `bound`, and the
    parameter that a positional argument would have.
    """

    signature: Signature | None
    given: list[str | None]
    bound: str | None
    placed: str | None

    @property
    def missing(self) -> list[Parameter]:
        """The parameters without an argument so far."""
        known = self.signature.parameters.values() if self.signature else ()
        return [parameter for parameter in known if parameter.name not in self.given]


class Context(NamedTuple):
    """A place in the document: the start of the word before it, and that word.

    `open` are the unfinished phrases and tokens there, `expected` the possible next terminals. `values` are the visible
    values, the nearest first. `opset` is the function's, in its spelling in the text.
    """

    start: int
    word: str
    open: Sequence[Node]
    expected: Collection[str]
    opset: str | None
    values: Sequence[Meaning]

    @property
    def keys(self) -> list[str]:
        """The names of the open phrases; marks by themselves, such as `(`."""
        return [_key(node) for node in self.open]

    def call(self) -> UnfinishedCall | None:
        """Return the innermost operation with unfinished arguments."""
        keys = self.keys
        for place in range(len(keys) - 2, -1, -1):
            behind = place + 2 if keys[place + 1] == "operation_opset" else place + 1
            if keys[place] == "NAME" and keys[behind : behind + 1] == ["("] and keys[max(place - 1, 0)] != "FUNC":
                inside = keys[behind + 1 :]
                if inside.count(")") <= inside.count("("):
                    return self._call(self.open[place], self.open[behind + 1 :])
        return None

    def _call(self, operation: Node, inside: Sequence[Node]) -> UnfinishedCall:
        arguments, marks = [node for node in inside if node.name in ARGUMENTS], [_key(node) for node in inside]
        names = [name_of(node.token or "") for node, after in itertools.pairwise(inside) if _key(after) == "="]
        bound = names[-1] if names else None
        known = known_signature(name_in(operation), self.opset)
        if known is None:
            return UnfinishedCall(None, [], bound, None)
        given = parameters(arguments, known)
        rest = known.positions[len(given) :] if all(map(is_positional, arguments)) else []
        placed = rest[0] if rest and not bound else None
        is_in_list = marks.count("(") > marks.count(")")  # for several values of one parameter
        return (
            UnfinishedCall(known, given, placed, None)
            if is_in_list and placed
            else UnfinishedCall(known, given, bound, placed)
        )


def context_at(view: View, offset: int) -> Context:
    """Return the context of an offset of the document."""
    text = view.document.text
    word = _WORD.search(text, max(0, text.rfind("\n", 0, offset), offset - LONGEST), offset)
    start = word.start() if word else offset
    place = view.read_at(start)
    scopes = view.scopes.around(place)
    kind, begin = _beginning(view, scopes, place)
    kept, expected = _parsed(text, kind, view.shown_at(begin), start)
    opset = scopes[0].opset if scopes else None
    return Context(start, text[start:offset], kept, expected, opset, _seen(scopes, begin))


def _beginning(view: View, scopes: Sequence[Scope], place: int) -> tuple[str, int]:
    """Return the kind of phrase of the statement around a place of the reading, and its beginning."""
    phrase = scopes[0].phrase if scopes else view.reading.root
    if phrase.name in (*BODIES, "inner_block") and place > block(phrase).start:
        return _IN_BLOCK, _last_end(block(phrase), operations, place)
    if scopes:
        return _IN_PROGRAM, scopes[-1].phrase.start
    brace = opening(phrase)
    return (_IN_PROGRAM, _last_end(phrase, functions, place)) if brace and brace.end <= place else ("program", 0)


def _last_end(phrase: Node, parts: Every, place: int) -> int:
    """Return the end of the last of these parts before a place, or the place where the first would begin."""
    ends = [each.end for each in (opening(phrase), *parts(phrase)) if each and each.end <= place]
    return ends[-1] if ends else phrase.start


def _parsed(text: str, kind: str, begin: int, end: int) -> tuple[list[Node], list[str]]:
    """Return the open phrases at `end` of a parse from `begin`, and the possible next terminals.

    If the parse fails, or would take long, parse the apparent last statement instead.
    """
    found = _open(kind, text[begin:end]) if end - begin <= FARTHEST else None
    if found is None:
        found = _open(_IN_BLOCK, text[max(begin, *(text.rfind(mark, begin, end) + 1 for mark in ";{}")) : end])
    return found or ([], [])


def _open(kind: str, text: str) -> tuple[list[Node], list[str]] | None:
    """Return the open phrases at the end of a text, and the possible next terminals; None if the parse fails before the
    end.
    """
    comments: list[Span] = []
    try:
        tree_of(text, FINE, kind, comments)
    except SyntaxFailure as failure:
        if failure.start < len(text):
            return None
        in_comment = any(span.end == len(text) and text.startswith("//", span.start) for span in comments)
        return ([], []) if in_comment else (failure.read, failure.expected)
    return [], []


def _seen(scopes: Sequence[Scope], place: int) -> list[Meaning]:
    """Return the visible values at a place, the nearest first, each name once."""
    seen: dict[str, Meaning] = {}
    for scope in scopes:
        for name, values in reversed(scope.values.items()):
            defined = [value for value in values if value.seen_from <= place]
            if defined:
                seen.setdefault(name, defined[-1])
    return list(seen.values())


def _key(node: Node) -> str:
    """Return the name of a node of an unfinished parse; for a mark, the mark itself."""
    is_mark = node.token is not None and not node.token[:1].isalnum() and node.name not in ("NAME", "DRAFT", "STRING")
    return node.token or "" if is_mark else node.name
