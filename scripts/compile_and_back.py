"""Compile packages and turn them back, and count what came of it: `python scripts/compile_and_back.py`.

The packages are those of the tests, of all kinds; --programs adds serialized Programs, each with a description that
says more than its types do, and with made-up weights. What comes back must be the same program, description and
weights, except for what docs/compiled-models.md lists; a package may be refused. The script needs the tests'
requirements.
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

from support.compiled import in_files, normal
from support.described_programs import described
from support.kinds import KINDS, kind
from support.real_packages import PACKAGES, package

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError
from miltext.schema.proto import Program


@click.command()
@click.argument("programs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--refused", is_flag=True, help="Also show what is refused.")
def main(programs: tuple[Path, ...], refused: bool) -> None:
    """Print how many packages came back the same, were refused by which code, and did not come back so.

    PROGRAMS are serialized Programs, .pb, or folders of such.
    """
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for name, source in _packages(programs):
        with tempfile.TemporaryDirectory() as folder:
            result, told = _outcome(source, Path(folder))
        counts.update([result, *told])
        if result == "different" or (refused and result.startswith("refused")):
            print(f"{name}: {result}", flush=True)
    for result in sorted(counts):
        print(f"{counts[result]:>8}  {result}")
    sys.exit(1 if counts["different"] else 0)


def _packages(programs: tuple[Path, ...]) -> Iterator[tuple[str, Path]]:
    yield from ((name, package(name)) for name in PACKAGES)
    yield from ((name, kind(name)) for name in KINDS)
    for path in programs:
        for file in sorted(path.rglob("*.pb")) if path.is_dir() else [path]:
            with tempfile.TemporaryDirectory() as folder:
                made = described(Program.FromString(file.read_bytes()), Path(folder) / "P.mlpackage")
                if made is not None:
                    yield str(file), made


def _outcome(source: Path, folder: Path) -> tuple[str, set[str]]:
    """Return what came of a package, and the codes of what was told."""
    before = open_model(source).spec
    assert before is not None
    try:
        found = miltext.build(source, folder / "C.mlmodelc", allow_unproven=True, check=False)
        miltext.build(folder / "C.mlmodelc", folder / "Q.mlpackage", check=False)
    except MiltextError as failure:
        return f"refused: {failure.diagnostics[0].code} {failure.diagnostics[0].message[:60]}", set()
    now = open_model(folder / "Q.mlpackage").spec
    assert now is not None
    is_same = normal(now) == normal(before) and in_files(source) == in_files(folder / "Q.mlpackage")
    return "the same" if is_same else "different", {f"told: {each.code}" for each in found}


if __name__ == "__main__":
    main()
