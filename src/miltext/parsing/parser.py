"""Parsing: MIL text to a Program, or a ParseError with the error and its place."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from miltext.diagnostics import Diagnostic, ParseError, Span, codes, error
from miltext.parsing.lowering import Lowering, LoweringError
from miltext.parsing.lowering.values import list_error
from miltext.parsing.spans import find
from miltext.parsing.syntax_errors import TOO_NESTED, syntax_error
from miltext.parsing.tree_lowering import TreeLowering, lowering_diagnostic
from miltext.schema.paths import TOO_DEEP, too_deep
from miltext.schema.proto import Program, Value
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.lexer import FINE, STATEMENTS
from miltext.syntax.parser import Parser, SyntaxFailure
from miltext.syntax.programs import require_program
from miltext.syntax.recursion import with_room
from miltext.syntax.tree import Node, Tree, chain, tokens, transformed, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.schema.paths import Path
    from miltext.schema.proto import Message

    M = TypeVar("M", bound=Message)


MESSAGES: dict[str, type[Message]] = {"program": Program, "value": Value}
"""The messages that phrases spell by themselves, by the rule of the phrase."""


class _TooDeep(Exception):
    """A message nests more deeply than protobuf reads; `step` is the path of the first such message."""

    def __init__(self, step: Path) -> None:
        super().__init__(TOO_DEEP)
        self.step = step


FAILURES = (SyntaxFailure, LoweringError, RecursionError, _TooDeep)
"""The errors that end a parse of a text that does not spell its message."""


@with_room
def parse(text: str, *, into: M | None = None, path: str | None = None) -> Program | M:
    """Return the Program that MIL text spells.

    `into` is a message to clear and fill instead of a new one; coremltools' own `MIL_pb2.Program` will do.
    `path` is the name that errors show. Raise ParseError, and leave `into` as it was then; TypeError if `into` is
    not a Program.
    """
    if into is None:
        return Program.FromString(lower(text, path))
    require_program(into)
    into.ParseFromString(lower(text, path))
    return into


@with_room
def attempt(text: str, lowering: Lowering | None = None) -> Program | None:
    """Return the Program that MIL text spells, or None where `parse` would raise. Do not look for the error."""
    try:
        return Program.FromString(_wire(text, lowering, "program"))
    except FAILURES:
        return None


@with_room
def lower(text: str, path: str | None = None, lowering: Lowering | None = None, rule: str = "program") -> bytes:
    """Return the wire bytes of the message that MIL text spells. Raise ParseError.

    The text is a phrase of the `rule`, one of MESSAGES; another `lowering` reads it if given.
    """
    try:
        return _wire(text, lowering, rule)
    except FAILURES as failure:
        with gc_paused:
            found = diagnose(text, failure, lowering or Lowering(), rule)
        raise ParseError([found], text=text, path=path) from None


@with_room
def parse_value(text: str) -> Value:
    """Return the Value that a type and a literal spell, such as `int32(1)`. Raise ParseError."""
    return Value.FromString(lower(text, rule="value"))


OF_DRAFTS = (codes.MISSING_TYPE, codes.SHORT_SPELLING)
"""The codes of the errors that make a draft no Program."""


def _wire(text: str, lowering: Lowering | None, rule: str) -> bytes:
    """Return the wire bytes of a phrase's message. Raise one of FAILURES."""
    parser = _parser() if lowering is None else Parser(lowering)
    with gc_paused:
        wire, deep = parser.run(text, stack=parser.stack(rule))
        if deep and (step := too_deep(wire, MESSAGES[rule])) is not None:
            raise _TooDeep(step)
    return wire  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Lowering())


@with_room
def parse_tree(text: str, path: str | None = None, *, whole: bool = False) -> Tree:
    """Return the tree of phrases of a text, which a Program need not contain, and its comments. Raise ParseError.

    With `whole`, read each plain operation as one token, and its phrases on demand; do not look into lists. That is
    much faster where few phrases are used.
    """
    comments: list[Span] = []
    failure = None
    with gc_paused:
        try:
            nodes = [tree_of(text, STATEMENTS if whole else FINE, comments=comments)]
        except SyntaxFailure as broken:
            failure, nodes = broken, broken.read
        found = _first_broken_list(nodes) if failure or not whole else None
        if failure and not found:
            found = syntax_error(text, failure, nodes)
        if found:
            raise ParseError([found], text=text, path=path)
    return Tree(nodes[0], comments)


def diagnose(text: str, failure: Exception, lowering: Lowering, rule: str = "program") -> Diagnostic:
    """Return the diagnostic of a text that the fast parse refused with `failure`: its tree determines the place.

    The text is a phrase of the rule. The first phrase that cannot be lowered is to blame, otherwise the end of the read
    text; that comes first, too, where all other errors are spellings of drafts.
    """
    if isinstance(failure, _TooDeep):
        whole = tree_of(text, STATEMENTS, rule)
        return error(
            codes.NESTED_TOO_DEEPLY, TOO_DEEP, (find(whole, failure.step) if rule == "program" else whole).span
        )
    try:
        nodes = [tree_of(text, STATEMENTS, rule)]
    except SyntaxFailure as broken:
        failure, nodes = broken, broken.read
    lower = TreeLowering(text, lowering).lower
    try:
        for node in nodes:
            if node.token is None:
                transformed(node, lower)
    except ParseError as refused:
        found = refused.diagnostics[0]
        if not isinstance(failure, SyntaxFailure) or found.code not in OF_DRAFTS:
            return _blamed(text, found, nodes)
    if isinstance(failure, SyntaxFailure):
        return syntax_error(text, failure, nodes)
    if isinstance(failure, RecursionError):
        return error(codes.NESTED_TOO_DEEPLY, TOO_NESTED, nodes[-1].span)
    raise failure


def _blamed(text: str, refused: Diagnostic, nodes: Iterable[Node]) -> Diagnostic:
    """Return the error of a misread operation around a refused phrase, otherwise the phrase's own error."""
    place = refused.span
    if place is None or refused.code not in OF_DRAFTS:
        return refused
    from miltext.parsing.slips import misread_operations  # it needs all tables, and most texts are right

    found = (each for node in nodes for each in misread_operations(text, chain(node, place.start)))
    around = (said for phrase, said in found if phrase.start <= place.start and place.end <= phrase.end)
    return next(around, refused)


def _first_broken_list(nodes: Iterable[Node]) -> Diagnostic | None:
    """Return the error of the first list that was read as one token, and that the grammar's rules refuse."""
    for token in (token for node in nodes for token in tokens(node)):
        if token.name == "LIST" and token.token and (refused := list_error(token.token)):
            return lowering_diagnostic(token, refused)
    return None
