"""Reshape the packages of torch modules, and compare with conversions at the new sizes: `scripts/try_reshapes.py`.

Each module of `tests/support/resized_modules.py` is converted by coremltools at its own sizes, in fp16 and fp32, and
reshaped to each of its other sizes. The conversion of the same module at these is the truth: shapes and numbers of the
outputs are compared, by the evaluator. A module counts as what its worst size is. `check` of the result may report
nothing that the original does not have. The script needs the extra `models`.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.resized_outcomes import REFUSED, RIGHT, RIGHT_TOLD, SILENT, TOLD, Outcome, outcome, runs

WORST = (SILENT, TOLD, REFUSED, RIGHT_TOLD, RIGHT)


@click.command()
@click.option("--only", multiple=True, help="Only modules whose name has this in it; may be repeated.")
@click.option("--precision", type=click.Choice(["FLOAT16", "FLOAT32"]), help="Only this one.  [both]")
@click.option(
    "--keep", type=click.Path(path_type=Path), help="A folder for the conversions, which are made once there."
)
@click.option("--verbose", is_flag=True, help="Also what was reported and refused.")
def main(only: tuple[str, ...], precision: str | None, keep: Path | None, verbose: bool) -> None:
    """Print a table of the modules, what came of each size, and the counts; exit with 1 if any is wrong in silence."""
    warnings.simplefilter("ignore")
    found: dict[str, list[tuple[str, Outcome]]] = {}
    with tempfile.TemporaryDirectory() as made:
        folder = keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        for name, sizes, each in runs():
            if (only and not any(part in name for part in only)) or precision not in (None, each):
                continue
            came = outcome(name, sizes, each, folder)
            label = f"{list(sizes)} {each}"
            found.setdefault(name, []).append((label, came))
            if verbose or came.verdict in (SILENT, TOLD):
                print(f"{came.verdict}: {name} {label}: {came.why}", *came.told, sep="\n    ", flush=True)
            if came.found:
                print(f"NEW FINDINGS: {name} {label}", *came.found.elements(), sep="\n    ", flush=True)
    for name, outcomes in found.items():
        print(f"{_worst(outcomes):<18}{name:<38}{_counted(outcomes)}")
    for verdict in WORST:
        modules = sum(_worst(each) == verdict for each in found.values())
        sizes_of = sum(came.verdict == verdict for each in found.values() for _, came in each)
        print(
            f"{verdict:<18}{modules:>5} of {len(found)} modules,{sizes_of:>5} of {sum(map(len, found.values()))} runs"
        )
    new = sum(came.found.total() for each in found.values() for _, came in each)
    print(f"{new} new findings")
    sys.exit(new > 0 or any(_worst(each) == SILENT for each in found.values()))


def _worst(outcomes: list[tuple[str, Outcome]]) -> str:
    return min((came.verdict for _, came in outcomes), key=WORST.index)


def _counted(outcomes: list[tuple[str, Outcome]]) -> str:
    counts = Counter(came.verdict for _, came in outcomes)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in WORST if counts[verdict])


if __name__ == "__main__":
    main()
