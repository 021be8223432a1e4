"""Parsing: MIL text to a Program, or a ParseError that says what is wrong and where."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from miltext.collector import collector_paused
from miltext.complaints import complain
from miltext.depth import TOO_DEEP, too_deep
from miltext.diagnostics import Diagnostic, ParseError, Span, error
from miltext.literals import shown, without_spaces
from miltext.lowering import Lowering, Refused
from miltext.places import find
from miltext.plain_tokens import PIECES, element, is_list
from miltext.programs import require_program
from miltext.proto import Program
from miltext.recursion import with_room
from miltext.syntax import (
    Driver,
    NestingFailure,
    Node,
    SyntaxFailure,
    Token,
    Trace,
    WholeOperation,
    tree_driver,
)

if TYPE_CHECKING:
    from miltext.proto import Message

    M = TypeVar("M", bound=Message)


FAILURES = (SyntaxFailure, NestingFailure, Refused, RecursionError)
"""What a parse ends in whose text is no Program."""


@with_room
def parse(text: str, *, into: M | None = None, path: str | None = None) -> Program | M:
    """The Program that MIL text spells.

    `into` is a message to clear and fill instead of a new one; coremltools' own `MIL_pb2.Program` will do.
    `path` is the name that errors show. Raises ParseError, and leaves `into` as it was then; TypeError if `into` is no
    Program.
    """
    if into is None:
        return Program.FromString(lower(text, path))
    require_program(into)
    into.ParseFromString(lower(text, path))
    return into


@with_room
def attempt(text: str, lowering: Lowering | None = None) -> Program | None:
    """The Program that MIL text spells, None where `parse` would raise: what is wrong is not looked for."""
    with collector_paused:
        try:
            wire, deep = (_driver() if lowering is None else Driver(lowering)).run(text)
        except FAILURES:
            return None
    return None if deep and too_deep(wire) is not None else Program.FromString(wire)


@with_room
def lower(text: str, path: str | None = None, lowering: Lowering | None = None) -> bytes:
    """The wire bytes of the Program that MIL text spells, by a `lowering` of one's own if given. Raises ParseError."""
    with collector_paused:
        try:
            wire, deep = (_driver() if lowering is None else Driver(lowering)).run(text)
        except FAILURES as failure:
            raise ParseError([diagnose(text, failure, lowering)], text=text, path=path) from None
        if deep and (step := too_deep(wire)) is not None:
            span = find(parse_tree(text, whole=True).root, step).span
            raise ParseError([error("MIL006", TOO_DEEP, span)], text=text, path=path)
    return wire  # type: ignore[no-any-return]


@with_room
def parse_tree(text: str, path: str | None = None, *, whole: bool = False) -> Trace:
    """The tree of phrases of a text and its comments; the text may say what no Program can hold. Raises ParseError.

    With `whole`, plain operations are read as one token each, and their phrases when somebody asks for them: much
    sooner done, for whoever asks for few.
    """
    kept = _Tree()
    with collector_paused:
        try:
            tree_driver(whole).run(text, kept)
        except (SyntaxFailure, NestingFailure, Refused) as failure:
            raise ParseError([described(text, failure, kept)], text=text, path=path) from None
    return kept


@lru_cache(maxsize=3)
def _driver(fast: bool = True, whole: bool = True) -> Driver:
    return Driver(Lowering(), fast=fast, whole=whole)


def diagnose(text: str, failure: Exception, lowering: Lowering | None = None) -> Diagnostic:
    """The diagnostic of a text that the fast parse refused with `failure`: a second, traced parse finds the place."""
    kept: Trace = _Glance()
    try:
        _again(lowering, whole=True).run(text, kept)
    except FAILURES as failed:
        operation = _whole_operation(kept.nodes[-1:])
        if operation is None or not isinstance(failed, Refused):
            return described(text, failed, kept)
        kept = Trace(operation.start)
        try:
            _again(lowering, whole=False).fragment("operation", operation.text, kept)
        except FAILURES as refused:
            return described(text, refused, kept)
    raise failure


def _again(lowering: Lowering | None, whole: bool) -> Driver:
    """What reads a text again, with places."""
    return _driver(False, whole) if lowering is None else Driver(lowering, fast=False, whole=whole)


def _whole_operation(last: list[Node]) -> WholeOperation | None:
    """The operation that was read as one token, if that is what was last read."""
    while last and last[-1].name[0] == "_":
        last = last[-1].children
    return last[-1] if last and isinstance(last[-1], WholeOperation) else None


class _Glance(Trace):
    """A trace for a diagnostic: of the phrases that are open it keeps what they directly hold, not the whole tree."""

    def reduce(self, name: str, size: int) -> None:
        for node in self.nodes[-size:]:
            if node.name[0] != "_" and not isinstance(node, WholeOperation):
                node.children.clear()
        super().reduce(name, size)


class _Tree(Trace):
    """A trace for whoever has no lowering: a list that is one token is looked into, as the lowering would."""

    def shift(self, terminal: str, token: str, start: int, end: int) -> str:
        placed = super().shift(terminal, token, start, end)
        if terminal == "LIST" and (refused := list_refusal(placed)):
            raise refused
        return placed


def list_refusal(token: str) -> Refused | None:
    """What is wrong with a list of plain elements that was read as one token, by the rules of the grammar."""
    if is_list(without_spaces(token)):
        return None
    for piece in PIECES.finditer(token):
        if piece[0] not in "[],," and not element().fullmatch(piece[0]):
            message = f"`{shown(piece[0])}` is no number, and no other element of a list"
            return Refused("MIL021", message, token, piece.start(), piece.end())
    return Refused("MIL022", "the brackets and commas of this list are not those of one", token)


def described(text: str, failure: Exception, kept: Trace) -> Diagnostic:
    """The diagnostic of a traced parse's failure."""
    if isinstance(failure, SyntaxFailure):
        return complain(text, failure, kept.nodes)
    if isinstance(failure, Refused):
        return error(failure.code, failure.message, _blamed(failure, kept.nodes[-1]))
    span = Span(failure.start, failure.start + 1) if isinstance(failure, NestingFailure) else kept.nodes[-1].span
    return error("MIL006", "this is nested too deeply to be a Program", span)


def _blamed(refused: Refused, phrase: Node) -> Span:
    """The place that a refusal speaks of, inside the phrase that was being lowered."""
    if isinstance(refused.at, Token):
        start = refused.at.start
        return Span(start + refused.start, refused.at.end if refused.end is None else start + refused.end)
    if isinstance(refused.at, int) and refused.at < len(phrase.children):
        return phrase.children[refused.at].span
    return phrase.span
