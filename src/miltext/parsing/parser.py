"""Parsing: MIL text becomes a Program, or raises a ParseError with the error and its place."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from miltext.diagnostics import ParseError, Span
from miltext.parsing.lowering import Lowering, LoweringError
from miltext.parsing.lowering.errors import TooDeep
from miltext.schema.paths import too_deep
from miltext.schema.proto import Program, Value
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.lexer import FINE, STATEMENTS
from miltext.syntax.parser import Parser, SyntaxFailure
from miltext.syntax.programs import require_program
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.schema.proto import Message
    from miltext.syntax.tree import Tree

    M = TypeVar("M", bound=Message)


MESSAGES: dict[str, type[Message]] = {"program": Program, "value": Value}
"""The messages that can be parsed from a text of their own, by the rule of the phrase."""


SHORT = 1 << 13
"""The most characters to read without coarse tokens in less time than their expressions take to compile."""


FAILURES = (SyntaxFailure, LoweringError, RecursionError, TooDeep)
"""The errors that end the parse of an invalid text."""


@with_room
def parse(text: str, *, into: M | None = None, path: str | None = None) -> Program | M:
    """Return the Program that MIL text spells.

    Args:
        text: MIL text with all types; `miltext.infer_draft` completes a draft.
        into: A message to clear and fill instead of a new one; coremltools' own `MIL_pb2.Program` will do.
        path: The name that errors show.

    Returns:
        A new Program, or `into`.

    Raises:
        ParseError: The text is not MIL text; `into` is unchanged.
        TypeError: `text` is not a string, or `into` is not a Program.

    Example:
        program = miltext.parse(open("model.mil").read())
    """
    if into is None:
        return Program.FromString(lower(text, path))
    require_program(into)
    into.ParseFromString(lower(text, path))
    return into


@with_room
def attempt(text: str, lowering: Lowering | None = None) -> Program | None:
    """Return the Program that MIL text spells, or None where `parse` would raise; the error is not determined."""
    try:
        return Program.FromString(_wire(text, lowering, "program"))
    except FAILURES:
        return None


@with_room
def lower(text: str, path: str | None = None, lowering: Lowering | None = None, rule: str = "program") -> bytes:
    """Return the wire bytes of the message that MIL text spells. Raise ParseError.

    The text is a phrase of the `rule`, from MESSAGES; `lowering` replaces the usual one.
    """
    try:
        return _wire(text, lowering, rule)
    except FAILURES as failure:
        from miltext.parsing.diagnosing import diagnose  # it imports all tables, and most texts are valid

        with gc_paused:
            found = diagnose(text, failure, lowering or Lowering(), rule)
        raise ParseError([found], text=text, path=path) from None


@with_room
def parse_value(text: str) -> Value:
    """Return the Value that a type and a literal spell.

    Args:
        text: A type and a literal, such as `int32(1)`.

    Returns:
        A message `CoreML.Specification.MILSpec.Value`.

    Raises:
        ParseError: The text is not a value.

    Example:
        value = miltext.parse_value("tensor<fp16, [2]>([0.5, 1])")
    """
    return Value.FromString(lower(text, rule="value"))


def _wire(text: str, lowering: Lowering | None, rule: str) -> bytes:
    """Return the wire bytes of a phrase's message. Raise an error of FAILURES."""
    require_text(text)
    parser = _parser_of(text) if lowering is None else Parser(lowering)
    with gc_paused:
        wire, deep = parser.run(text, stack=parser.stack(rule))
        if deep and (step := too_deep(wire, MESSAGES[rule])) is not None:
            raise TooDeep(step)
    return wire  # type: ignore[no-any-return]


def require_text(text: object) -> None:
    """Raise TypeError for an object other than text."""
    if not isinstance(text, str):
        raise TypeError(f"expected MIL text, a str, not {type(text).__name__}: `miltext.load` reads a file")


def _parser_of(text: str) -> Parser:
    """Return the parser for a text: without coarse tokens for a short text, if it is the first of the process."""
    is_first = not _parser.cache_info().currsize and not _fine_parser.cache_info().currsize
    return _fine_parser() if is_first and len(text) <= SHORT else _parser()


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Lowering())


@lru_cache(maxsize=1)
def _fine_parser() -> Parser:
    return Parser(Lowering(), FINE)


@with_room
def parse_tree(text: str, path: str | None = None, *, whole: bool = False) -> Tree:
    """Return the tree of phrases of a text, which need not be valid as a Program, and its comments. Raise ParseError.

    With `whole`, read each plain operation as one token, whose phrases are read on demand, and do not parse lists. This
    is much faster for users of few phrases.
    """
    from miltext.syntax.tree import Tree, tree_of

    require_text(text)
    comments: list[Span] = []
    failure = None
    with gc_paused:
        try:
            nodes = [tree_of(text, STATEMENTS if whole else FINE, comments=comments)]
        except SyntaxFailure as broken:
            failure, nodes = broken, broken.read
        if failure or not whole:
            from miltext.parsing.diagnosing import refused_tree

            if found := refused_tree(text, failure, nodes):
                raise ParseError([found], text=text, path=path)
    return Tree(nodes[0], comments)
