"""Lowering of a tree of phrases, and the place in the text of a phrase that no Program can contain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miltext.diagnostics import SAFE, UNSAFE, Diagnostic, Note, ParseError, Span, codes, error
from miltext.parsing.lowering import LoweringError
from miltext.parsing.lowering.errors import TOO_NESTED, NamesInBrackets
from miltext.parsing.syntax_errors import syntax_error
from miltext.schema.operations import single_parameters
from miltext.syntax.parser import SyntaxFailure
from miltext.syntax.tree import Node, Statement, Token, transformed

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.parsing.lowering import Lowering
    from miltext.parsing.lowering.values import Children
    from miltext.syntax.parser import Parsed

WINDOW = 300
"""The number of characters before a value in which the name of its parameter is searched."""


OF_RUNTIME = (codes.OPERATION_OPSET, codes.RUNTIME_TYPE)
"""The codes of errors about syntax that only the Core ML runtime writes, into its dumps."""

_OF_DUMPS = Note("`miltext placement` shows a dump of the Core ML runtime")


class TreeLowering:
    """Lowering of the phrases of a text's tree. Raise ParseError at the first refused one."""

    def __init__(self, text: str, lowering: Lowering) -> None:
        self.text = text
        self.lowering = lowering

    def lower(self, phrase: Node, children: Children) -> Parsed:
        """Return the lowered form of a phrase, given its lowered children: `transformed` takes this."""
        if isinstance(phrase, Statement):
            return self.statement(phrase)
        return self.in_net(self.lowered, phrase, children)

    def lowered(self, phrase: Node, children: Children) -> Parsed:
        """Return the result of the rule's own callback for a phrase."""
        return getattr(self.lowering, phrase.name)(children)

    def in_net(self, make: Callable[[Node, Children], Parsed], phrase: Node, children: Children) -> Parsed:
        """Return the result of `make` for a phrase, or the substitute for a refused or too deeply nested phrase."""
        try:
            return make(phrase, children)
        except LoweringError as refused:
            return self.refused(phrase, children, refused)
        except RecursionError:
            return self.refused(phrase, children, LoweringError(codes.NESTED_TOO_DEEPLY, TOO_NESTED))

    def statement(self, statement: Statement) -> Parsed:
        """Lower a plain operation; read its phrases only if it is refused."""
        try:
            return self.lowering.plain_operation([statement.text])
        except LoweringError:
            pass
        try:
            return transformed(statement.read(), self.lower)
        except SyntaxFailure as failure:
            return self.unread(statement, failure)

    def refused(self, phrase: Node, children: Children, refused: LoweringError) -> Parsed:
        """Raise the ParseError of a phrase that the lowering refused; a subclass may return a substitute instead."""
        raise ParseError([lowering_diagnostic(phrase, refused, self.text)]) from None

    def unread(self, statement: Statement, failure: SyntaxFailure) -> Parsed:
        """Raise the ParseError of a plain operation that the full grammar refuses; a subclass may return a substitute
        instead.
        """
        raise ParseError([syntax_error(self.text, failure, failure.read)]) from None


def lowering_diagnostic(phrase: Node, refused: LoweringError, text: str = "") -> Diagnostic:
    """Return the diagnostic of a phrase of a text that cannot be lowered."""
    applicability = SAFE if refused.code == codes.OTHER_LANGUAGE else UNSAFE
    place, message, suggestion = _blamed(refused, phrase), refused.message, refused.suggestion
    if isinstance(refused, NamesInBrackets) and _takes_one(text[max(phrase.start - WINDOW, 0) : phrase.start]):
        applicability = UNSAFE
        if suggestion and suggestion.startswith("("):
            message, suggestion = (
                "a list literal contains no names of values; `concat` makes a vector of them first",
                None,
            )
    first = refused.first
    notes = [Note("first defined here", Span(first.start, first.end))] if isinstance(first, Token) else []
    notes += [_OF_DUMPS] if refused.code in OF_RUNTIME else []
    return error(refused.code, message, place, *notes, suggestion=suggestion, applicability=applicability)


def _takes_one(before: str) -> bool:
    """Return whether the text before a value ends with a parameter of operations that takes one value."""
    name = re.search(r"(\w+)[ \t\r\n]*=[ \t\r\n]*\Z", before)
    return name is not None and name[1] in single_parameters()


def _blamed(refused: LoweringError, phrase: Node) -> Span:
    """Return the place of a lowering error, inside the phrase that was being lowered."""
    if isinstance(refused.at, Token):
        start = refused.at.start
        return Span(start + refused.start, refused.at.end if refused.end is None else start + refused.end)
    if isinstance(refused.at, int) and refused.at not in phrase.absent:
        index = refused.at - sum(absent < refused.at for absent in phrase.absent)
        if index < len(phrase.children):
            return phrase.children[index].span
    return phrase.span
