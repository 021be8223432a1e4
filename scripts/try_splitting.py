"""Divide many models and link their parts again, and count what came of it: `python scripts/try_splitting.py`.

The models are the packages of the tests and of the corpus. Each function is divided at ten places: by number, by the
size of weights, and at random values. The linked parts have to be the model itself: no difference in the program and
the description, and the numbers of the whole, of the linked parts, of the parts one after the other and of their
pipeline equal to the bit, where the evaluator runs the model. Refusals are counted by their code, and do not count as
places. A model of the corpus without its weights gets made-up ones.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from typing import TYPE_CHECKING

from support.kinds import KINDS, kind
from support.made_up_weights import stored_values, write_weights
from support.model_checks import assert_coremltools_opens
from support.real_packages import PACKAGES, package
from support.splits import computed, functions, outcome, ways

from miltext.containers.opening import open_model

if TYPE_CHECKING:
    from miltext.models.model import Model, Stage
    from miltext.schema.proto import Value

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
                there = _with_weights(path, Path(folder))
                _try(name, there, Path(folder), counts, opens=opens and _opens(name, there, counts), seed=seed)
                print(f"{name}: tried", file=sys.stderr, flush=True)
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


def _with_weights(path: Path, folder: Path) -> Path:
    """Return a model, or a copy with made-up weights of a model that lacks them."""
    model = open_model(path)
    lacks = [each.model for each in model.programs() if any(not _is_there(each.model, held) for held in stored(each))]
    if not lacks:
        return path
    copied = folder / path.name
    if path.is_dir():
        shutil.copytree(path, copied)
    else:
        shutil.copy(path, copied)
    for stage in open_model(copied).programs():
        assert stage.model.model_path is not None
        write_weights(stage.model.program, stage.model.model_path)
    return copied


def _opens(name: str, path: Path, counts: Counter[str]) -> bool:
    """Whether coremltools opens the whole: of a model that it cannot open, it is not asked to open the parts."""
    try:
        assert_coremltools_opens(path)
    except Exception as failure:  # noqa: BLE001 - whatever coremltools raises
        print(f"{name}: coremltools does not open the whole: {type(failure).__name__}: {failure}", file=sys.stderr)
        counts["(models that coremltools does not open)"] += 1
        return False
    return True


def stored(stage: Stage) -> Iterator[Value]:
    """Yield the values of a model that are in weight files."""
    return stored_values(stage.model.program)


def _is_there(model: Model, held: Value) -> bool:
    assert model.model_path is not None
    return (model.model_path / held.blobFileValue.fileName.removeprefix("@model_path/")).exists()


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
