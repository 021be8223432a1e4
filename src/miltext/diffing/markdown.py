"""A DiffReport as Markdown, for the comment of a pull request.

The names in a model are put only where GitHub reads no markup: in fenced blocks, and in `<code>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics.wording import tally
from miltext.diffing.report import COLUMNS, LIMIT
from miltext.diffing.summing import summed
from miltext.diffing.text import INDENT, flat
from miltext.syntax.literals import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.diffing.entries import ReportEntry
    from miltext.diffing.report import DiffReport

LINES = 199
"""The greatest number of lines of a comment, unless it is full."""

MOST = (60, 40, 25, 15, 8, 4)
"""The numbers of lines that a list may have, each tried if the comment is too long with the one before."""

WAY = "; `miltext diff --full` lists all"
"""The way to see the findings that a sum counts."""

LEAST = 1_000
"""The least limit, in characters."""

LONG = 30
"""The number of lines above which a part is folded."""

LONGEST = 1_000
"""The number of characters kept of a fenced line in an overlong comment."""

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

    @property
    def height(self) -> int:
        """The number of lines of text."""
        return str(self).count("\n")

    def within(self, room: _Room) -> _Section:
        """Return the part with the lines that fit in the room."""
        left, rows = room.less(replace(self, lines=())), 0
        for line in self.lines:
            left = _Room(left.characters - len(line), left.lines - line.count("\n"))
            if not left.is_enough:
                break
            rows += 1
        return replace(self, lines=self.lines[:rows])


class _Room(NamedTuple):
    """The characters and the lines left in a comment."""

    characters: float
    lines: float

    @property
    def is_enough(self) -> bool:
        """Whether nothing is over the limits."""
        return min(self) >= 0

    def less(self, *parts: _Section) -> _Room:
        """Return the room left after the parts."""
        return _Room(self.characters - sum(map(len, parts)), self.lines - sum(part.height for part in parts))


def _shortened(line: str) -> str:
    rest = len(line) - 1 - LONGEST
    return f"{line[:LONGEST]}… and {tally(rest, 'more character')}\n" if rest > 0 else line


def render_markdown(report: DiffReport, limit: int = LIMIT, most: float = inf) -> str:
    """Return a DiffReport as Markdown of at most `limit` characters and at most `most` lines.

    If it has too many lines, its long lists are summed up. In a text with too many characters, the longest lines are
    cut first. If a text still does not fit, the last lines are left out; each cut states how much is missing.
    Raise ValueError for a limit below LEAST.
    """
    if limit < LEAST:
        raise ValueError(f"{limit} characters are too few for a comment: the least is {LEAST}")
    room, parts = _Room(limit, most), [*_parts(report)]
    for each in MOST:
        if room.less(*parts).lines >= 0:
            break
        parts = [*_parts(_summed(report, each))]
    if room.less(*parts).characters < 0:
        parts = [part.shortened() for part in parts]
    if room.less(*parts).is_enough:
        return "".join(map(str, parts))
    return "".join(_cut(parts, _Room(limit - _ROOM, most - _LEFT_OUT.count("\n"))))


def _summed(report: DiffReport, most: int) -> DiffReport:
    """Return a report with about `most` lines in each list."""
    kept = report.counts[:most]
    if rest := len(report.counts) - len(kept):
        kept = (*kept, ("", f"and {rest} more{WAY}"))
    notes, found = (summed(each, most, WAY) for each in (report.notes, report.found))
    return report._replace(notes=notes, found=found, counts=kept)


def _cut(parts: Iterable[_Section], room: _Room) -> Iterator[str]:
    """Yield the parts that fit, and then the number of omitted lines."""
    left_out = 0
    for part in parts:
        kept = part if room.less(part).is_enough and not left_out else part.within(room)
        if kept.lines and not left_out:
            yield str(kept)
            room = room.less(kept)
            left_out = len(part.lines) - len(kept.lines)
        else:
            left_out += len(part.lines)
    if left_out:
        yield _LEFT_OUT.format(f"{left_out} lines are" if left_out != 1 else "1 line is")


def _parts(report: DiffReport) -> Iterator[_Section]:
    """Yield the heading with the counts, the parts that could not be compared, and then the findings by part."""
    heading = f"### {code(report.old)} → {code(report.new)}\n\n"
    if report.same is False:
        counts = [f"- {code(what)}: {escaped(much)}\n" if what else f"- {much}\n" for what, much in report.counts]
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
    lines = [f"{line.sign.strip('@') or ' '} {INDENT * line.depth}{visible(line.text)}\n" for line in flat(findings)]
    runs = [len(run) for line in lines for run in re.findall("`+", line)]
    fence = "`" * max(3, 1 + max(runs, default=0))
    return _folding(title, _Section(f"{fence}diff\n", tuple(lines), f"{fence}\n", True))


def _table(findings: Sequence[ReportEntry], title: str) -> _Section:
    """Return rows of a table; a line among them is a row with one cell."""
    head = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n"
    rows = [
        [code(words[0]), code(words[1]), escaped(words[2])] if len(words) > 1 else [*words, "", ""]
        for each in findings
        for _, words, *_ in (each, *each.inner)
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
