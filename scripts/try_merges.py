"""Merge random pairs of edits of real texts, and count what came of it: `python scripts/try_merges.py CORPUS`.

Edits of different statements have to merge to what both edits give, one after the other; others may be in conflict, but
what each side added is there. The first failures are shown with their seeds. The script needs the tests' requirements.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.laws.merging import held, statements
from support.package_versions import Scene
from support.package_versions import held as weights_held


def _outcome(seed: int, text: str, edits: int, failures: list[str]) -> str:
    try:
        return held(Random(seed), text, edits)
    except AssertionError as failure:
        failures.append(f"seed {seed}: {failure}")
        return "failed"


def _package_outcome(seed: int, failures: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return weights_held(Random(seed), Scene(Path(folder)))
        except AssertionError as failure:
            failures.append(f"package, seed {seed}: {failure}")
            return "failed"


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option("--pairs", default=200, show_default=True, help="How many pairs of edits.")
@click.option("--seed", default=0, show_default=True, help="The seed of the first pair.")
@click.option("--edits", default=1, show_default=True, help="How many edits there are on each side.")
@click.option("--packages", default=0, show_default=True, help="How many pairs of edits of a package, besides.")
@click.option("--largest", default=200_000, show_default=True, help="The size of the largest text, in characters.")
def main(folder: Path, pairs: int, seed: int, edits: int, packages: int, largest: int) -> None:
    """Print how often pairs of edits, or of several on each side, merged, were in conflict, and failed."""
    found = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.mil")) if "rejected" not in path.parts]
    texts = [text for text in found if len(text) <= largest and len(statements(text)) > 3]
    counts, failures, start = Counter[str](), list[str](), time.perf_counter()
    for number in range(seed, seed + pairs):
        counts[_outcome(number, texts[number % len(texts)], edits, failures)] += 1
    for number in range(seed, seed + packages):
        counts[f"package: {_package_outcome(number, failures)}"] += 1
    for outcome, count in sorted(counts.items()):
        if edits > 1 and not outcome.startswith("package"):
            continue
        click.echo(f"{count:6} {outcome}")
    for shown in failures[:20]:
        click.echo(shown)
    merged = sum(count for outcome, count in counts.items() if outcome.endswith("merged"))
    took = time.perf_counter() - start
    click.echo(f"{pairs + packages} pairs on {len(texts)} texts: {merged} merged, {len(failures)} failed, {took:.1f} s")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
