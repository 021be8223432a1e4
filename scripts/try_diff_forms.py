"""Compare programs of a folder pair by pair, and count what the forms say: `python scripts/try_diff_forms.py FOLDER`.

A page and a comment have to say all that the text says, and the page's panes are the two texts. The script needs the
tests' requirements.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.laws.differing import (
    markdown_says_all,
    page_says_all,
    panes_are_the_texts,
    stat_says_all,
    what_is_told_leads_to_its_lines,
)

import miltext

if TYPE_CHECKING:
    from miltext.schema.proto import Program


def _try(old: Program, new: Program) -> int:
    """Return the number of lines that are told of two programs. Raise AssertionError where a form lacks one."""
    difference = miltext.diff(old, new)
    page_says_all(difference)
    stat_says_all(difference)
    for full in (False, True):
        markdown_says_all(difference, full)
        assert len(difference.to_markdown(full=full)) <= 65_536
    what_is_told_leads_to_its_lines(difference)
    panes_are_the_texts(difference, old, new)
    return len(difference.to_text(full=True).splitlines())


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option("--pairs", default=200, show_default=True, help="How many pairs of programs.")
@click.option("--seed", default=0, show_default=True, help="In which order the programs are taken.")
@click.option("--largest", default=250_000, show_default=True, help="The size of the largest file, in bytes.")
def main(folder: Path, pairs: int, seed: int, largest: int) -> None:
    """Print how many lines the pairs were told in, and the pairs whose forms do not say the same."""
    found = [path for ending in ("mil", "pb") for path in sorted(folder.rglob(f"*.{ending}"))]
    files = [path for path in found if "rejected" not in path.parts and path.stat().st_size <= largest]
    Random(seed).shuffle(files)
    counts, start = Counter[str](), time.perf_counter()
    for old, new in pairwise(files[: pairs + 1]):
        counts["pairs"] += 1
        try:
            counts["lines"] += _try(*[miltext.load(path).program for path in (old, new)])
        except miltext.MiltextError:
            counts["of which one cannot be read"] += 1
        except AssertionError as failure:
            counts["failures"] += 1
            click.echo(f"{old} {new}: {str(failure)[:300]}")
    click.echo(f"{dict(counts)} in {time.perf_counter() - start:.0f} s")
    sys.exit(1 if counts["failures"] else 0)


if __name__ == "__main__":
    main()
