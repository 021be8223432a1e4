"""The diagnostic of a text that cannot be parsed, placed by its tree of phrases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from miltext.diagnostics import Diagnostic, ParseError, codes, error
from miltext.parsing.lowering.errors import TOO_NESTED, TooDeep
from miltext.parsing.lowering.values import list_error
from miltext.parsing.slips import misread_operations
from miltext.parsing.spans import find
from miltext.parsing.syntax_errors import syntax_error
from miltext.parsing.tree_lowering import TreeLowering, lowering_diagnostic
from miltext.schema.paths import TOO_DEEP
from miltext.syntax.lexer import STATEMENTS
from miltext.syntax.parser import SyntaxFailure
from miltext.syntax.tree import Node, chain, tokens, transformed, tree_of

if TYPE_CHECKING:
    from miltext.parsing.lowering import Lowering

OF_DRAFTS = (codes.MISSING_TYPE, codes.SHORT_SPELLING, codes.IMPORT_IN_TEXT)
"""The codes of errors about draft spellings in a Program's text."""


def diagnose(text: str, failure: Exception, lowering: Lowering, rule: str = "program") -> Diagnostic:
    """Return the diagnostic of a text for which the fast parse raised `failure`, placed by the text's tree.

    The text is a phrase of the rule. The error is at the first phrase that cannot be lowered. After a syntax error, a
    draft spelling does not count, and the error is otherwise at the end of the read text.
    """
    if isinstance(failure, TooDeep):
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
    """Return the error of the misread operation that contains a refused phrase, otherwise the phrase's own error."""
    place = refused.span
    if place is None or refused.code not in OF_DRAFTS:
        return refused
    found = (each for node in nodes for each in misread_operations(text, chain(node, place.start)))
    around = (said for phrase, said in found if phrase.start <= place.start and place.end <= phrase.end)
    return next(around, refused)


def refused_tree(text: str, failure: SyntaxFailure | None, nodes: list[Node]) -> Diagnostic | None:
    """Return the first error of a text that was read as a tree, possibly up to a failure; None for a valid text.

    A list was read as one token, so the grammar's rules may still refuse it.
    """
    for token in (token for node in nodes for token in tokens(node)):
        if token.name == "LIST" and token.token and (refused := list_error(token.token)):
            return lowering_diagnostic(token, refused)
    return syntax_error(text, failure, nodes) if failure else None
