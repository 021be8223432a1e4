"""`miltext git`: models as text in git's own commands; and the verbs that git calls, textconv and difftool."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli import Commands
from miltext.cli.as_json import asks_json, format_option
from miltext.cli.streams import FAILED, STATUSES, colored, fail, write_json, write_text
from miltext.diagnostics import MiltextError

if TYPE_CHECKING:
    from miltext.review.git import Installation

EPILOG = """\b
Examples:
  miltext git setup --dry-run            # show the changes, and their files
  miltext git setup                      # for this repository
  miltext git setup --global             # for all of yours
  miltext git setup --draft              # programs as drafts, without inferred types
  git log -p -- Model.mlpackage
  git difftool -y -- '*.mlmodel'         # the structural diff
  miltext git undo
\b
Exit status: 0 all is well; 2 usage, errors of git.
"""

TEXTCONV_EPILOG = (
    """\b
Example:
  miltext textconv Model.mlmodel
"""
    + STATUSES
)

DIFFTOOL_EPILOG = """\b
Example:
  miltext difftool Old.mlmodel New.mlmodel
\b
Exit status: 0 the differences, if any, are shown; 2 usage, files.
"""

MODELS = (".mlmodel", ".mil")
"""The endings of files compared by structure."""

_everywhere = click.option("--global", "everywhere", is_flag=True, help="For all repositories of the user.")
_dry_run = click.option("--dry-run", is_flag=True, help="Write nothing; show the changes, and their files.")
_build_info = click.option(
    "--build-info", is_flag=True, help="Show the tools that made a model, and the date, which differ in each export."
)
_draft = click.option("--draft", is_flag=True, help="Show programs as drafts, without inferable parts.")


@click.group("git", cls=Commands, epilog=EPILOG)
def git() -> None:
    """Let `git diff`, `git log -p` and `git show` print models as MIL text, and `git merge` merge them.

    Models and the parts of compiled ones are shown as text, weight files as a table of digests, and `git difftool`
    compares models by structure. Texts and packages are merged operation by operation. No committed file is changed.
    """


@git.command("setup", epilog=EPILOG)
@_everywhere
@_dry_run
@_draft
@_build_info
@format_option
def setup(everywhere: bool, dry_run: bool, draft: bool, build_info: bool) -> None:
    """Write the attributes and the configuration; run it again after an upgrade of miltext, with the same options.

    A program with errors has no draft, and is shown in full.
    """
    with _installation(everywhere, " --draft" * draft + " --build-info" * build_info) as installation:
        if not dry_run:
            installation.install()
        if asks_json():
            write_json({**installation.record(), "written": not dry_run})
        else:
            write_text("-", [installation.plan(), "\n"])


@git.command("undo", epilog=EPILOG)
@_everywhere
def undo(everywhere: bool) -> None:
    """Remove everything that `setup` wrote."""
    with _installation(everywhere) as installation:
        installation.remove()


@contextmanager
def _installation(everywhere: bool, options: str = "") -> Iterator[Installation]:
    """Yield the settings for git, and end the command at an error of git."""
    from miltext.review.git import GitError, Installation

    try:
        yield Installation(Path.cwd(), everywhere, options)
    except GitError as failure:
        fail(str(failure))


@click.command("textconv", epilog=TEXTCONV_EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@_draft
@_build_info
@click.option("--keep", metavar="PATH", help="Also write the text to PATH, where git's texts are kept, if that can be.")
def textconv(file: Path, draft: bool, build_info: bool, keep: str | None) -> None:
    """Print FILE as text to compare: a .mlmodel, a coremldata.bin, or a weight file.

    git calls this after `miltext git setup`; it never fails because of the contents of the file.
    """
    from miltext.review.kept_texts import FOLDER, is_place, kept
    from miltext.review.textconv import ModelForm, file_text

    if keep is not None and not is_place(Path(keep)):
        raise click.UsageError(f"--keep takes only a path in git's folder {FOLDER}: write the text elsewhere with `>`")
    text = file_text(file, ModelForm(draft, build_info))
    write_text("-", text if keep is None else kept(Path(keep), text))


@click.command("difftool", epilog=DIFFTOOL_EPILOG)
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
def difftool(old: Path, new: Path) -> None:
    """Show how NEW differs from OLD: models by structure, their other parts by their text, other files as git does.

    git calls this after `miltext git setup`. For a file that was added or removed, the missing side is the null device.
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
    """Raise ModelError if a side is not an ML Program: another kind of model, another file, or nothing."""
    from miltext.containers.opening import load
    from miltext.diffing import diff

    return diff(load(old), load(new)).to_text(color=colored(sys.stdout))


def _by_line(old: Path, new: Path) -> list[str]:
    from difflib import unified_diff

    from miltext.review.textconv import file_text

    a, b = ("".join(file_text(side)).splitlines(keepends=True) if side.is_file() else [] for side in (old, new))
    return list(unified_diff(a, b, str(old), str(new)))


def _as_git_does(old: Path, new: Path) -> None:
    """Show the output of `git diff`; without `--no-ext-diff` it would call this verb again, without end."""
    import subprocess

    command = ["git", "--no-pager", "diff", "--no-ext-diff", "--no-index", "--", str(old), str(new)]
    try:
        status = subprocess.call(command)
    except OSError as failure:
        fail(f"git cannot be run: {failure.strerror}")
    sys.exit(FAILED if status > 1 else 0)
