"""Edit models of all kinds in all ways, and count what came of it: `python scripts/try_edits.py`.

The kinds are those of the tests; --programs adds the programs that coremltools writes there, each with a description
that says more than its types do. An edit may be refused. Otherwise all that the description said is still said, or the
command told that it is not. What is lost in silence, what is left dangling, and findings of `check` that the original
does not have are shown. The script needs the tests' requirements.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.containers import compile_package
from support.coremltools_programs import PROGRAMS as SAMPLES
from support.described_programs import described
from support.edited_models import ALL, Scene, message, outcome, places
from support.kinds import KINDS, PROGRAMS, kind

from miltext.schema.proto import Program


@click.command()
@click.option("--programs", is_flag=True, help="Also the programs of tests/support/coremltools_programs.py.")
@click.option("--only", help="A word that the names of the edits have.")
@click.option("--refused", is_flag=True, help="Also show what is refused.")
def main(programs: bool, only: str | None, refused: bool) -> None:
    """Print for each edit how often it was done, was refused, and went wrong."""
    warnings.simplefilter("ignore")
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, package in _packages(Path(folder), programs):
            for source in _forms(name, package, Path(folder)):
                _try(name, source, Scene(source, message(package), Path(folder)), counts, only, refused)
    print(f"{'edit':<36}{'done':>8}{'refused':>10}{'wrong':>8}")
    for edit in ALL:
        done, refusals, wrong = (counts[edit, each] for each in ("done", "refused", "wrong"))
        print(f"{edit:<36}{done:>8}{refusals:>10}{wrong:>8}")
    sys.exit(1 if any(each == "wrong" for _, each in counts) else 0)


def _packages(folder: Path, programs: bool) -> Iterator[tuple[str, Path]]:
    yield from ((name, kind(name)) for name in KINDS)
    for index, sample in enumerate(SAMPLES if programs else ()):
        package = described(Program.FromString(sample.program()), folder / f"{index}.mlpackage")
        if package is not None:
            yield sample.name, package


def _forms(name: str, package: Path, folder: Path) -> Iterator[Path]:
    """Yield a package, and what the compiler makes of it where that is known."""
    yield package
    if name in PROGRAMS and name != "bare":
        yield compile_package(package, folder / f"{name}.mlmodelc")


def _try(
    name: str, source: Path, scene: Scene, counts: Counter[tuple[str, str]], only: str | None, refused: bool
) -> None:
    for place in places(scene.before):
        for edit in ALL:
            came = outcome(scene, place, edit) if not only or only in edit else None
            if came is None:
                continue
            counts[edit, "refused" if came.refused else "done"] += 1
            where = f"{name}{source.suffix} {place.stage} {place.function}: {edit}"
            if wrong := came.wrong(edit):
                counts[edit, "wrong"] += 1
                print(f"{where}\n    {wrong}\n    {came.told.strip()[:400]}")
            elif came.refused and refused:
                print(f"{where}\n    {came.told.splitlines()[0]}")


if __name__ == "__main__":
    main()
