"""Damage each kind of file at random, have a verb read it, and count the results: `python scripts/damage.py`.

Cases that end in another error than the project's own, or leave a file behind, are shown, and saved in the folder that
--save names. The script needs the tests' requirements.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.damage import KINDS, OTHER, READ, REFUSED, make_scene, tally


@click.command()
@click.option("--cases", default=10_000, show_default=True, help="How many cases of each kind.")
@click.option("--seed", default=1, show_default=True, help="Which cases: the same seed has the same.")
@click.option("--kinds", help="The kinds, separated by commas.  [all]")
@click.option("--save", type=click.Path(path_type=Path), help="A folder for the files of such cases.")
def main(cases: int, seed: int, kinds: str | None, save: Path | None) -> None:
    """Print for each kind how many cases were refused, were read all the same, and ended otherwise.

    A case may not end otherwise.
    """
    print(f"{'kind':<28}{'cases':>8}{REFUSED:>10}{READ:>20}{OTHER:>10}")
    failed = 0
    for name in kinds.split(",") if kinds else KINDS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            make_scene(Path(folder))
            counts, wrong = tally(name, Path(folder), seed, cases)
            os.chdir("/")
        print(f"{name:<28}{cases:>8}{counts[REFUSED]:>10}{counts[READ]:>20}{counts[OTHER]:>10}", flush=True)
        failed += len(wrong)
        for index, case in enumerate(wrong):
            if index < 20:
                print(f"    {case.verb}: {case.story[:300]}")
            if save:
                save.mkdir(parents=True, exist_ok=True)
                (save / f"{name.replace(' ', '-')}-{index}").write_bytes(case.data)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
