"""Divide many models and link their parts again, and count what came of it: `python scripts/try_splitting.py`.

The models are the packages of the tests and of the corpus. Each function is divided at ten places: by number, by the
size of weights, and at random values. The linked parts have to be the model itself: no difference in the program and the
description, and the numbers of the whole, of the linked parts, of the parts one after the other and of their pipeline
equal to the bit, where the evaluator runs the model. Refusals are counted by their code, and do not count as places.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.kinds import KINDS, kind
from support.real_packages import PACKAGES, package
from support.splits import computed, functions, outcome, ways

PLACES = 10
"""The successful splits of each function."""

TRIES = 60
"""The most tries for these."""


@click.command()
@click.option("--share", default="0/1", help="Every so many-th model, from which on: 1/4.")
@click.option("--only", default="", help="The models with this in their name.")
@click.option("--opens", is_flag=True, help="Also have coremltools open each part.")
@click.option("--seed", type=int, default=0, help="What random choices are made with.  [0]")
def main(share: str, only: str, opens: bool, seed: int) -> None:
    """Print what came of it, and all that went wrong."""
    warnings.simplefilter("ignore")
    chosen, shares = map(int, share.split("/"))
    counts: Counter[str] = Counter()
    for turn, (name, path) in enumerate(_models()):
        if turn % shares == chosen and only in name:
            with tempfile.TemporaryDirectory() as folder:
                _try(name, path, Path(folder), counts, opens=opens, seed=seed)
    for what, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        print(f"{count:>8}  {what}")
    sys.exit(1 if any(what.startswith("WRONG") for what in counts) else 0)


def _models() -> Iterator[tuple[str, Path]]:
    yield from ((f"kind {each}", kind(each)) for each in KINDS)
    yield from ((each, package(each)) for each in PACKAGES)
    corpus = Path(os.environ.get("MILTEXT_CORPUS", "corpus"))
    for ending in ("*.mlpackage", "*.mlmodel"):
        for path in sorted(corpus.rglob(ending)):
            if ".mlpackage" not in path.parent.as_posix():
                yield path.relative_to(corpus).as_posix(), path


def _try(name: str, path: Path, folder: Path, counts: Counter[str], *, opens: bool, seed: int) -> None:
    for place, model in functions(path, folder):
        whole = computed(f"{name} {place}".strip(), model)
        counts["(functions)"] += 1
        counts["(functions that run)"] += not isinstance(whole.results, str)
        rng = random.Random(f"{seed} {whole.name}")
        done = 0
        for turn, how in enumerate(ways(whole, rng)):
            if turn == TRIES or done == PLACES:
                break
            what = outcome(whole, folder, opens=opens, **how)
            done += not what.startswith("refused")
            counts[what.partition("\n")[0]] += 1
            if what.startswith("WRONG"):
                print(f"{whole.name}: {how}: {what}", flush=True)
        counts[f"(functions with {done} splits)"] += 1


if __name__ == "__main__":
    main()
