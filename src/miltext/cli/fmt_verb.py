"""`miltext fmt`: MIL text in its canonical layout."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.cli.streams import WRONG, fail, read_stdin, show, write_text
from miltext.diagnostics import MiltextError
from miltext.files import write_atomically

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic

EPILOG = """\b
Examples:
  miltext fmt model.mil                  # in place
  miltext fmt --check .                  # every .mil below; exit 1 if one would change
  miltext fmt --diff model.mil
  miltext fmt --width 120 mine.mil       # long argument lists broken, an item a line
  miltext fmt - < model.mil
"""

ENOUGH = 1 << 18
"""From this many bytes on, several files are worked on by several processes, which take a while to start."""


class Outcome(NamedTuple):
    """What became of one file: its text as it was and as it should be, or what is wrong with it."""

    name: str
    text: str | None = None
    formatted: str | None = None
    findings: Sequence[Diagnostic] = ()
    path: str | None = None


@click.command("fmt", epilog=EPILOG)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--check", is_flag=True, help="Write nothing; list what would change, and exit with 1 if anything would.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change, and exit with 1 if anything would.")
@click.option(
    "--width",
    type=click.IntRange(min=1),
    metavar="N",
    help="Break lists of arguments in lines of more than N columns; without it, an operation is one line.",
)
def command(paths: tuple[str, ...], check: bool, diff: bool, width: int | None) -> None:
    """Lay out each PATH canonically: .mil files, folders of them, or `-` for standard input.

    Comments, numbers and line ends are kept. Before a file is written, its program is proven to be the same.
    """
    if not paths:
        raise click.UsageError("name the files or folders to format, or `-` for standard input")
    results = [_settle(outcome, check, diff) for outcome in _outcomes(_files(paths), width)]
    if False in results:
        sys.exit(WRONG)


def _files(paths: tuple[str, ...]) -> list[str]:
    """The files that the paths name, those of a folder in order."""
    names: list[str] = []
    for path in paths:
        if path != "-" and not Path(path).exists():
            fail(f"there is no file or folder {path}")
        names += sorted(map(str, Path(path).rglob("*.mil"))) if Path(path).is_dir() and path != "-" else [path]
    return names


def _outcomes(names: list[str], width: int | None) -> Iterable[Outcome]:
    """The outcome of each file, in order; many are worked on at once."""
    work = partial(_format, width=width)
    processes = min(len(names), os.cpu_count() or 1)
    if processes < 2 or "-" in names or sum(os.path.getsize(name) for name in names) < ENOUGH:
        yield from map(work, names)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(work, names)


def _format(name: str, width: int | None) -> Outcome:
    """Format one file, without writing it."""
    from miltext.formatter import verified_format
    from miltext.line_ends import keep_line_ends
    from miltext.models.contents import decode

    try:
        text = decode(read_stdin() if name == "-" else Path(name).read_bytes(), name)
        return Outcome(name, text, keep_line_ends(text, verified_format(text, width=width, path=name)))
    except MiltextError as error:
        return Outcome(name, error.text, None, error.diagnostics, error.path)


def _settle(outcome: Outcome, check: bool, diff: bool) -> bool:
    """Do with an outcome as asked; whether the file is right, or made so."""
    name, text, formatted = outcome.name, outcome.text, outcome.formatted
    if text is None or formatted is None:
        show(outcome.findings, text, outcome.path)
        return False
    if diff:
        write_text("-", _difference(name, text, formatted))
    elif check:
        click.echo(f"would reformat {name}", err=True) if formatted != text else None
    elif name == "-":
        write_text("-", [formatted])
    elif formatted != text:
        write_atomically(Path(name), [formatted.encode()])
        click.echo(f"reformatted {name}", err=True)
    return formatted == text or not (check or diff)


def _difference(name: str, text: str, formatted: str) -> list[str]:
    from difflib import unified_diff

    return list(
        unified_diff(text.splitlines(keepends=True), formatted.splitlines(keepends=True), name, f"{name} (formatted)")
    )
