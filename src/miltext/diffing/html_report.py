"""A DiffReport as an HTML page: all its findings, and below them both texts in two panes, with links between them.

The page contains its style and script, `html_report.css` and `html_report.js`; only the keys for the next and the
previous change need the script.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diffing.entries import SIGNS
from miltext.diffing.html_rows import KINDS as ROWS
from miltext.diffing.html_rows import DrawnPanes
from miltext.diffing.panes import Panes
from miltext.diffing.report import COLUMNS, LISTED, DiffReport, path_of
from miltext.diffing.telling import model_title
from miltext.printing.html_page import COLOURS, TOKENS, document
from miltext.syntax.literals import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diffing.difference import Difference
    from miltext.diffing.entries import At, ReportEntry
    from miltext.diffing.lining_up import Texts

KINDS = {**ROWS, "#": "note", "@": "head", "": "detail"}
"""The class of an element by its sign."""

_BODY = """\
<header>
<h1><span>{old}</span> → <span>{new}</span></h1>
{nav}<nav id="steps" hidden><output></output>
<button title="Previous change (p)">↑</button>
<button title="Next change (n)">↓</button></nav>
</header>
<main>
<section id="report">
{report}</section>
{texts}</main>
"""

_NAV = '<nav><a href="#report">Report</a> <a href="#texts">Texts</a></nav>\n'


def render_html(difference: Difference, report: DiffReport) -> str:
    """Return the page of a Difference and its DiffReport."""
    inside = _models(difference) if report.same is False else []
    page = _Page(
        {path: (title, DrawnPanes(Panes(texts), f"m{index}")) for index, (path, title, texts) in enumerate(inside)}
    )
    here = Path(__file__)
    style = "".join(file.read_text(encoding="utf-8") for file in (COLOURS, TOKENS, here.with_suffix(".css")))
    script = here.with_suffix(".js").read_text(encoding="utf-8")
    old, new = [escape(visible(name)) for name in (report.old, report.new)]
    body = _BODY.format(
        old=old,
        new=new,
        report="".join(page.report(report)),  # first, as rows lead back to their findings
        nav=_NAV if page.drawn else "",
        texts=f'<section id="texts">\n{"".join(page.panes())}</section>\n' if page.drawn else "",
    )
    return document(f"{old} → {new}", style, script, body)


def _models(difference: Difference, path: str = "", title: str = "") -> Iterator[tuple[str, str, Texts]]:
    """Yield the path, the title and the texts of a Difference, and of its inner ones."""
    if difference._texts:
        yield path, title, difference._texts
    for model in difference.models:
        if model.difference:
            name = f"{title} · model {model_title(model)}" if title else f"model {model_title(model)}"
            yield from _models(model.difference, path_of(model, path), name)


@dataclass
class _Page:
    """A page in the making: titles and panes by the path of the model, and the number of entries so far."""

    drawn: dict[str, tuple[str, DrawnPanes]]
    entries: int = 0

    # ---- the report

    def report(self, report: DiffReport) -> Iterator[str]:
        """Yield the counts, and all findings."""
        self._find(report.found)
        if report.same is False:
            counts = [f"<li><b>{escape(visible(what))}</b>: {escape(much)}</li>" for what, much in report.counts]
            yield f'<ul class="counts">{"".join(counts)}</ul>\n'
        yield from self._list(report.notes)
        if report.same is not False:
            yield f"<p>{escape(report.verdict)}</p>\n"
        yield from self._list(report.summary)
        yield from self._list(report.found)

    def _list(self, findings: Sequence[ReportEntry]) -> Iterator[str]:
        """Yield findings as lists, and rows as tables; a long list is folded."""
        for is_row, group in groupby(findings, lambda each: len(each.words) > 1):
            listed = [*group]
            shown = len(listed) if len(listed) < 2 * LISTED else LISTED
            draw = self._table if is_row else self._entries
            yield draw(listed[:shown])
            if listed[shown:]:
                yield f"<details><summary>{len(listed) - shown} more</summary>\n{draw(listed[shown:])}</details>\n"

    def _entries(self, findings: Sequence[ReportEntry]) -> str:
        return f'<ul class="told">\n{"".join(map(self._entry, findings))}</ul>\n'

    def _table(self, findings: Sequence[ReportEntry]) -> str:
        heads = "".join(f"<th>{column}</th>" for column in COLUMNS)
        return f'<div class="table"><table><tr>{heads}</tr>\n{"".join(map(self._row, findings))}</table></div>\n'

    def _entry(self, finding: ReportEntry) -> str:
        entry, place = self._enter(finding.at)
        sign = f'<b title="{SIGNS[finding.sign]}">{escape(finding.sign)}</b> ' if finding.sign.strip("@") else ""
        inner = "".join(self._list(finding.inner)) if finding.inner else ""
        kind, text = KINDS[finding.sign], escape(visible(finding.words[0]), quote=False)
        return f'<li class="{kind}"{entry}>{sign}<span>{text}</span>{place}{inner}</li>\n'

    def _row(self, finding: ReportEntry) -> str:
        entry, place = self._enter(finding.at)
        first, *others = [escape(visible(word), quote=False) for word in finding.words]
        cells = "".join(f"<td>{word}</td>" for word in others)
        return f'<tr class="{KINDS[finding.sign]}"{entry}><td>{first}{place}</td>{cells}</tr>\n'

    def _find(self, findings: Sequence[ReportEntry]) -> None:
        """Find the rows with their own entries."""
        for each in findings:
            self._find(each.inner)
            if len(each.at) > 1 and each.at[0] in self.drawn:
                _, drawn = self.drawn[each.at[0]]
                drawn.entered.add(drawn.panes.row_at(each.at[1:]))

    def _enter(self, at: At) -> tuple[str, str]:
        """Return the id of an entry, and links to the lines of its finding, if any."""
        _, drawn = self.drawn.get(at[0], ("", None)) if at else ("", None)
        row = drawn.panes.row_at(at[1:]) if drawn else None
        if drawn is None or row is None:
            return "", f'<small> <a href="#{drawn.name}">texts</a></small>' if drawn else ""
        self.entries += 1
        entry, rows = f"t{self.entries}", [row, *drawn.constants(row)]
        places = dict.fromkeys(each for place in rows for each in drawn.panes.places(place))
        drawn.tell(entry, [row, *[place for _, place, _ in places]])
        lines = [
            f'<a href="#{drawn.id(place)}" title="line {number} of the {"new" if side else "old"} text">'
            f"{'+' if side else '-'}{number}</a>"
            for side, place, number in places
        ]
        return f' id="{entry}"', f"<small> {' '.join(lines)}</small>"

    def panes(self) -> Iterator[str]:
        """Yield the two texts of each model."""
        for title, drawn in self.drawn.values():
            if title:
                yield f"<h2>{escape(visible(title), quote=False)}</h2>\n"
            yield f'<div class="panes" id="{drawn.name}">\n'
            yield from drawn.rows()
            yield "</div>\n"
