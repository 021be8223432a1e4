"""Extract the values of many models, and count what came of it: `python scripts/try_extracts.py`.

The models are the packages of the tests; --oracle adds the programs of coremltools' own tests. Each value is extracted
by itself, and with random cuts before it. `check` of a part may report nothing that the whole model does not have. The
part has to open in coremltools, and its values have to be, to the bit, those that the evaluator gives in the whole.
Refusals are counted by their reason. The script needs the tests' requirements; the oracle, the folder that the tests
read it from.
"""

from __future__ import annotations

import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.extracts import Whole, computed, outcome, random_cut
from support.kinds import KINDS, kind
from support.model_checks import findings
from support.new_findings import original_findings
from support.real_packages import PACKAGES, package

from miltext.containers.opening import open_model


@click.command()
@click.option("--oracle", is_flag=True, help="Also the programs of coremltools' own tests.")
@click.option(
    "--each", type=int, default=0, help="At most so many values of a program of the oracle, no constants.  [all]"
)
@click.option("--cuts", type=int, default=1, help="Random cuts for each value.  [1]")
@click.option("--share", default="0/1", help="Every so many-th program, from which on: 1/4.")
@click.option("--seed", type=int, default=0, help="What random choices are made with.  [0]")
def main(oracle: bool, each: int, cuts: int, share: str, seed: int) -> None:
    """Print what came of it, and all that went wrong; after an interrupt, of what was tried by then."""
    warnings.simplefilter("ignore")
    chosen, shares = map(int, share.split("/"))
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, suppress(KeyboardInterrupt):
        for turn, whole in enumerate(_wholes(oracle, Path(folder))):
            if turn % shares == chosen:
                counts["(functions)"] += 1
                rng = random.Random(f"{seed} {whole.name}")
                _try(whole, rng, each if whole.weights else 0, cuts, Path(folder), counts)
    for what, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        print(f"{count:>8}  {what}")
    sys.exit(1 if any(what.startswith("WRONG") for what in counts) else 0)


def _wholes(oracle: bool, folder: Path) -> Iterator[Whole]:
    paths = {f"kind {each}": kind(each) for each in KINDS} | {each: package(each) for each in PACKAGES}
    for name, path in paths.items():
        for stage in open_model(path).programs():
            for function in sorted(stage.model.program.functions):
                yield computed(f"{name} {stage.place} {function}", stage.model, function, original_findings(path))
    for archive in ("ops", "torch") if oracle else ():
        yield from _of_oracle(archive, folder / "oracle")


def _of_oracle(archive: str, folder: Path) -> Iterator[Whole]:
    from support.oracle import runs

    for case, *_ in runs(archive, 0, 1):
        case.write_weights(folder)
        (folder / "case.pb").write_bytes(case.program.SerializeToString())
        model, known = open_model(folder / "case.pb"), findings(folder / "case.pb")
        yield computed(f"oracle {case.name}", model, case.function, known, case.inputs, folder)


def _try(whole: Whole, rng: random.Random, most: int, cuts: int, folder: Path, counts: Counter[str]) -> None:
    """Extract values of a function, at most so many if any number is given, and count what came of that."""
    names = whole.varying if most else whole.names
    for name in sorted(rng.sample(names, most)) if 0 < most < len(names) else names:
        for given in [[], *(random_cut(whole, name, rng) for _ in range(cuts))]:
            what = outcome(whole, name, given, folder)
            counts[what.partition("\n")[0]] += 1
            if what.startswith("WRONG"):
                print(f"{whole.name}: {name} from {given}: {what}", flush=True)


if __name__ == "__main__":
    main()
