"""A Report as one HTML page: all that is told, and below it both texts in two panes, with links between the two.

The page needs nothing else: style and script, `html_report.css` and `html_report.js`, are in it; only the keys for the
next and the previous change need the script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diffing.html_rows import folded_row, row_id, shown_row
from miltext.diffing.lining_up import EQUAL
from miltext.diffing.panes import RENAMED, Panes
from miltext.diffing.report import COLUMNS, LISTED, SIGNS, Report
from miltext.diffing.telling import counted, model_title
from miltext.printing.html_page import COLOURS
from miltext.syntax.literals import visible

if TYPE_CHECKING:
    from miltext.diffing.difference import Difference
    from miltext.diffing.panes import Row
    from miltext.diffing.report import At, Told

CONTEXT = 3
"""How many unchanged lines are shown around a change."""

FOLDED = 4
"""The fewest unchanged lines that are folded."""

KINDS = {"+": "plus", "-": "minus", "~": "change", ">": "move", "=": "name", "#": "note", "@": "head", "": "detail"}
"""The class of an element by its sign."""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1><span>{old}</span> → <span>{new}</span></h1>
<nav><a href="#report">Report</a> <a href="#texts">Texts</a></nav>
<nav id="steps" hidden><output></output>
<button title="Previous change (p)">↑</button>
<button title="Next change (n)">↓</button></nav>
</header>
<main>
<section id="report">
{report}</section>
<section id="texts">
{panes}</section>
</main>
<script>
{script}</script>
</body>
</html>
"""


def render_html(difference: Difference, report: Report) -> str:
    """Return the page of a Difference and its Report."""
    drawn = {path: Panes(each._texts) for path, each in _models(difference) if each._texts and report.same is False}
    page = _Page(drawn)
    here = Path(__file__)
    old, new = [escape(visible(name)) for name in (report.old, report.new)]
    return _PAGE.format(
        title=f"{old} → {new}",
        old=old,
        new=new,
        style="".join(file.read_text(encoding="utf-8") for file in (COLOURS, here.with_suffix(".css"))),
        report="".join(page.report(report)),  # first, as rows lead back to what is told of them
        panes="".join(page.panes(difference)),
        script=here.with_suffix(".js").read_text(encoding="utf-8"),
    )


def _models(difference: Difference, path: str = "") -> Iterator[tuple[str, Difference]]:
    """Yield a Difference, and those of the models in it, by their paths."""
    yield path, difference
    for model in difference.models:
        if model.difference:
            yield from _models(model.difference, model.place)


@dataclass
class _Page:
    """A page that is made: the panes by the model's path, and the entries that tell of their rows."""

    drawn: dict[str, Panes]
    entries: int = 0
    told: dict[tuple[str, int], int] = field(default_factory=dict)

    # ---- the report

    def report(self, report: Report) -> Iterator[str]:
        """Yield the counts, and all that is told."""
        if report.same is False:
            counts = [f"<li><b>{escape(visible(what))}</b>: {escape(much)}</li>" for what, much in report.counts]
            yield f'<ul class="counts">{"".join(counts)}</ul>\n'
        yield from self._list(report.notes)
        if report.same is not False:
            yield f"<p>{escape(report.verdict)}</p>\n"
        yield from self._list(report.found)

    def _list(self, told: Sequence[Told]) -> Iterator[str]:
        """Yield told things as lists, and rows as tables; what is too long to be looked through is folded."""
        for is_row, group in groupby(told, lambda each: len(each.words) > 1):
            listed = [*group]
            shown = len(listed) if len(listed) < 2 * LISTED else LISTED
            draw = self._table if is_row else self._entries
            yield draw(listed[:shown])
            if listed[shown:]:
                yield f"<details><summary>{len(listed) - shown} more</summary>\n{draw(listed[shown:])}</details>\n"

    def _entries(self, told: Sequence[Told]) -> str:
        return f'<ul class="told">\n{"".join(map(self._entry, told))}</ul>\n'

    def _table(self, told: Sequence[Told]) -> str:
        heads = "".join(f"<th>{column}</th>" for column in COLUMNS)
        return f'<div class="table"><table><tr>{heads}</tr>\n{"".join(map(self._row, told))}</table></div>\n'

    def _entry(self, told: Told) -> str:
        entry, place = self._enter(told.at)
        sign = f'<b title="{SIGNS[told.sign]}">{escape(told.sign)}</b> ' if told.sign.strip("@") else ""
        inner = "".join(self._list(told.inner)) if told.inner else ""
        kind, text = KINDS[told.sign], escape(visible(told.words[0]), quote=False)
        return f'<li class="{kind}"{entry}>{sign}<span>{text}</span>{place}{inner}</li>\n'

    def _row(self, told: Told) -> str:
        entry, place = self._enter(told.at)
        first, *others = [escape(visible(word), quote=False) for word in told.words]
        cells = "".join(f"<td>{word}</td>" for word in others)
        return f'<tr class="{KINDS[told.sign]}"{entry}><td>{first}{place}</td>{cells}</tr>\n'

    def _enter(self, at: At) -> tuple[str, str]:
        """Return the id of an entry, and links to the lines that it tells of; nothing of what has no line."""
        panes = self.drawn.get(at[0]) if at else None
        row = panes.row_at(at[1:]) if panes else None
        if panes is None or row is None:
            return "", ""
        self.entries += 1
        for place in (row, *[place for _, place, _ in panes.places(row)]):
            self.told.setdefault((at[0], place), self.entries)
        lines = [
            f'<a href="#{row_id(at[0], place)}" title="line {number} of the {"new" if side else "old"} text">'
            f"{'+' if side else '-'}{number}</a>"
            for side, place, number in panes.places(row)
        ]
        return f' id="t{self.entries}"', f"<small> {' '.join(lines)}</small>"

    # ---- the panes

    def panes(self, difference: Difference) -> Iterator[str]:
        """Yield the two texts of each model."""
        titles = dict(_titles(difference))
        for path, panes in self.drawn.items():
            if path:
                yield f"<h2>model {escape(titles[path])}</h2>\n"
            yield '<div class="panes">\n'
            yield from self._panes(path, panes)
            yield "</div>\n"

    def _panes(self, path: str, panes: Panes) -> Iterator[str]:
        """Yield the rows, with what is neither told of nor near to such folded."""
        shown = self._shown(path, panes.rows)
        for is_shown, group in groupby(range(len(panes.rows)), shown.__contains__):
            places = [*group]
            if is_shown or len(places) < FOLDED:
                yield from (shown_row(panes, path, place, self.told.get((path, place))) for place in places)
                continue
            yield f"<details><summary>{_fold_title([panes.rows[place] for place in places])}</summary>\n"
            yield from (folded_row(panes.rows[place], row_id(path, place)) for place in places)
            yield "</details>\n"

    def _shown(self, path: str, rows: Sequence[Row]) -> set[int]:
        """Return the rows that are shown: what differs or is told of, and the lines around it."""
        told = [
            place for place, row in enumerate(rows) if row.mark not in (EQUAL, RENAMED) or (path, place) in self.told
        ]
        return {near for place in told for near in range(place - CONTEXT, place + CONTEXT + 1)}


def _titles(difference: Difference) -> Iterator[tuple[str, str]]:
    """Yield the title of each model inside, by its path."""
    for model in difference.models:
        yield model.place, model_title(model)
        if model.difference:
            yield from _titles(model.difference)


def _fold_title(rows: Sequence[Row]) -> str:
    """Return how many lines are folded, and in how many something stands that is not a difference."""
    others = sum(row.mark == RENAMED for row in rows)
    return f"{counted(len(rows), 'equal line')}{f', {others} with other names or places' if others else ''}"
