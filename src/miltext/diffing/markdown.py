"""A DiffReport as Markdown, for the comment of a pull request.

The names in a model are put only where GitHub reads no markup: in fenced blocks, and in `<code>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from miltext.diagnostics.wording import tally
from miltext.diffing.report import COLUMNS
from miltext.diffing.text import INDENT, flat
from miltext.syntax.literals import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.diffing.entries import ReportEntry
    from miltext.diffing.report import DiffReport

LIMIT = 65_536
"""The greatest number of characters in a comment on GitHub, whose error is "Body is too long (maximum is 65536
characters)".
"""

LEAST = 1_000
"""The least limit, in characters."""

LONG = 30
"""The number of lines above which a part is folded."""

LONGEST = 1_000
"""The number of characters kept of a fenced line in a comment that is too long."""

_LEFT_OUT = "\n_{} left out here: `miltext diff` shows all._\n"
_ROOM = len(_LEFT_OUT) + 40
"""The characters reserved for the count of omitted lines."""

_WORDS = re.compile(r"(?:[A-Za-z0-9 ,()+-]|\.\d|: )*")
"""Words without a meaning in Markdown."""

_SPAN = re.compile(r"[^\s`|]([^`|]*[^\s`|])?")
"""Text that can be between backticks, also in a table."""

_ENTITIES = {ord(sign): f"&#{ord(sign)};" for sign in "`|*_~\\[]@:$#"}
"""HTML entities of characters with a meaning in Markdown or on GitHub."""


@dataclass(frozen=True)
class _Section:
    """Lines of a section: the opening, the closing, and one for each finding. In a fence, a line can be cut
    anywhere.
    """

    opening: str
    lines: tuple[str, ...]
    closing: str = ""
    is_fence: bool = False

    def __len__(self) -> int:
        return len(self.opening) + len(self.closing) + sum(map(len, self.lines))

    def __str__(self) -> str:
        return "".join([self.opening, *self.lines, self.closing])

    def shortened(self) -> _Section:
        """Return the part with its lines cut to LONGEST, if they can be cut."""
        return replace(self, lines=tuple(map(_shortened, self.lines))) if self.is_fence else self

    def within(self, limit: int) -> _Section:
        """Return the part with the lines that fit in the limit."""
        left, kept = limit - len(self.opening) - len(self.closing), 0
        for line in self.lines:
            left -= len(line)
            if left < 0:
                break
            kept += 1
        return replace(self, lines=self.lines[:kept])


def _shortened(line: str) -> str:
    rest = len(line) - 1 - LONGEST
    return f"{line[:LONGEST]}… and {tally(rest, 'more character')}\n" if rest > 0 else line


def render_markdown(report: DiffReport, limit: int = LIMIT) -> str:
    """Return a DiffReport as Markdown of at most `limit` characters.

    Of a longer text, the longest lines are cut first, and then the last lines are left out; each cut states how much is
    missing. Raise ValueError for a limit below LEAST.
    """
    if limit < LEAST:
        raise ValueError(f"{limit} characters are too few for a comment: the least is {LEAST}")
    parts = [*_parts(report)]
    if sum(map(len, parts)) > limit:
        return "".join(_cut([part.shortened() for part in parts], limit - _ROOM))
    return "".join(map(str, parts))


def _cut(parts: Iterable[_Section], room: int) -> Iterator[str]:
    """Yield the parts that fit, and then the number of omitted lines."""
    left_out = 0
    for part in parts:
        kept = part if len(part) <= room and not left_out else part.within(room)
        if kept.lines and not left_out:
            yield str(kept)
            room -= len(kept)
            left_out = len(part.lines) - len(kept.lines)
        else:
            left_out += len(part.lines)
    if left_out:
        yield _LEFT_OUT.format(f"{left_out} lines are" if left_out != 1 else "1 line is")


def _parts(report: DiffReport) -> Iterator[_Section]:
    """Yield the heading with the counts, the parts that could not be compared, and then the findings by part."""
    heading = f"### {code(report.old)} → {code(report.new)}\n\n"
    if report.same is False:
        counts = [f"- {code(what)}: {escaped(much)}\n" for what, much in report.counts]
        yield _Section(heading, tuple(counts))
    else:
        verdict = report.verdict
        yield _Section(heading, (f"{verdict[0].upper()}{verdict[1:]}.\n",))
    if report.summary:
        yield _Section("\n", tuple(f"* {escaped(line)}\n" for entry in report.summary for line in entry.words))
    yield from _sections(report.notes)
    yield from _sections(report.found)


def _sections(findings: Iterable[ReportEntry], title: str = "") -> Iterator[_Section]:
    """Yield the parts of the findings below a title: findings with their own parts, a table, and fenced lines."""
    for has_parts, group in groupby(findings, lambda each: each.sign == "@" and bool(each.inner)):
        if not has_parts:
            yield _fence([*group], title)
            continue
        for each in group:
            head = f"{title} · {each.words[0]}" if title else each.words[0]
            if any(len(row.words) > 1 for row in each.inner):
                yield _table(each.inner, head)
            else:
                yield from _sections(each.inner, head)


def _fence(findings: Sequence[ReportEntry], title: str) -> _Section:
    """Return lines in the colours of a diff, each with its sign at its beginning."""
    lines = [f"{sign.strip('@') or ' '} {INDENT * depth}{visible(text)}\n" for depth, sign, text in flat(findings)]
    runs = [len(run) for line in lines for run in re.findall("`+", line)]
    fence = "`" * max(3, 1 + max(runs, default=0))
    return _folding(title, _Section(f"{fence}diff\n", tuple(lines), f"{fence}\n", True))


def _table(findings: Sequence[ReportEntry], title: str) -> _Section:
    """Return rows of a table; a line among them is a row with one cell."""
    head = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n"
    rows = [
        [code(words[0]), code(words[1]), escaped(words[2])] if len(words) > 1 else [*words, "", ""]
        for _, words, *_ in findings
    ]
    return _folding(title, _Section(head, tuple([f"| {' | '.join(row)} |\n" for row in rows])))


def _folding(title: str, part: _Section) -> _Section:
    """Return a part below its title, folded if it is long."""
    if len(part.lines) > LONG:
        summary = f"{html_code(title)}, " if title else ""
        opening = f"\n<details><summary>{summary}{tally(len(part.lines), 'line')}</summary>\n\n"
        return replace(part, opening=f"{opening}{part.opening}", closing=f"{part.closing}\n</details>\n")
    head = f"**{escaped(title)}**\n\n" if title else ""
    return replace(part, opening=f"\n{head}{part.opening}")


# ---- text without markup


def code(text: str) -> str:
    """Return a text as code in a line or a table."""
    shown = visible(text)
    return f"`{shown}`" if _SPAN.fullmatch(shown) else html_code(text)


def html_code(text: str) -> str:
    """Return a text as code in HTML."""
    return f"<code>{escape(visible(text), quote=False).translate(_ENTITIES)}</code>"


def escaped(text: str) -> str:
    """Return words unchanged, or as code if Markdown could change their meaning."""
    return text if _WORDS.fullmatch(text) else code(text)
