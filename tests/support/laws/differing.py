"""What must hold of the forms of any difference: they say the same, and what they say leads to the texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from support.told_forms import Page, counts_of_markdown, of_markdown, of_text, without_ways

import miltext
from miltext.diffing.entries import ReportEntry
from miltext.diffing.panes import Panes
from miltext.diffing.report import Shown, path_of, report
from miltext.diffing.scope_stats import COUNTED
from miltext.diffing.telling import count_line, counts
from miltext.schema.proto import Program

SUM = "; `miltext diff --full` lists all"
"""The way that Markdown names beside a sum of a long list."""


def page_says_all(difference: miltext.Difference) -> None:
    """The page has the lines of the text and of the counts, in their order, and no link that leads nowhere. With all
    folds open, and without the lines that stand for others, it has those of the full text.
    """
    told = Page(difference.to_html())
    lines = [*enumerate(told.lines)]
    folded = [line for place, line in lines if line[1] and place not in told.closed]
    assert folded == without_ways(of_text(difference.to_text()))
    opened = [line for place, line in lines if line[1] and place not in told.standing]
    assert Counter(opened) == Counter(of_text(difference.to_text(full=True)))
    if difference.same is False:
        assert told.counts == _counts(difference)
    assert {link[1:] for link in told.links} <= {*told.ids}
    assert len(told.ids) == len({*told.ids})


def markdown_says_all(difference: miltext.Difference, full: bool) -> None:
    """Each line of the text has a place in the Markdown, and so have the counts; or the long lists are summed up, in
    fewer than 200 lines.
    """
    text, markdown = difference.to_text(full=full), difference.to_markdown(full=full, limit=1 << 30)
    if not full:
        assert markdown.count("\n") < 200
        if SUM in markdown:
            return
    found = (Counter(without_ways(lines)) for lines in (of_text(text), of_markdown(markdown)))
    assert next(found) - next(found) == Counter()
    if difference.same is False:
        assert counts_of_markdown(markdown) == _counts(difference)


def _counts(difference: miltext.Difference) -> list[str]:
    return [count_line(*each) for each in counts(difference)]


def stat_says_all(difference: miltext.Difference) -> None:
    """The numbers by scope are those of the entries, and of the summary; the table has them all."""
    for _, inner in _models(difference):
        if inner._texts is None:
            continue
        rows, total, summary = inner.stat.scopes, inner.stat.total, inner.summary
        sums = Counter({name: sum(getattr(row, name) for row in rows) for name in COUNTED})
        assert sums == Counter({name: getattr(total, name) for name in COUNTED})
        assert len({(row.function, row.scope) for row in rows}) == len(rows)
        if inner.same is False:
            assert (total.old_bytes, total.new_bytes) == (summary.sizes.old_bytes, summary.sizes.new_bytes)
        for number in ("parameters", "bytes"):
            changes = [getattr(row, f"new_{number}") - getattr(row, f"old_{number}") for row in (*rows, total)]
            assert sum(changes[:-1]) == changes[-1]
        assert [total.added, total.removed, total.changed, total.moved] == _operations(inner)
        outside = sum(each.follows is not None for each in inner.changes)
        assert total.consequences + outside == _consequences(inner)
    table = [line for line in difference.to_stat().splitlines() if " |" in line and line.startswith(" ")]
    assert bool(table) == any(inner.stat.scopes for _, inner in _models(difference))


def _operations(difference: miltext.Difference) -> list[int]:
    """Count the added, removed, changed and moved operations that do not follow from others."""
    found = Counter[str]()
    for function in difference.functions:
        found[function.status] += function.operations
        for block in (inner for outer in function.blocks for inner in outer.walk()):
            found["added"] += sum(each.follows is None for each in block.added)
            found["removed"] += sum(each.follows is None for each in block.removed)
            found["moved"] += sum(len(each.names) for each in block.moved if each.follows is None)
            found["changed"] += sum(any(one.follows is None for one in each.changes) for each in block.changed)
    return [found[name] for name in ("added", "removed", "changed", "moved")]


def _consequences(difference: miltext.Difference) -> int:
    """Return the number of consequences in the report."""
    own = report(replace(difference, models=()), Shown()).found
    heads = (re.match(r"(\d+) consequences?\b", each.words[0]) for each in own)
    return sum(int(head[1]) for head in heads if head)


def what_is_told_leads_to_its_lines(difference: miltext.Difference) -> None:
    """What is told of a program has a line in each text that has it, or in only one where it is added or removed."""
    for path, inner in _models(difference):
        if inner._texts is None or difference.same is not False:
            continue
        panes = Panes(inner._texts)
        for told in _all(report(difference, Shown(full=True)).found):
            if len(told.at) > 1 and told.at[0] == path:
                row = panes.row_at(told.at[1:])
                assert row is not None, told
                places = [*panes.places(row)]
                assert len(places) == (1 if panes.rows[row].mark in "+-" else 2), told
                if told.sign in "+-" and told.at[1] == "operation" and panes.rows[row].mark == told.sign:
                    line = panes.rows[row].sides[places[0][0]]
                    assert line
                    assert told.words[0].partition("(")[0] in line.text


def what_differs_is_told(difference: miltext.Difference) -> None:
    """Each operation that the panes show as changed leads back to what is told of it, or of one that takes it."""
    told = Page(difference.to_html())
    for index, (_, inner) in enumerate(each for each in _models(difference) if each[1]._texts):
        for place, row in enumerate(Panes(inner._texts).rows if inner._texts else ()):
            if row.mark in "~+->" and any(row.nodes):
                assert f"m{index}-{place}" in told.leading, row


def panes_are_the_texts(difference: miltext.Difference, old: Program, new: Program) -> Panes:
    """The lines of each pane are those of the printed program, with their numbers."""
    assert difference._texts
    panes = Panes(difference._texts)
    for side, program in enumerate((old, new)):
        shown = [line for row in panes.rows if (line := row.sides[side])]
        printed = miltext.to_text(program, elide=16, floats="decimal").splitlines()
        assert [line.text.partition(" // sha256:")[0] for line in shown] == printed
        assert [line.number for line in shown] == [*range(1, len(printed) + 1)]
    return panes


def _models(difference: miltext.Difference, path: str = "") -> Iterator[tuple[str, miltext.Difference]]:
    yield path, difference
    for model in difference.models:
        if model.difference:
            yield from _models(model.difference, path_of(model, path))


def _all(told: Sequence[ReportEntry]) -> Iterator[ReportEntry]:
    for each in told:
        yield each
        yield from _all(each.inner)
