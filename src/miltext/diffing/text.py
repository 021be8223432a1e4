"""A DiffReport as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import visible
from miltext.diffing.entries import ReportEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """Return findings as lines, each in the colour of its sign if `color`; a heading has no sign in its line."""
    lines = [
        (sign, f"{INDENT * depth}{sign.strip('@')}{' ' * (sign not in ('@', ''))}{_safe(text)}")
        for depth, sign, text in flat(findings)
    ]
    return "".join(f"\x1b[{COLORS[sign]}m{line}\x1b[0m\n" if color and sign else f"{line}\n" for sign, line in lines)


def flat(findings: Sequence[ReportEntry], depth: int = 0) -> Iterator[tuple[int, str, str]]:
    """Yield the depth, the sign and the text of each finding and of the findings below it, rows in columns."""
    rows = [each.words for each in findings if len(each.words) > 1]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for sign, (*firsts, last), inner, _, _ in findings:
        yield depth, sign, "  ".join([*[f"{word:{width}}" for word, width in zip(firsts, widths, strict=False)], last])
        yield from flat(inner, depth + 1)
