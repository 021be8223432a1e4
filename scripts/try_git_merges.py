"""Merge random pairs of edits of a package by the real git, in all its ways, and look at what each leaves behind:
`python scripts/try_git_merges.py`.

Each pair is merged, rebased, picked or unstashed, with git-lfs or without, where git knows a committer or does not.
Conflicts are resolved with either side and with an edited text. Every package that is left has to open in coremltools,
pass `miltext check`, and have each of its weights where the program names it. The first failures are shown with their
seeds. The script needs the tests' requirements, git and git-lfs.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.git_scenes import Checkout, Scene, held

from miltext.diagnostics import MiltextError


def _templates(folder: Path) -> dict[bool, Path]:
    """Make the repositories that each pair begins with, without git-lfs and with it."""
    made = {lfs: folder / str(lfs) / "repository" for lfs in (False, True)}
    for lfs, place in made.items():
        place.parent.mkdir()
        Checkout(place, identity=True).set_up(lfs)
    return made


@click.command()
@click.option("--pairs", default=200, show_default=True, help="How many pairs of edits.")
@click.option("--seed", default=0, show_default=True, help="The seed of the first pair.")
def main(pairs: int, seed: int) -> None:
    """Print how the merges of each kind ended, and what failed."""
    counts, failures, start = Counter[str](), list[str](), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        templates = _templates(Path(folder))
        for number in range(seed, seed + pairs):
            scene = Scene.of(number)
            with tempfile.TemporaryDirectory() as made:
                try:
                    outcome = held(scene, Path(made), templates[scene.lfs])
                    counts[f"{scene.command}: {outcome}"] += 1
                    click.echo(f"{scene}: {outcome}", err=True)
                except (AssertionError, OSError, MiltextError) as failure:
                    counts[f"{scene.command}: failed"] += 1
                    failures.append(f"{scene}: {failure}")
                    click.echo(failures[-1][:2000], err=True)
    for outcome, count in sorted(counts.items()):
        click.echo(f"{count:6} {outcome}")
    click.echo(f"{pairs} pairs: {len(failures)} failed, {time.perf_counter() - start:.0f} s")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
