"""`miltext merge`: three versions made one; and `mergedriver`, which git calls for that."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.streams import FAILED, WRONG, show, write_text
from miltext.diagnostics import MiltextError

if TYPE_CHECKING:
    from miltext.merging.conflicts import Markers

EPILOG = """\b
Examples:
  miltext merge base.mil mine.mil yours.mil -o merged.mil
  miltext merge base.mil mine.mil yours.mil --diff3      # conflicts show the base, too
  miltext git setup                                      # git merge, rebase and cherry-pick do the same
\b
Exit status: 0 merged; 1 conflicts, or errors that neither side has; 2 a version cannot be read.
"""


@click.command("merge", epilog=EPILOG)
@click.argument("base")
@click.argument("ours")
@click.argument("theirs")
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write; standard output by default.")
@click.option("--diff3", is_flag=True, help="Show the base in conflicts, too.")
@click.option("--marker-size", type=click.IntRange(min=7), default=7, metavar="N", help="The length of markers.")
@click.option("--no-check", is_flag=True, help="Do not look for errors that neither side has.")
def command(base: str, ours: str, theirs: str, output: str, diff3: bool, marker_size: int, no_check: bool) -> None:
    """Merge what OURS and THEIRS changed in BASE, texts of MIL, operation by operation.

    Operations are matched by structure: one side may rename, move or lay out anew what the other changes. The result is
    OURS with the changes of THEIRS, with comments and layout. What both changed otherwise stands between markers, as
    git writes them. An empty BASE says that both sides added the file.
    """
    from miltext.merging.conflicts import Markers

    markers = Markers(ours, base, theirs, marker_size, diff3)
    try:
        shown = ours if output == "-" else output
        found = _merge_texts((base, ours, theirs), output, markers, shown, None if no_check else ours)
    except MiltextError as failure:
        show(failure.diagnostics, failure.text, failure.path)
        sys.exit(FAILED)
    sys.exit(WRONG if found else 0)


def _merge_texts(names: tuple[str, str, str], output: str, markers: Markers, shown: str, place: str | None) -> bool:
    """Write the merged text, and tell what is wrong with it by a name that is shown; return whether anything is.

    `place` is where arrays are that the text names, None if it is not to be checked. Raise MiltextError.
    """
    from miltext.merging.judging import new_errors
    from miltext.merging.merging import merge_texts

    base, ours, theirs = (_read(name, may_be_empty=index == 0) for index, name in enumerate(names))
    merged = merge_texts(base, ours, theirs, markers)
    write_text(output, [merged.text])
    if merged.conflicts:
        conflicts = "a conflict" if merged.conflicts == 1 else f"{merged.conflicts} conflicts"
        click.echo(f"miltext: {shown}: {conflicts}, between markers", err=True)
        return True
    found = new_errors(merged.text, ours, theirs, place) if place is not None else []
    show(found, merged.text, shown)
    if found:
        click.echo(f"miltext: {shown}: merged without a conflict, but neither side has these errors", err=True)
    return bool(found)


def _read(name: str, may_be_empty: bool) -> str:
    from miltext.models.contents import decode, read_file

    data = read_file(Path(name))
    return decode(data, name) if data or not may_be_empty else ""


@click.command("mergedriver")
@click.argument("base")
@click.argument("ours")
@click.argument("theirs")
@click.argument("marker_size", type=int)
@click.argument("path")
@click.argument("labels", nargs=-1)
def mergedriver(base: str, ours: str, theirs: str, marker_size: int, path: str, labels: tuple[str, ...]) -> None:
    """Merge one file for git: OURS becomes the result.

    git calls this after `miltext git setup`, with %O %A %B %L %P and the LABELS %S %X %Y, which older versions of git
    do not know. It exits with 0 after a merge, and with 3 after conflicts.
    """
    from miltext.merging.conflicts import Markers
    from miltext.review.git import IN_CONFLICT

    named = [label for label in labels if not label.startswith("%")]
    if len(named) != 3:
        named = ["base", "ours", "theirs"]
    markers = Markers(named[1], named[0], named[2], marker_size, _with_base())
    try:
        found = _merge_texts((base, ours, theirs), ours, markers, path, path)
    except MiltextError as failure:
        show(failure.diagnostics[:1], failure.text, path)
        click.echo(f"miltext: {path}: merged line by line, as git does", err=True)
        sys.exit(FAILED)
    sys.exit(IN_CONFLICT if found else 0)


def _with_base() -> bool:
    """Whether the user has git show the base in conflicts."""
    import subprocess

    asked = subprocess.run(["git", "config", "merge.conflictStyle"], capture_output=True, check=False)
    return asked.stdout.strip() in (b"diff3", b"zdiff3")
