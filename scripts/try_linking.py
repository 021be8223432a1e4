"""Link random pairs and chains of models, and count what came of it: `python scripts/try_linking.py`.

The models are the packages of the tests, the packages of the corpus, and parts of both that `miltext extract` cuts out.
Each model takes an output of an earlier one, if the types allow it, with a cast where needed. The numbers of the whole
have to be, to the bit, those of the models run one after the other, in two predictions with their states; coremltools
has to open it; its records have to be the different records of the models, by their bytes; and a second link has to be
equal, byte for byte. A text that imports the models has to make a model with the same records, entries of the
description, and numbers. The script needs the tests' requirements.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.kinds import PROGRAMS, kind
from support.links import can_follow, differing, outcome, random_bindings
from support.real_packages import PACKAGES, package
from support.whole_models import MADE, whole

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError
from miltext.evaluation.evaluator import Evaluator


@click.command()
@click.option("--count", type=int, default=40, help="How many links.  [40]")
@click.option("--seed", type=int, default=0, help="What random choices are made with.  [0]")
def main(count: int, seed: int) -> None:
    """Print what came of it, and all that went wrong."""
    warnings.simplefilter("ignore")
    rng, counts = random.Random(seed), Counter[str]()
    bound = before = after = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = _models()
        while sum(counts.values()) < count:
            paths = _cut(rng.choice(known), rng, folder) if rng.random() < 1 / 3 else _chain(known, rng)
            made = outcome(paths, random_bindings(paths, rng), differing(paths), folder) if paths else None
            if made is None:
                continue
            counts[made.words.partition("\n")[0]] += 1
            bound, before, after = bound + made.bound, before + made.before, after + made.after
            print(f"{' + '.join(path.stem for path in paths)}: {made.words}, {made.bound} bound", flush=True)
    for what, number in counts.most_common():
        print(f"{number:>8}  {what}")
    print(f"{bound} outputs bound; weights: {before:,} -> {after:,} bytes")
    sys.exit(1 if any(what.startswith("WRONG") for what in counts) else 0)


def _models() -> list[Path]:
    """Return the packages with an ML Program that the evaluator can run."""
    made = [*map(kind, PROGRAMS), *map(package, PACKAGES), *map(whole, MADE)]
    corpus = Path(os.environ.get("MILTEXT_CORPUS", "../shared/corpus")) / "bundles"
    return [path for path in (*made, *sorted(corpus.glob("*.ml[pm]*"))) if _runs(path)]


def _runs(path: Path) -> bool:
    try:
        Evaluator(path, check=False)
    except MiltextError:
        return False
    return open_model(path).type == "mlProgram"


def _chain(known: list[Path], rng: random.Random) -> list[Path]:
    """Return some models; two of three take an output of an earlier one, if there is such a model."""
    paths = [rng.choice(known)]
    for _ in range(rng.choice([1, 1, 2, 3])):
        following = [path for path in known if can_follow(path, paths)] if rng.random() < 2 / 3 else []
        paths.append(rng.choice(following or known))
    return paths


def _cut(path: Path, rng: random.Random, folder: Path) -> list[Path]:
    """Return the two parts of a model before and after a random value; nothing where it cannot be cut."""
    evaluator = Evaluator(path, check=False)
    names = [each for step in evaluator.plan.steps for each in step.names if each not in evaluator.outputs]
    parts = [folder / "First.mlpackage", folder / "Second.mlpackage"]
    try:
        value = rng.choice(names)
        miltext.extract(path, value, parts[0], force=True)
        miltext.extract(path, [*evaluator.outputs], parts[1], inputs=value, force=True)
    except (MiltextError, IndexError):
        return []
    return parts


if __name__ == "__main__":
    main()
