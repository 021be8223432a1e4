"""Plant single mistakes in valid drafts, and count what `check` reports of each: `python scripts/draft_mistakes.py`.

One mistake is to be one report. The script counts mistakes of each kind with no report, one, and more, and shows the
commonest groups of codes that come together, each with its first place. A name that is used often is one report.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.planted_mistakes import Mistake, hoisted, mistakes, reports
from support.short_drafts import DRAFTS

import miltext
from miltext.diagnostics import PrintError
from miltext.generation.options import Options
from miltext.generation.programs import generate

WRITTEN = {**DRAFTS, **{path.stem: path.read_text() for path in sorted(Path("tests/golden/short").glob("*.mil"))}}
"""Drafts that people wrote, by their names."""


class Outcome(NamedTuple):
    """What was reported of a mistake: the codes in order."""

    kind: str
    source: str
    codes: tuple[str, ...]
    text: str
    mistake: Mistake


def drafts(source: str) -> Iterator[str]:
    """Yield the draft of a name, or those of a program, in the long spelling and in the short one.

    The program is what a seed generates.
    """
    texts = [WRITTEN[source]] if source in WRITTEN else []
    programs = [] if texts else [generate(int(source), Options(ops=(1, 8)))]
    for program, drop_names in [(each, drops) for each in programs for drops in (True, False)]:
        with suppress(PrintError):
            texts.append(miltext.to_draft(program, drop_names=drop_names))
    yield from (text for text in dict.fromkeys([*texts, *map(hoisted, texts)]) if not reports(text))


def tried(most: int, source: str) -> list[Outcome]:
    """Return what is reported of some mistakes in the drafts of a source, of each kind as many."""
    chosen, found = random.Random(source), list[Outcome]()
    for text in drafts(source):
        kinds: dict[str, list[Mistake]] = {}
        for mistake in mistakes(text):
            kinds.setdefault(mistake.kind, []).append(mistake)
        for kind in sorted(kinds):
            for mistake in chosen.sample(kinds[kind], min(most, len(kinds[kind]))):
                codes = tuple(each.code for each in reports(mistake.plant(text)))
                found.append(Outcome(kind, source, codes, text, mistake))
    return found


def rates(outcomes: list[Outcome]) -> Iterator[str]:
    """Yield a line for each kind: how many mistakes, and the shares with no report, one, and more."""
    kinds = Counter(each.kind for each in outcomes)
    for kind in ["all", *sorted(kinds)]:
        numbers = Counter(min(len(each.codes), 2) for each in outcomes if kind in (each.kind, "all"))
        count, silent, one, more = sum(numbers.values()), numbers[0], numbers[1], numbers[2]
        yield f"{kind:<16}{count:>6}   none {silent / count:6.1%}   one {one / count:6.1%}   more {more / count:6.1%}"


@click.command()
@click.option("--seeds", default=100, show_default=True, help="How many generated programs.")
@click.option("--first", default=0, show_default=True, help="The first seed.")
@click.option("--most", default=6, show_default=True, help="How many mistakes of a kind in each draft.")
@click.option("--show", default=15, show_default=True, help="How many groups of codes are shown.")
@click.option("--kind", default="", help="Show groups of this kind alone.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="How many processes.")
def main(seeds: int, first: int, most: int, show: int, kind: str, jobs: int) -> None:
    """Print the rates of each kind, and the commonest groups of more than one report."""
    with ProcessPoolExecutor(jobs) as pool:
        generated = pool.map(partial(tried, 1), map(str, range(first, first + seeds)))
        others = pool.map(partial(tried, most), [*WRITTEN])
        outcomes = [each for found in [*others, *generated] for each in found]
    print(*rates(outcomes), sep="\n")
    groups: dict[tuple[str, tuple[str, ...]], list[Outcome]] = {}
    for each in outcomes:
        if len(each.codes) > 1 and kind in ("", each.kind):
            groups.setdefault((each.kind, each.codes), []).append(each)
    for (of_kind, codes), found in sorted(groups.items(), key=lambda group: -len(group[1]))[:show]:
        example = min(found, key=lambda each: len(each.text))
        planted = example.mistake.plant(example.text)
        line = planted.count("\n", 0, example.mistake.start) + 1
        print(f"\n{len(found)} times {of_kind}: {' '.join(codes)}  ({example.source})")
        print(f"    {line}: {planted.splitlines()[line - 1].strip()}")
        for told in reports(planted):
            at = planted.count("\n", 0, told.span.start) + 1 if told.span else 0
            print(f"      {at}: {told.code} {told.message[:150]}")
    sys.exit(0)


if __name__ == "__main__":
    main()
