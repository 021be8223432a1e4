"""A DiffReport as an HTML page: all its findings, and below them both texts in two panes, with links between them.

Repeats, consequences and long lists are folds that open to all that they stand for. The page contains its style,
`html_report.css`, and its scripts: `html_report.js` for keys, `html_report_filter.js`, and `html_report_graphs.js`,
which draws both graphs on demand. Everything else works without scripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diffing.emphasis import emphasized
from miltext.diffing.entries import SIGNS
from miltext.diffing.html_graphs import FOLLOWS, graph_data, new_names
from miltext.diffing.html_legend import legend
from miltext.diffing.html_rows import KINDS as ROWS
from miltext.diffing.html_rows import DrawnPanes
from miltext.diffing.panes import Panes
from miltext.diffing.report import COLUMNS, LISTED, DiffReport, path_of
from miltext.diffing.telling import model_title
from miltext.printing.graph import SCRIPTS, STYLE
from miltext.printing.html_page import COLOURS, TOKENS, document
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.literals import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diffing.difference import Difference
    from miltext.diffing.entries import ReportEntry
    from miltext.diffing.lining_up import Texts

KINDS = {**ROWS, "#": "note", "@": "head", "": "detail"}
"""The class of an element by its sign."""

_BODY = """\
<header>
<h1><span>{old}</span> → <span>{new}</span></h1>
{nav}<div id="tools" hidden>
<label>Filter <input type="search" id="filter" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></label>
<output id="hits"></output>
<button id="graph" aria-expanded="false" aria-controls="graphs" aria-keyshortcuts="g" hidden>Graphs</button>
<nav id="steps" hidden><output></output>
<button title="Previous change (p)">↑</button>
<button title="Next change (n)">↓</button></nav>
</div>
</header>
<main>
{legend}<section id="report">
{report}</section>
{texts}</main>
<section id="graphs" aria-label="Graphs of both programs" data-side="1" hidden></section>
"""

_NAV = '<nav><a href="#report">Report</a> <a href="#texts">Texts</a></nav>\n'

_HERE = Path(__file__)
_STYLES = (COLOURS, TOKENS, STYLE, _HERE.with_suffix(".css"))
_SCRIPTS = (*SCRIPTS, *[_HERE.with_name(f"html_report{part}.js") for part in ("_filter", "_graphs", "")])
_EMPHASIS = {"-": ("<del>", "</del>"), "+": ("<ins>", "</ins>"), "": ("", "")}
"""The tags around the words that differ, by their sign."""


def render_html(difference: Difference, report: DiffReport) -> str:
    """Return the page of a Difference and its DiffReport."""
    with gc_paused:
        return _page(difference, report)


def _page(difference: Difference, report: DiffReport) -> str:
    inside = _models(difference) if report.same is False else []
    page = _Page({each[0]: _Drawn(index, *each[1:]) for index, each in enumerate(inside)})
    style, script = ("\n".join(file.read_text(encoding="utf-8") for file in files) for files in (_STYLES, _SCRIPTS))
    old, new = [escape(visible(name)) for name in (report.old, report.new)]
    body = _BODY.format(
        old=old,
        new=new,
        report="".join(page.report(report)),  # first, as rows lead back to their findings
        nav=_NAV if page.drawn else "",
        legend=legend(bool(page.drawn)) if report.same is False else "",
        texts=f'<section id="texts">\n{"".join(page.panes())}</section>\n' if page.drawn else "",
    )
    return document(f"{old} → {new}", style, script, body)


def _models(difference: Difference, path: str = "", title: str = "") -> Iterator[tuple[str, str, Difference, Texts]]:
    """Yield the path, the title, the Difference and the texts of a Difference, and of its inner ones."""
    if difference.texts:
        yield path, title, difference, difference.texts
    for model in difference.models:
        if model.difference:
            name = f"{title} · model {model_title(model)}" if title else f"model {model_title(model)}"
            yield from _models(model.difference, path_of(model, path), name)


class _Drawn:
    """The panes of a model, and its title."""

    def __init__(self, index: int, title: str, difference: Difference, texts: Texts) -> None:
        self.title = title
        self.panes = DrawnPanes(Panes(texts), f"m{index}")
        self._names = new_names(difference.functions)

    def lines(self) -> Iterator[str]:
        """Yield the two texts, and then the data of their graphs, by the states that entries gave to rows."""
        name = self.panes.name
        if self.title:
            yield f"<h2>{escape(visible(self.title), quote=False)}</h2>\n"
        texts = "".join(self.panes.rows())
        yield f'<div class="panes" id="{name}">\n{texts}</div>\n'
        data = graph_data(self.panes, self._names, len(texts))
        yield f'<script type="application/json" class="graph" id="{name}-graph">{data}</script>\n'


@dataclass
class _Page:
    """A page in the making: the drawings by the path of the model, and the number of entries so far.

    New entries `follow` from others below the heading of consequences.
    """

    drawn: dict[str, _Drawn]
    entries: int = 0
    follow: bool = False

    # ---- the report

    def report(self, report: DiffReport) -> Iterator[str]:
        """Yield the counts, and all findings."""
        self._find(report.found)
        if report.same is False:
            heads = [f"<b>{escape(visible(what))}</b>: " if what else "" for what, _ in report.counts]
            counts = [f"<li>{head}{escape(much)}</li>" for head, (_, much) in zip(heads, report.counts, strict=True)]
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
                rest = draw(listed[shown:])
                yield f'<details class="rest"><summary>{len(listed) - shown} more</summary>\n{rest}</details>\n'

    def _entries(self, findings: Sequence[ReportEntry]) -> str:
        return f'<ul class="told">\n{"".join(map(self._entry, findings))}</ul>\n'

    def _table(self, findings: Sequence[ReportEntry]) -> str:
        heads = "".join(f"<th>{column}</th>" for column in COLUMNS)
        return f'<div class="table"><table><tr>{heads}</tr>\n{"".join(map(self._row, findings))}</table></div>\n'

    def _entry(self, finding: ReportEntry) -> str:
        entry, place = ("", "") if finding.folded else self._enter(finding)
        sign = f'<b title="{SIGNS[finding.sign]}">{escape(finding.sign)}</b> ' if finding.sign.strip("@") else ""
        head = f"{sign}<span>{_words(finding)}</span>{place}"
        kind = f"{KINDS[finding.sign]} fold" if finding.folded else KINDS[finding.sign]
        below = self._below(finding, finding.inner)
        if finding.folded:
            all_ = self._below(finding, finding.folded)
            title = f"all {len(finding.folded)}" if below else head
            below = f"{below}<details><summary>{title}</summary>{all_}</details>"
            head = "" if title == head else head
        elif finding.closed:
            head, below = "", f"<details><summary>{head}</summary>{below}</details>"
        return f'<li class="{kind}"{entry}>{head}{below}</li>\n'

    def _below(self, finding: ReportEntry, findings: Sequence[ReportEntry]) -> str:
        """Return the findings below an entry, or its folded findings."""
        before, self.follow = self.follow, self.follow or finding.what == "cause"
        below = "".join(self._list(findings))
        self.follow = before
        return below

    def _row(self, finding: ReportEntry) -> str:
        entry, place = self._enter(finding)
        first, *others = [escape(visible(word), quote=False) for word in finding.words]
        cells = "".join(f"<td>{word}</td>" for word in others)
        return f'<tr class="{KINDS[finding.sign]}"{entry}><td>{first}{place}</td>{cells}</tr>\n'

    def _find(self, findings: Sequence[ReportEntry]) -> None:
        """Find the rows with their own entries."""
        for each in findings:
            self._find((*each.inner, *each.folded))
            if len(each.at) > 1 and each.at[0] in self.drawn:
                panes = self.drawn[each.at[0]].panes
                panes.entered.add(panes.panes.row_at(each.at[1:]))

    def _enter(self, finding: ReportEntry) -> tuple[str, str]:
        """Return the id of an entry, and links to the lines of its finding, if any."""
        found = self.drawn.get(finding.at[0]) if finding.at else None
        if found is None:
            return "", ""
        drawn, row = found.panes, found.panes.panes.row_at(finding.at[1:])
        if row is None:
            return "", f'<small> <a href="#{drawn.name}">texts</a></small>'
        self.entries += 1
        entry, rows = f"t{self.entries}", [row, *drawn.constants(row)]
        places = dict.fromkeys(each for place in rows for each in drawn.panes.places(place))
        state = FOLLOWS if self.follow else KINDS[finding.sign]
        drawn.tell(entry, [row, *[place for _, place, _ in places]], state)
        lines = [
            f'<a href="#{drawn.id(place)}" title="line {number} of the {"new" if side else "old"} text">'
            f"{'+' if side else '-'}{number}</a>"
            for side, place, number in places
        ]
        return f' id="{entry}"', f"<small> {' '.join(lines)}</small>"

    def panes(self) -> Iterator[str]:
        """Yield the two texts of each model."""
        for drawn in self.drawn.values():
            yield from drawn.lines()


def _words(finding: ReportEntry) -> str:
    """Return the words of an entry, with those emphasized that differ."""
    pieces = []
    for mark, piece in emphasized(finding.words[0], finding.replaced):
        before, after = _EMPHASIS[mark]
        pieces.append(f"{before}{escape(visible(piece), quote=False)}{after}")
    return "".join(pieces)
