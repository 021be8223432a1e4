"""Break operations of valid Programs, ask coremltools' loader and `miltext.check`, and print who says what.

Run from anywhere: `python scripts/check_mutants.py [--programs FOLDER] [--only conv,gru]`. It needs the tests'
requirements. The last line is the figure: the share of what coremltools refuses for a value, a rank or a shape that
`check` tells with its cause, at an argument of the operation, naming the parameter.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.check_mutants.loader import weights_made_up
from support.check_mutants.matrix import figures, markdown, table
from support.check_mutants.run import FAMILIES, rows, sites_of
from support.coremltools_programs import PROGRAMS

from miltext.schema.proto import Program

DOCS = Path(__file__).resolve().parent.parent / "docs" / "diagnostics.md"
MARKS = "<!-- written by `python scripts/check_mutants.py --write-docs` -->", "<!-- up to here -->"


def programs(folder: Path | None) -> Iterator[tuple[str, Program]]:
    """Yield the Programs of a folder, or those that the tests make with coremltools, with their names."""
    if folder is None:
        yield from ((sample.name, Program.FromString(sample.program())) for sample in PROGRAMS)
    else:
        yield from ((path.name, Program.FromString(path.read_bytes())) for path in sorted(folder.rglob("*.pb")))


@click.command()
@click.option(
    "--programs", "folder", type=click.Path(exists=True, path_type=Path), help="A folder of .pb.  [the tests']"
)
@click.option("--only", default="", help="The operations, separated by commas.  [all]")
@click.option("--families", default=",".join(FAMILIES), show_default=True, help="The ways to break them.")
@click.option("--sites", "most", default=4, show_default=True, help="How many of each operation.")
@click.option("--seconds", default=3600.0, show_default=True, help="When to stop.")
@click.option("--drafts/--no-drafts", default=True, show_default=True, help="Try each mutant as a draft, too.")
@click.option("--fine", is_flag=True, help="A row of the matrix for each mutant of a class.")
@click.option("--write-docs", is_flag=True, help=f"Rewrite the table of docs/{DOCS.name}: a whole run.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="A file for what was found, a line of JSON for each mutant."
)
def main(
    folder: Path | None,
    only: str,
    families: str,
    most: int,
    seconds: float,
    drafts: bool,
    fine: bool,
    write_docs: bool,
    out: Path | None,
) -> None:
    """Print a matrix of the mutants by class, and the figures."""
    start = time.monotonic()
    original = list(programs(folder))
    made = []
    with weights_made_up(), out.open("w", encoding="utf-8") if out else nullcontext() as file:
        found = sites_of(original, most, [name for name in only.split(",") if name])
        print(f"{len(found)} sites of {len({site.operation.type for site in found})} operations", flush=True)
        for row in rows(found, families.split(","), try_drafts=drafts, seconds=seconds):
            made.append(row)
            if file:
                print(json.dumps(row), file=file)
    print("\n".join(table(made, fine)))
    print(f"{len(made)} mutants in {time.monotonic() - start:.0f} s")
    print("\n".join(figures(made)))
    if write_docs:
        _write_docs(markdown(made))


def _write_docs(made: str) -> None:
    first, last = MARKS
    before, _, rest = DOCS.read_text(encoding="utf-8").partition(first)
    _, _, after = rest.partition(last)
    inside = "\n".join(["", "", *(f"  {line}" for line in made.splitlines()), "", "  "])
    DOCS.write_text(f"{before}{first}{inside}{last}{after}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
