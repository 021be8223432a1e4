"""The parts of a text that only miltext accepts, and the parts absent from all known texts of Apple's compiler.

The sources are 72 texts that the compiler printed and 43 that people wrote by hand, and compiled texts in the source of
coremltools: fp8 in its `models/_fp8_compile.py` of 2026 and its tests, uint1 in the tests of compression.
docs/language.md lists each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.diagnostics import Diagnostic, Span, codes, error, warning
from miltext.diagnostics.wording import evidence
from miltext.parsing.parser import parse_tree
from miltext.schema.opsets import PROTO_BY_TEXT, TEXT_BY_PROTO
from miltext.syntax import phrases
from miltext.syntax.tree import walk

if TYPE_CHECKING:
    from miltext.syntax.tree import Node

ALIASES = PROTO_BY_TEXT.keys() - TEXT_BY_PROTO.values()
"""The names of opsets that no text of Apple's contains."""

UNPROVEN_TOKENS = {
    "DTYPE": (re.compile(r"uint[236]"), "the data type", "coremltools' names of data types"),
    "NAN": (re.compile(r".*"), "the number", ""),
    "NUMBER": (re.compile(r"\+inf|-0x0p\+0|-0(\.0*)?"), "the number", ""),
    "STRING": (re.compile(r'(?s).*\\[^"].*'), 'an escape other than `\\"` in', ""),
    "LIST": (re.compile(r"(?s).*(\+inf|\bnan\b|-0x0p\+0).*"), "`nan`, `+inf` or `-0x0p+0` in", ""),
}
"""By terminal: the tokens absent from Apple's known texts, their unproven part, and another source."""


def strict_findings(text: str) -> list[Diagnostic]:
    """Return errors for parts that only miltext accepts, and warnings for unproven parts, in the order of the text.

    Args:
        text: MIL text.

    Returns:
        The findings; none for a text in the syntax of Apple's compiler.

    Raises:
        ParseError: The text does not parse.

    Example:
        findings = miltext.strict_findings(open("model.mil").read())
    """
    trace = parse_tree(text)
    found = [_unproven("a `/* */` comment", span) for span in trace.comments if text.startswith("/*", span.start)]
    for phrase in walk(trace.root):
        found += _findings(phrase)
    return sorted(found, key=lambda finding: finding.span.start if finding.span else 0)


def _unproven(what: str, span: Span, source: str = "") -> Diagnostic:
    message = f"{what} is unproven, {evidence(source)}: it does not occur in any known text of Apple's compiler"
    return warning(codes.UNPROVEN_CONSTRUCT, message, span)


def _findings(phrase: Node) -> Iterator[Diagnostic]:
    if phrase.token is not None:
        yield from _token_findings(phrase, phrase.token)
    elif phrase.name == "argument" and len(phrase.children) < 6:
        yield _unproven("an argument in parentheses with fewer than two bindings", phrase.span)
    elif phrase.name == "function" and not phrases.opset(phrase):
        yield _unproven("a function without an opset", Span(phrase.start, phrases.made(phrase)[0].end))
    elif phrase.name in phrases.OPSETS and phrase.children[1].token in ALIASES:
        yield _unproven(f"the opset `{phrase.children[1].token}`", phrase.span, "hand-written texts")
    elif phrase.name == "inner_block" and not any(phrases.inputs(phrase)):
        yield _unproven("an inner block without inputs", phrases.parameters(phrase).span)
    elif phrase.name == "tuple_type" and len(phrase.children) == 3:
        yield _unproven("a tuple type without parts", phrase.span)


def _token_findings(phrase: Node, token: str) -> Iterator[Diagnostic]:
    shown = token if len(token) <= 40 else f"{token[:40]}..."
    if token.startswith("$"):
        yield error(
            codes.OWN_SPELLING,
            f"`{shown}` is miltext's own spelling, which Apple's compiler does not accept",
            phrase.span,
        )
    elif phrase.name == "LIST" and "$" in token:
        place = phrase.start + token.index("$")
        yield error(
            codes.OWN_SPELLING,
            "`$` marks miltext's own spelling, which Apple's compiler does not accept",
            Span(place, place + 1),
        )
    pattern, what, source = UNPROVEN_TOKENS.get(phrase.name, (None, "", ""))
    if pattern and pattern.fullmatch(token):
        yield _unproven(f"{what} `{shown}`", phrase.span, source)
