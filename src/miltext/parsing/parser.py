"""Parsing: MIL text to a Program, or a ParseError that says what is wrong and where."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from miltext.diagnostics import Diagnostic, ParseError, Span, error
from miltext.diagnostics.suggestions import bool_meant, did_you_mean
from miltext.parsing.lowering import Lowering, LoweringError
from miltext.parsing.spans import find
from miltext.parsing.syntax_errors import syntax_error
from miltext.schema.paths import TOO_DEEP, too_deep
from miltext.schema.proto import Program
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.lexer import FINE, STATEMENTS
from miltext.syntax.literals import shown, without_spaces
from miltext.syntax.parser import NestingFailure, Parser, SyntaxFailure
from miltext.syntax.plain_tokens import PIECES, element, is_list
from miltext.syntax.programs import require_program
from miltext.syntax.recursion import with_room
from miltext.syntax.tree import Node, Statement, Token, Tree, flat, tokens, transformed, tree_of, tree_parser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.schema.proto import Message

    M = TypeVar("M", bound=Message)


FAILURES = (SyntaxFailure, NestingFailure, LoweringError, RecursionError)
"""What a parse ends in whose text is no Program."""

TOO_NESTED = "this is nested too deeply to be a Program"


@with_room
def parse(text: str, *, into: M | None = None, path: str | None = None) -> Program | M:
    """Return the Program that MIL text spells.

    `into` is a message to clear and fill instead of a new one; coremltools' own `MIL_pb2.Program` will do.
    `path` is the name that errors show. Raise ParseError, and leave `into` as it was then; TypeError if `into` is no
    Program.
    """
    if into is None:
        return Program.FromString(lower(text, path))
    require_program(into)
    into.ParseFromString(lower(text, path))
    return into


@with_room
def attempt(text: str, lowering: Lowering | None = None) -> Program | None:
    """Return the Program that MIL text spells, or None where `parse` would raise. Do not look for what is wrong."""
    with gc_paused:
        try:
            wire, deep = (_parser() if lowering is None else Parser(lowering)).run(text)
        except FAILURES:
            return None
    return None if deep and too_deep(wire) is not None else Program.FromString(wire)


@with_room
def lower(text: str, path: str | None = None, lowering: Lowering | None = None) -> bytes:
    """Return the wire bytes of the Program that MIL text spells, by a `lowering` of one's own if given. Raise
    ParseError.
    """
    with gc_paused:
        try:
            wire, deep = (_parser() if lowering is None else Parser(lowering)).run(text)
        except FAILURES as failure:
            raise ParseError([diagnose(text, failure, lowering or Lowering())], text=text, path=path) from None
        if deep and (step := too_deep(wire)) is not None:
            span = find(parse_tree(text, whole=True).root, step).span
            raise ParseError([error("MIL006", TOO_DEEP, span)], text=text, path=path)
    return wire  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Lowering())


@with_room
def parse_tree(text: str, path: str | None = None, *, whole: bool = False) -> Tree:
    """Return the tree of phrases of a text and its comments; the text may say what a Program cannot hold. Raise
    ParseError.

    With `whole`, plain operations are read as one token each, and their phrases when somebody asks for them; and no
    list is looked into. That is much sooner done, for whoever asks for few.
    """
    comments: list[Span] = []
    coarse = STATEMENTS if whole else FINE
    stack = tree_parser(coarse).stack()
    with gc_paused:
        try:
            tree_of(text, coarse, stack, comments)
            failure = None
        except (SyntaxFailure, NestingFailure) as broken:
            failure = broken
        nodes = flat(stack[1])
        found = _first_broken_list(nodes) if failure or not whole else None
        if failure and not found:
            found = failure_diagnostic(text, failure, nodes)
        if found:
            raise ParseError([found], text=text, path=path)
    return Tree(nodes[0], comments)


def diagnose(text: str, failure: Exception, lowering: Lowering, rule: str = "program") -> Diagnostic:
    """Return the diagnostic of a text that the fast parse refused with `failure`: its tree tells the place.

    The text is a phrase of the rule. The first in it that cannot be lowered is to blame, or else the end of what was
    read.
    """
    stack = tree_parser(STATEMENTS).stack(rule)
    try:
        tree_of(text, STATEMENTS, stack)
    except (SyntaxFailure, NestingFailure) as broken:
        failure = broken
    nodes = flat(stack[1])
    refused = first_lowering_diagnostic(text, nodes, lowering)
    if refused is None and isinstance(failure, RecursionError):
        return error("MIL006", TOO_NESTED, nodes[-1].span)
    if refused is None and isinstance(failure, LoweringError):
        raise failure
    return refused or failure_diagnostic(text, failure, nodes)


def first_lowering_diagnostic(text: str, nodes: Iterable[Node], lowering: Lowering) -> Diagnostic | None:
    """Return what is wrong with the first of the phrases that cannot be lowered."""
    try:
        for node in nodes:
            if node.token is None:
                transformed(node, partial(_lowered, text, lowering))
    except ParseError as refused:
        return refused.diagnostics[0]
    return None


def _lowered(text: str, lowering: Lowering, phrase: Node, values: list[Any]) -> Any:
    """Return what a phrase is lowered to. Raise ParseError at the place of the mistake."""
    if isinstance(phrase, Statement):
        return _lowered_statement(text, lowering, phrase)
    try:
        return getattr(lowering, phrase.name)(values)
    except LoweringError as refused:
        raise ParseError([lowering_diagnostic(phrase, refused)]) from None
    except RecursionError:
        raise ParseError([error("MIL006", TOO_NESTED, phrase.span)]) from None


def _lowered_statement(text: str, lowering: Lowering, statement: Statement) -> Any:
    """Lower a plain operation. Its phrases are looked at only where it is refused."""
    try:
        return lowering.plain_operation([statement.text])
    except LoweringError:
        pass
    stack = statement.stack()
    try:
        operation = statement.read(stack)
    except SyntaxFailure as failure:
        raise ParseError([syntax_error(text, failure, flat(stack[1]))]) from None
    return transformed(operation, partial(_lowered, text, lowering))


def _first_broken_list(nodes: Iterable[Node]) -> Diagnostic | None:
    """Return what is wrong with the first list that was read as one token, and that the grammar's rules refuse."""
    for token in (token for node in nodes for token in tokens(node)):
        if token.name == "LIST" and token.token and (refused := list_error(token.token)):
            return lowering_diagnostic(token, refused)
    return None


def list_error(token: str) -> LoweringError | None:
    """Return what is wrong with a list of plain elements that was read as one token, by the rules of the grammar."""
    if is_list(without_spaces(token)):
        return None
    for piece in PIECES.finditer(token):
        if piece[0] not in "[],," and not element().fullmatch(piece[0]):
            near = did_you_mean(piece[0].lower() if bool_meant(piece[0]) else None)
            message = f"`{shown(piece[0])}` is not a number, a truth value or a string{near}"
            return LoweringError("MIL021", message, token, piece.start(), piece.end())
    return LoweringError("MIL022", "the brackets and commas of this list do not match", token)


def failure_diagnostic(text: str, failure: Exception, nodes: list[Node]) -> Diagnostic:
    """Return the diagnostic of a text that breaks off after these phrases."""
    if isinstance(failure, SyntaxFailure):
        return syntax_error(text, failure, nodes)
    start = failure.start if isinstance(failure, NestingFailure) else nodes[-1].start
    return error("MIL006", TOO_NESTED, Span(start, start + 1))


def lowering_diagnostic(phrase: Node, refused: LoweringError) -> Diagnostic:
    """Return the diagnostic of a phrase that cannot be lowered."""
    return error(refused.code, refused.message, _blamed(refused, phrase))


def _blamed(refused: LoweringError, phrase: Node) -> Span:
    """Return the place that a refusal speaks of, inside the phrase that was being lowered."""
    if isinstance(refused.at, Token):
        start = refused.at.start
        return Span(start + refused.start, refused.at.end if refused.end is None else start + refused.end)
    if isinstance(refused.at, int) and refused.at not in phrase.absent:
        index = refused.at - sum(absent < refused.at for absent in phrase.absent)
        if index < len(phrase.children):
            return phrase.children[index].span
    return phrase.span
