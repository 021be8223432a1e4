"""`miltext fmt`: MIL text in its canonical layout."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.batches.named_models import Input, distinct
from miltext.cli.as_json import asks_json, format_option
from miltext.cli.captured import echo
from miltext.cli.habits import named_paths, shown_name
from miltext.cli.many_models import Manner, ManyModels
from miltext.cli.streams import (
    FAILED,
    WRONG,
    existing,
    read_stdin,
    show,
    tell,
    texts_in,
    unified,
    write_back,
    write_json,
    write_text,
)
from miltext.diagnostics import MiltextError, codes, error

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic

EPILOG = """\b
Examples:
  miltext fmt model.mil                  # in place
  miltext fmt --check .                  # every .mil below; exit 1 if one would change
  miltext fmt --diff model.mil
  miltext fmt --width 120 mine.mil       # long argument lists broken, an item a line
  miltext fmt - < model.mil
\b
Exit status: 0 all are in canonical layout; 1 with --check or --diff, something would change; or a text is wrong, and
left as it is; 2 usage, files.
"""

ENOUGH = 1 << 18
"""The least total bytes for which several processes format the files: the processes take a while to start."""


class FormattedFile(NamedTuple):
    """The result for one file: its text before and after, or the findings that prevent formatting."""

    name: str
    text: str | None = None
    formatted: str | None = None
    findings: Sequence[Diagnostic] = ()
    path: str | None = None


def _expanded(paths: Sequence[str], _options: Mapping[str, object], missing: bool) -> list[Input]:
    """Return the files that the paths name, each once."""
    return [Input(name, found=False) for name in _files(paths, missing=missing)]


@click.command("fmt", cls=ManyModels, manner=Manner("paths", _expanded, is_headed=False), epilog=EPILOG)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--check", is_flag=True, help="Write nothing; list the files that would change, and exit with 1 if there are any."
)
@click.option("--diff", is_flag=True, help="Write nothing; show the changes, and exit with 1 if there are any.")
@click.option(
    "--width",
    type=click.IntRange(min=1),
    metavar="N",
    help="Break lists of arguments in lines of more than N columns; without it, an operation is one line.",
)
@format_option
def command(paths: tuple[str, ...], check: bool, diff: bool, width: int | None) -> None:
    """Lay out each PATH canonically: .mil files, folders of them, or `-` for standard input.

    Comments, numbers and line ends are kept. Before a file is written, its program is proven to be the same. Models and
    sidecars in a folder are skipped.
    """
    paths = named_paths(paths, "files or folders to format")
    if asks_json() and (diff or ("-" in paths and not check)):
        raise click.UsageError("standard output cannot have both the text and the report: leave out --format json")
    settled = [(outcome.name, *_settle(outcome, check, diff)) for outcome in _outcomes(_files(paths), width)]
    if asks_json():
        write_json({"files": [{"path": shown_name(name), "status": became} for name, _, became in settled]})
    sys.exit(max((status for _, status, _ in settled), default=0))


def _files(paths: Sequence[str], *, missing: bool = False) -> list[str]:
    """Return the files that the paths name, each once, in order within a folder, without sidecars, which are formatted
    when made.

    A path that does not exist ends the command, unless a `missing` path counts as a file.
    """
    from miltext.review.sidecar import is_sidecar

    names: list[str] = []
    for path in paths:
        is_folder = path != "-" and os.path.isdir(path if missing else existing(path))
        names += [name for name in texts_in(path) if not is_sidecar(name)] if is_folder else [path]
    return [each.name for each in distinct(Input(name, found=False) for name in names)]


def _outcomes(names: list[str], width: int | None) -> Iterable[FormattedFile]:
    """Yield the outcome of each file, in order; format many files in parallel."""
    work = partial(_format, width=width)
    processes = min(len(names), os.cpu_count() or 1)
    if processes < 2 or "-" in names or sum(map(os.path.getsize, filter(os.path.isfile, names))) < ENOUGH:
        yield from map(work, names)
        return
    from miltext.batches.executing import Lost, in_order, own_workers, results

    for name, found in zip(names, in_order(results(work, names, own_workers(processes, len(names)))), strict=True):
        if isinstance(found, Lost):
            lost = error(codes.MODEL_WITHOUT_RESULT, f"not formatted: {found.reason}")
            found = FormattedFile(name, findings=[lost], path=shown_name(name))
        yield found


def _format(name: str, width: int | None) -> FormattedFile:
    """Format one file, without writing it."""
    from miltext.files.contents import mil_text, read_file
    from miltext.formatting.document import keep_line_ends
    from miltext.formatting.formatter import verified_format

    path = shown_name(name)
    try:
        text = mil_text(read_stdin() if name == "-" else read_file(Path(name)), path)
        return FormattedFile(name, text, keep_line_ends(text, verified_format(text, width=width, path=path)))
    except MiltextError as error:
        return FormattedFile(name, error.text, None, error.diagnostics, error.path)


def _settle(outcome: FormattedFile, check: bool, diff: bool) -> tuple[int, str]:
    """Apply an outcome as the options state, and return the exit status and the status of the file."""
    name, text, formatted = outcome.name, outcome.text, outcome.formatted
    if text is None or formatted is None:
        show(outcome.findings, text, outcome.path)
        return (FAILED if outcome.findings[0].code == codes.UNREADABLE_FILE else WRONG), "wrong"
    changed = formatted != text
    if diff:
        write_text("-", unified(shown_name(name), text, formatted, "formatted"), "diff")
    elif name == "-" and not check:
        write_text("-", [formatted], "mil")
    elif changed and not check:
        if not write_back(name, text, formatted):
            return FAILED, "not written"
        if not asks_json():
            tell(f"reformatted {name}")
        return 0, "reformatted"
    elif changed and not asks_json():
        echo(f"would reformat {shown_name(name)}")
    return (WRONG if changed and (check or diff) else 0), "would be reformatted" if changed else "unchanged"
