"""Contradict packages at random, and show which contradictions `check` does not report.

`python scripts/contradictions.py --seed 1 --count 400` draws changes of the tests' packages, or of the PACKAGES named:
of descriptions, programs, weight files, manifests and pipelines. Each is made in a copy. Changes of which any value is
right are drawn, too: of these `check` must report nothing. With `--fix`, the script instead tries the law of `check
--fix` on so many contradicted packages. The script needs the tests' requirements.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.contradictions.drawing import CONTRADICTIONS, EQUIVALENT, Judged, draw, figure
from support.fix_law import fixed_case
from support.whole_models import TORCH, WHOLE, whole

LEAST = 98
"""The least share of contradictions that must be reported, in percent."""

FIXES = 1_000_000
"""The distance between the numbers of two seeds' fixes."""


@click.command()
@click.argument("packages", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--seed", default=1, show_default=True, help="Which changes: the same seed makes the same.")
@click.option("--count", default=400, show_default=True, help="How many contradictions.")
@click.option("--only", default="", metavar="TEXT", help="Only ways with this in their name or room.")
@click.option("--fix", is_flag=True, help="Try `check --fix` on contradicted packages, from this seed on.")
@click.option("--all", "shows_all", is_flag=True, help="Show the findings of each change.")
def main(packages: tuple[Path, ...], seed: int, count: int, only: str, fix: bool, shows_all: bool) -> None:
    """Print for each way how many contradictions were reported and not, with examples, and the share reported."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    sources = {str(path): partial(Path, path) for path in packages}
    sources = sources or {name: partial(whole, name) for name in WHOLE if name not in TORCH}
    if fix:
        sys.exit(_fix(sources, seed * FIXES, count))
    tables = [
        {name: way for name, way in table.items() if only in name or only in way.room}
        for table in (CONTRADICTIONS, EQUIVALENT)
    ]
    judged = [*draw(sources, seed, count, tables[0])]
    alarms = [each for each in draw(sources, seed, max(count // 4, len(tables[1])), tables[1]) if each.is_reported]
    _print_rows(judged, shows_all)
    for each in alarms:
        print(f"FALSE ALARM  {_line(each)}")
    skipped = sorted({*tables[0]} - {each.way.name for each in judged})
    if skipped and count >= len(tables[0]):
        print(f"no package has: {', '.join(skipped)}")
    share = figure(judged)
    named = sum(each.is_named for each in judged if each.is_reported)
    print(f"{len(alarms)} false alarms; {named} of the {sum(map(_counts, judged))} reported name what was changed")
    print(f"{share:.1f} % of {len(judged)} contradictions are reported")
    sys.exit(1 if share < LEAST or alarms else 0)


def _fix(sources: Mapping[str, Callable[[], Path]], first: int, count: int) -> int:
    """Print each case that breaks the law of `check --fix`; return the exit status."""
    tried = written = broken = 0
    for number in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            case = fixed_case(sources, number, Path(folder))
        if case is not None:
            tried, written, broken = tried + 1, written + case.is_written, broken + bool(case.broken)
            if case.broken:
                print(f"{number}  {case}", flush=True)
    print(f"{tried} packages contradicted, {written} files written by --fix, {broken} cases break its law")
    return 1 if broken else 0


def _counts(judged: Judged) -> bool:
    return judged.is_reported and not judged.failed


def _print_rows(judged: list[Judged], shows_all: bool) -> None:
    rows: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for each in judged:
        rows[each.way.room, each.way.name].append(each)
    print(f"{'room':12} {'way':52} reported  unreported")
    for (room, name), ways in sorted(rows.items()):
        counts = Counter(map(_counts, ways))
        print(f"{room:12} {name:52} {counts[True]:8}  {counts[False] or '.':>10}")
        for each in ways:
            if shows_all or not _counts(each):
                print(f"    {_line(each)}")


def _line(judged: Judged) -> str:
    found = "; ".join(f"{each.severity}[{each.code}] {each.message}" for each in judged.found)
    again = f"{judged.way.name!r} {judged.number}"
    return f"{judged.package}: {judged.change} ({judged.way.reason}; {again}){f': {found[:300]}' if found else ''}"


if __name__ == "__main__":
    main()
