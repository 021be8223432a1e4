"""Findings in a Program: messages at paths, which get places in a text later; words for messages."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import UNSAFE, Diagnostic, Note, Span, line_and_column
from miltext.parsing.parser import parse_tree
from miltext.parsing.spans import phrases_by_path, words
from miltext.schema.paths import PARTS, Key
from miltext.syntax.literals import shown
from miltext.syntax.names import name_text, opset_text

if TYPE_CHECKING:
    from miltext.schema.paths import Path
    from miltext.syntax.tree import Node

LONG = 200
"""The most characters of a name quoted in a message; a longer name is cut."""


class Remark(NamedTuple):
    """A note under a finding, and the path of its subject."""

    message: str
    path: Path


class Finding(NamedTuple):
    """An error or warning at `path`, which leads to a message or to a name in it.

    The elements of a path are defined in `miltext.parsing.spans`. `subject` are words for the described fact, equal for
    one contradiction before and after an edit. `notes` have no place. The other fields are the fields of the Diagnostic
    made of it.
    """

    path: Path
    code: str
    message: str
    remarks: tuple[Remark, ...] = ()
    suggestion: str | None = None
    severity: str = "error"
    applicability: str = UNSAFE
    subject: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


# ---- the subjects of findings


def described_fact(finding: Finding) -> Hashable:
    """Return the key of a contradiction, whose message states types and sizes that an edit may change."""
    return finding.severity, finding.subject or finding.message


def operations_around(path: Path) -> Iterator[Path]:
    """Yield the paths of the operations that a path leads into or to, outermost first."""
    for end, step in enumerate(path, 1):
        if step == "operations" and not isinstance(step, Key):
            yield path[: end + 1]


# ---- places in a text


def apart_from(findings: Iterable[Finding], known: Collection[Path]) -> list[Finding]:
    """Return the findings except those about messages at the given paths, which are known to be wrong."""
    return [finding for finding in findings if not any(place in known for place in _around(finding.path))]


def _around(path: Path) -> Iterator[Path]:
    """Yield a path and the paths of the enclosing messages that it is a part of."""
    for end in range(len(path), 0, -1):
        yield path[:end]
        if path[end - 1] in PARTS and not isinstance(path[end - 1], int):
            return


def located(findings: Collection[Finding], where: str | Node | None) -> list[Diagnostic]:
    """Return the diagnostics of findings in the order of the text; `where` is the text or its tree of phrases.

    A text is parsed only if there are findings. If `where` is None, the diagnostics have no places.
    """
    if where is None:
        return in_order(_diagnostic(finding) for finding in findings)
    if not findings:
        return []
    root = parse_tree(where, whole=True).root if isinstance(where, str) else where
    remarks = [remark.path for finding in findings for remark in finding.remarks]
    spans = _spans(root, [*(finding.path for finding in findings), *remarks])
    return in_order(_diagnostic(finding, spans) for finding in findings)


def _diagnostic(finding: Finding, spans: dict[Path, Span] | None = None) -> Diagnostic:
    """Return the diagnostic of a finding; a finding without a place suggests nothing."""
    placeless = map(Note, finding.notes)
    if spans is None:
        notes = (*(Note(remark.message) for remark in finding.remarks), *placeless)
        return Diagnostic(finding.severity, finding.code, finding.message, None, notes)
    notes = (*(Note(remark.message, _span(spans, remark.path)) for remark in finding.remarks), *placeless)
    span = _span(spans, finding.path)
    severity, suggestion = finding.severity, finding.suggestion
    return Diagnostic(severity, finding.code, finding.message, span, notes, suggestion, finding.applicability)


def elsewhere(found: Diagnostic, text: str | None, place: str) -> Diagnostic:
    """Return a finding in a file as a finding of something else: without a span; its message begins with the place."""
    if found.span is not None and text is not None:
        place += ":{}:{}".format(*line_and_column(text, found.span.start))
    message = found.message if place in found.message else f"{place}: {found.message}"
    return found._replace(
        message=message, span=None, notes=tuple(Note(each.message) for each in found.notes), suggestion=None
    )


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics in the order of their text, without duplicates."""
    return sorted(dict.fromkeys(diagnostics), key=lambda found: found.span.start if found.span else -1)


def _spans(root: Node, paths: Iterable[Path]) -> dict[Path, Span]:
    """Return the places of the paths and of the enclosing phrases, if any; for two places of a path, the first."""
    wanted = {path[:end] for path in paths for end in range(len(path) + 1)}
    spans: dict[Path, Span] = {}
    for path, phrase in phrases_by_path(root, lambda path, _: path in wanted):
        spans.setdefault(path, phrase.span)
        for place, word in words(phrase, path):
            spans.setdefault(place, word.span)
    return spans


def _span(spans: dict[Path, Span], path: Path) -> Span:
    """Return the place of a path, or of the innermost enclosing message with a place."""
    while path not in spans:
        path = path[:-1]
    return spans[path]


# ---- words for messages


def named(name: str) -> str:
    """Quote a name in a message: in backquotes, in the spelling of the text."""
    return f"`{shown(name_text(name), LONG)}`"


def opset_named(opset: str) -> str:
    """Quote an opset in a message, in the spelling of the text."""
    return shown(opset_text(opset), LONG)


def one_of(kinds: Iterable[str]) -> str:
    """Join kinds of values for a sentence: `a list or a tensor`."""
    return " or ".join(f"a {kind}" for kind in sorted(kinds))


def counted(number: int, noun: str) -> str:
    """Write a count: `no value`, `1 value`, `2 values`."""
    return f"{number or 'no'} {noun}{'s' if number > 1 else ''}"


def but(number: int) -> str:
    """Begin a clause about another number: `but none is`, `but 1 is`, `but 2 are`."""
    return f"but {number or 'none'} {'are' if number > 1 else 'is'}"
