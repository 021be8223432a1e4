"""A Report as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from miltext.diffing.report import Told
from miltext.diffing.telling import VERDICTS

if TYPE_CHECKING:
    from miltext.diffing.report import Report

COLORS = {"+": "32", "-": "31", "~": "33", ">": "36", "=": "36", "#": "35", "@": "1"}
"""ANSI codes by the sign of a line."""

INDENT = " " * 4
"""What a line has before it for each thing that it is told below."""


def render_text(report: Report, color: bool) -> str:
    """Return a Report as lines."""
    told = report.notes
    if report.same is False:
        told = (Told("@", (f"--- {report.old}",)), Told("@", (f"+++ {report.new}",)), *told, *report.found)
    else:
        told = (*told, Told("", (VERDICTS[report.same],)))
    return written(told, color)


def written(told: Sequence[Told], color: bool) -> str:
    """Return told things as lines, each in the colour of its sign if asked."""
    return "".join(f"{_colored(sign, line) if color and sign else line}\n" for sign, line in lines(told))


def _colored(sign: str, line: str) -> str:
    return f"\x1b[{COLORS[sign]}m{line}\x1b[0m"


def lines(told: Sequence[Told], indent: str = "") -> Iterator[tuple[str, str]]:
    """Yield the sign and the text of each line, those of a row in columns; a heading has no sign in its text."""
    rows = [each.words for each in told if len(each.words) > 1]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for sign, (*firsts, last), inner, _ in told:
        text = "  ".join([*[f"{word:{width}}" for word, width in zip(firsts, widths, strict=False)], last])
        yield sign, f"{indent}{sign.strip('@')}{' ' * (sign not in ('@', ''))}{text}"
        yield from lines(inner, indent + INDENT)
