"""Semantic tokens: the kind of each word of a text, by its meaning rather than by its spelling."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from miltext.diagnostics import Span
from miltext.schema.operations import first_opset
from miltext.syntax.phrases import ARGUMENTS, ATTRIBUTES, OPERATIONS, OPSETS, name_in
from miltext.syntax.tree import Node, Statement, leaf
from miltext.syntax.vocabulary import keywords

if TYPE_CHECKING:
    from miltext.lsp.documents import View
    from miltext.lsp.positions import Positions
    from miltext.parsing.scopes import Meaning
    from miltext.syntax.phrases import Name

TYPES = "namespace type parameter variable property function macro keyword comment string number".split()
MODIFIERS = "declaration readonly defaultLibrary".split()
LEGEND = lsp.SemanticTokensLegend(TYPES, MODIFIERS)
"""The kinds and modifiers of tokens used here, out of the protocol's."""

DECLARATION, READONLY, DEFAULT_LIBRARY = 1, 2, 4


class Kind(NamedTuple):
    """The kind of a token: one of TYPES, and a sum of modifiers."""

    type: str
    modifiers: int = 0


_NAMES = {
    "function": Kind("function", DECLARATION),
    **dict.fromkeys(OPERATIONS, Kind("function")),
    **dict.fromkeys(OPSETS, Kind("namespace")),
    **dict.fromkeys((*ARGUMENTS, *ATTRIBUTES), Kind("property")),
    "draft_marker": Kind("macro"),
}
"""The kind of a name by the phrase directly around it; a value's name is classified by its definition."""

_TERMINALS = {
    **dict.fromkeys(("DTYPE", "CODE", "DRAFT"), Kind("type")),
    **dict.fromkeys(("NUMBER", "LIST", "INF", "NAN"), Kind("number")),
    **dict.fromkeys(("FIELD", "NO_BLOCK"), Kind("macro")),
    "STRING": Kind("string"),
    "BOOL": Kind("keyword"),
}

_WORDS = {
    **dict.fromkeys(keywords().declarations, Kind("keyword")),
    **dict.fromkeys(keywords().constructors, Kind("type")),
    **dict.fromkeys(keywords().fields, Kind("property")),
    **dict.fromkeys(keywords().blobs, Kind("keyword")),
    **dict.fromkeys(keywords().markers, Kind("macro")),
}

Token = tuple[int, int, Kind]


def tokens(view: View, _: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
    """Return the tokens of the whole document."""
    return _sent(view, 0, len(view.text))


def tokens_in_range(view: View, params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
    """Return the tokens that touch a range."""
    span = view.span(params.range)
    return _sent(view, span.start, span.end)


def _sent(view: View, start: int, end: int) -> lsp.SemanticTokens:
    """Return five numbers for each token: lines and characters since the token before, length, type and modifiers."""
    found = [token for token in _tokens(view, start, end) if token[1] > token[0]]
    data: list[int] = []
    line = character = 0
    for begin, end, kind in _lines(view.document.positions, sorted(_placed(view, found))):
        place = view.document.positions.position(begin)
        length = view.document.positions.units(view.document.text[begin:end])
        data += [place[0] - line, place[1] - character * (place[0] == line), length]
        data += [TYPES.index(kind.type), kind.modifiers]
        line, character = place
    return lsp.SemanticTokens(data)


def _placed(view: View, found: list[Token]) -> list[Token]:
    """Return the tokens at their places in the document, without tokens that an edit has touched."""
    shift = view.shift
    if shift is None:
        return found
    placed = ((shift.untouched(Span(start, end)), kind) for start, end, kind in found)
    return [(*span, kind) for span, kind in placed if span]


def _lines(positions: Positions, found: list[Token]) -> Iterator[Token]:
    """Yield the tokens, a piece for each of their lines; a token that overlaps the one before is left out."""
    behind = 0
    for start, end, kind in found:
        if start < behind:
            continue
        behind = end
        line = positions.position(start)[0]
        while start < end:
            stop = min(end, positions.line_end(line))
            if stop > start:
                yield start, stop, kind
            line += 1
            start = positions.starts[line] if line < len(positions.starts) else end


def _tokens(view: View, start: int, end: int) -> Iterator[Token]:
    """Yield the tokens of the phrases that touch a span of the text, and the comments there."""
    yield from ((each.start, each.end, Kind("comment")) for each in view.reading.comments if start <= each.end <= end)
    values = {name.start: (name, value) for name, value in view.scopes.between(start, end)}
    for token in _read(view.reading.root, start, end):
        name, value = values.get(token[0], (None, None))
        if name is None or value is None or value.is_function:
            yield token
        else:
            yield *token[:2], _of_value(name, value)


def _of_value(found: Name, value: Meaning) -> Kind:
    modifiers = DECLARATION * (found == value.name) + READONLY * (name_in(value.operation) == "const")
    return Kind("variable" if value.operation else "parameter", modifiers)


def _read(root: Node, start: int, end: int) -> Iterator[Token]:
    """Yield the tokens of the phrases that touch a span of the text, in no order, by the phrases around them."""
    todo = [root]
    while todo:
        phrase = todo.pop()
        for child in phrase.children:
            if child.end < start or child.start > end:
                continue
            if isinstance(child, Statement):
                inside = _inside(child.text)
                yield from ((begin + child.start, stop + child.start, kind) for begin, stop, kind in inside)
            elif kind := _kind(child, phrase):
                yield child.start, child.end, kind
            elif child.children:
                todo.append(child)


@lru_cache(maxsize=1 << 13)
def _inside(statement: str) -> tuple[Token, ...]:
    """Return the tokens of a plain operation, from its beginning."""
    return tuple(_read(leaf("OPERATION", statement, 0), 0, len(statement)))


def _kind(phrase: Node, around: Node) -> Kind | None:
    token = phrase.token
    if token is None:
        return None
    if phrase.name != "NAME":
        return _TERMINALS.get(phrase.name) or _WORDS.get(token)
    if around.name in OPERATIONS and first_opset(name_in(phrase)):
        return Kind("function", DEFAULT_LIBRARY)
    return _NAMES.get(around.name, Kind("variable"))
