"""Two parsers, one language: Lark's own and miltext's loop, each with and without the coarse tokens."""

from __future__ import annotations

from conftest import wire
from google.protobuf.message import DecodeError
from lark import Lark, UnexpectedInput

from miltext import ParseError, parse, to_text
from miltext.diagnostics import visible
from miltext.parsing.lowering import Lowering, LoweringError
from miltext.parsing.parser import parse_tree
from miltext.schema.proto import Program
from miltext.syntax.lexer import FINE
from miltext.syntax.parser import Parser, SyntaxFailure
from miltext.syntax.tables import fast_lark_parser, lark_parser

LARK = fast_lark_parser(transformer=Lowering())
FINE_LARK = lark_parser(transformer=Lowering())
FAST = Parser(Lowering())
SLOW = Parser(Lowering(), FINE)


def by_lark(text: str, parser: Lark = LARK) -> bytes | None:
    """The wire bytes that Lark's parser makes of a text; None if it refuses it."""
    try:
        return parser.parse(text, start="program")  # type: ignore[return-value]
    except (UnexpectedInput, LoweringError):
        return None


def by_loop(driver: Parser, text: str) -> bytes | None:
    """The wire bytes that a loop of miltext's makes of a text; None if it refuses it."""
    try:
        return driver.run(text)[0]  # type: ignore[no-any-return]
    except (SyntaxFailure, LoweringError):
        return None


def check_reading(text: str) -> bool:
    """All four ways agree; and `parse` too, with one diagnostic whose span is in the text if they refuse."""
    made = by_lark(text)
    assert by_lark(text, FINE_LARK) == made
    assert by_loop(FAST, text) == made
    assert by_loop(SLOW, text) == made
    program = None if made is None else decoded(made)
    if program is None:
        (finding,) = refusal(text).diagnostics
        assert (finding.code == "MIL006") or made is None
        return False
    assert wire(parse(text)) == wire(program)
    assert parse_tree(text).root.end <= len(text)
    return True


def decoded(made: bytes) -> Program | None:
    """The Program of wire bytes; None if protobuf's readers refuse them, as they do what nests too deeply."""
    try:
        return Program.FromString(made)
    except DecodeError:
        return None


def refusal(text: str, path: str | None = None) -> ParseError:
    """The error of a text; it has one short diagnostic, whose place is in the text."""
    try:
        parse(text, path=path)
    except ParseError as refused:
        error = refused
    else:
        raise AssertionError("the text is read")
    (finding,) = error.diagnostics
    assert finding.severity == "error"
    assert finding.span is not None
    assert 0 <= finding.span.start <= finding.span.end <= len(text)
    assert visible(finding.message) in str(error)
    assert len(finding.message) < 250
    assert all(len(shown) < 120 for shown in str(error).splitlines()[1:])
    return error


def check_said_again(text: str) -> None:
    """What a text that is read spells is spelled so by `to_text`, too."""
    program = parse(text)
    assert wire(parse(to_text(program))) == wire(program)
