"""`miltext difftool`: what `git difftool` calls with two versions of a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from miltext.cli.streams import FAILED, colored, fail, write_text
from miltext.diagnostics import MiltextError

MODELS = (".mlmodel", ".mil")
"""The endings of the files that are compared by structure."""


@click.command("difftool")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
def command(old: Path, new: Path) -> None:
    """Show how NEW differs from OLD: models by structure, their other parts by their text, all else as git does.

    git calls this once `miltext git setup` has told it to. A side that there is not, of a file that came or went, is
    the null device.
    """
    sides = [side for side in (old, new) if side.is_file()]
    if not all(side.suffix in MODELS or side.suffix == ".bin" for side in sides):
        _as_git_does(old, new)
        return
    try:
        write_text("-", [_by_structure(old, new)])
    except MiltextError:
        write_text("-", _by_line(old, new))


def _by_structure(old: Path, new: Path) -> str:
    """Raise ModelError where a side is not an ML Program: another kind of model, another file, or nothing."""
    from miltext.diffing import diff
    from miltext.models.opening import load

    return diff(load(old), load(new)).to_text(color=colored(sys.stdout))


def _by_line(old: Path, new: Path) -> list[str]:
    from difflib import unified_diff

    from miltext.review.textconv import describe

    a, b = ("".join(describe(side)).splitlines(keepends=True) if side.is_file() else [] for side in (old, new))
    return list(unified_diff(a, b, str(old), str(new)))


def _as_git_does(old: Path, new: Path) -> None:
    """Show what `git diff` would; without `--no-ext-diff` that would call this again, and so for ever."""
    command = ["git", "--no-pager", "diff", "--no-ext-diff", "--no-index", "--", str(old), str(new)]
    try:
        status = subprocess.call(command)
    except OSError as failure:
        fail(f"git cannot be run: {failure.strerror}")
    sys.exit(FAILED if status > 1 else 0)
