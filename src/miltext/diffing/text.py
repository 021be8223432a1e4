"""A DiffReport as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import visible
from miltext.diffing.emphasis import emphasized
from miltext.diffing.entries import ReportEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diffing.entries import Replaced
    from miltext.diffing.report import DiffReport

COLORS = {"+": "32", "-": "31", "~": "33", ">": "36", "=": "36", "#": "35", "@": "1"}
"""ANSI codes by the sign of a line."""

INDENT = " " * 4
"""The indent of a line for each heading above it."""


def render_text(report: DiffReport, color: bool) -> str:
    """Return a DiffReport as lines."""
    findings = report.notes
    if report.same is False:
        findings = (
            ReportEntry("@", (f"--- {report.old}",)),
            ReportEntry("@", (f"+++ {report.new}",)),
            *findings,
            *report.summary,
            *report.found,
        )
    else:
        findings = (*findings, ReportEntry("", (report.verdict,)))
    return written(findings, color)


def _safe(text: str) -> str:
    """Return a line that stays a single line on a terminal, with any file names."""
    return text if text.isprintable() else visible(text)


def written(findings: Sequence[ReportEntry], color: bool) -> str:
    """Return findings as lines, each in the colour of its sign if `color`, with the words that differ emphasized; a
    heading has no sign in its line.
    """
    lines = []
    for line in flat(findings):
        head = f"{INDENT * line.depth}{line.sign.strip('@')}{' ' * (line.sign not in ('@', ''))}"
        lines.append(_painted(head, line) if color else f"{head}{_safe(line.text)}\n")
    return "".join(lines)


def _painted(head: str, line: FlatLine) -> str:
    """Return a line in colours that end with it, for pagers that show lines by themselves."""
    start, end = (f"\x1b[{COLORS[line.sign]}m", "\x1b[0m") if line.sign else ("", "")
    pieces = [
        f"\x1b[0;1;{COLORS[mark]}m{_safe(piece)}\x1b[0m{start}" if mark else _safe(piece)
        for mark, piece in emphasized(line.text, line.replaced)
    ]
    return f"{start}{head}{''.join(pieces)}{end}\n"


class FlatLine(NamedTuple):
    """A line of a report: its depth, its sign, its text, and the part of it that names the replaced value."""

    depth: int
    sign: str
    text: str
    replaced: Replaced | None = None


def flat(findings: Sequence[ReportEntry], depth: int = 0) -> Iterator[FlatLine]:
    """Yield a line for each finding and for the findings below it, unless it is closed; rows in columns."""
    rows = [each.words for each in findings if len(each.words) > 1]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for each in findings:
        *firsts, last = each.words
        columns = [*[f"{word:{width}}" for word, width in zip(firsts, widths, strict=False)], last]
        yield FlatLine(depth, each.sign, "  ".join(columns), each.replaced)
        yield from flat(() if each.closed else each.inner, depth + 1)
