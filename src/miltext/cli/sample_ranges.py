"""`miltext run --ranges`: the numbers of a model on samples, and the sums that they allow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.progress import Progress
from miltext.cli.streams import write_json, write_text

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json
    from miltext.evaluation.carried import Named
    from miltext.evaluation.evaluator import Evaluator


def show_ranges(evaluator: Evaluator, data: str, *, as_json: bool) -> None:
    """Show the ranges on the samples of an archive, or of all archives in a folder."""
    from miltext.bounds.samples import HEADINGS, cells, ranges_on
    from miltext.diagnostics.wording import table

    paths = _archives(Path(data))
    with Progress("running samples", lambda: len(paths)) as bar:
        rows = ranges_on(evaluator, _read(paths, bar))
    if as_json:
        found: list[Json] = [row.to_json() for row in rows]
        write_json({"function": evaluator.function, "samples": len(paths), "ranges": found})
        return
    lines = table(map(cells, rows), HEADINGS)
    count = sum(row.may_overflow for row in rows)
    end = f"{len(paths)} samples; {count} of {len(rows)} results may overflow, or did"
    write_text("-", [f"{line}\n" for line in (*lines, end)])


def _archives(data: Path) -> list[Path]:
    found = sorted(data.glob("*.npz")) if data.is_dir() else [data]
    if not found:
        raise click.UsageError(f"--ranges {data}: the folder has no .npz: save the inputs of each sample in one")
    return found


def _read(paths: list[Path], bar: Progress) -> Iterator[Named]:
    from miltext.evaluation.value_files import read_archive

    for path in paths:
        yield read_archive(path)
        bar.add(1)
