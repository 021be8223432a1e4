"""The verifier: all that is wrong with a Program, and where that stands in a text of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from miltext.checking.blocks import specialization_findings
from miltext.checking.inference.reading import read_program
from miltext.checking.operations import operation_findings
from miltext.checking.scopes import name_findings
from miltext.checking.values import value_findings
from miltext.diagnostics import Diagnostic, Note, Span
from miltext.parsing.spans import places, words
from miltext.syntax.lexer import FINE, lexer

if TYPE_CHECKING:
    from miltext.checking.findings import Finding
    from miltext.schema.paths import Path
    from miltext.schema.proto import Program
    from miltext.syntax.tree import Node

INSIDE = ("blocks", "block_specializations", "operations")
"""The fields whose messages are judged by themselves, whatever is said of the one around them."""


def dialect_of(text: str) -> str:
    """Return the dialect that a text says it is in; 1.3 where that is not plain."""
    words = (word for terminal, word, _ in lexer(FINE).tokens(text, 0) if terminal != "COMMENT")
    return "1.0" if [*islice(words, 4)] == ["program", "(", "1.0", ")"] else "1.3"


def verify(program: Program, dialect: str = "1.3") -> list[Finding]:
    """Return all that is wrong with a Program; suggest types in the dialect."""
    read = read_program(program)
    return [
        *name_findings(read, dialect),
        *specialization_findings(read),
        *value_findings(read),
        *operation_findings(read, dialect),
    ]


def apart_from(findings: Iterable[Finding], known: Collection[Path]) -> list[Finding]:
    """Return the findings but those about a message at one of the paths, which is known to be wrong."""
    return [finding for finding in findings if not any(place in known for place in _around(finding.path))]


def _around(path: Path) -> Iterator[Path]:
    """Yield a path, and those of what it is a part of, but for what is only inside of it."""
    for end in range(len(path), 0, -1):
        yield path[:end]
        if path[end - 1] in INSIDE and not isinstance(path[end - 1], int):
            return


def located(findings: Collection[Finding], root: Node) -> list[Diagnostic]:
    """Return the diagnostics of findings, in the order of the text whose tree of phrases is given."""
    found_at = [path for finding in findings for path in (finding.path, *[remark.path for remark in finding.remarks])]
    spans = _spans(root, found_at)
    found = [
        Diagnostic(
            finding.severity,
            finding.code,
            finding.message,
            _span(spans, finding.path),
            tuple(Note(remark.message, _span(spans, remark.path)) for remark in finding.remarks),
            finding.suggestion,
        )
        for finding in findings
    ]
    return in_order(found)


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics in the order of their text, and none of them twice."""
    return sorted(dict.fromkeys(diagnostics), key=lambda found: found.span.start if found.span else -1)


def _spans(root: Node, paths: Iterable[Path]) -> dict[Path, Span]:
    """Return the places of the paths, and of what is around them, where there are any: of two the first."""
    wanted = {path[:end] for path in paths for end in range(len(path) + 1)}
    spans: dict[Path, Span] = {}
    for path, phrase in places(root, lambda path, _: path in wanted):
        spans.setdefault(path, phrase.span)
        for place, word in words(phrase, path):
            spans.setdefault(place, word.span)
    return spans


def _span(spans: dict[Path, Span], path: Path) -> Span:
    """Return the place of a path, or of the innermost message around it that has one."""
    while path not in spans:
        path = path[:-1]
    return spans[path]
