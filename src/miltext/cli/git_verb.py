"""`miltext git`: models as text in git's own commands."""

from __future__ import annotations

from pathlib import Path

import click

from miltext.cli.streams import fail, write_text
from miltext.review.git import GitError, Installation

EPILOG = """\b
Examples:
  miltext git setup --dry-run            # what it would write, and where
  miltext git setup                      # for this repository
  miltext git setup --global             # for all of yours
  git log -p -- Model.mlpackage
  git difftool -y -- '*.mlmodel'         # the structural diff
  miltext git undo
"""

_everywhere = click.option("--global", "everywhere", is_flag=True, help="For all repositories of the user.")
_dry_run = click.option("--dry-run", is_flag=True, help="Write nothing; show what would be written, and where.")


@click.group("git", epilog=EPILOG)
def command() -> None:
    """Let `git diff`, `git log -p` and `git show` print models as MIL text.

    Models and the parts of compiled ones are shown as text, weight files as a table of digests, and `git difftool`
    compares models by structure. Nothing is written into what is committed.
    """


@command.command("setup", epilog=EPILOG)
@_everywhere
@_dry_run
def setup(everywhere: bool, dry_run: bool) -> None:
    """Write the attributes and the configuration; run it again after an upgrade of miltext."""
    try:
        installation = Installation(Path.cwd(), everywhere)
        if not dry_run:
            installation.install()
        write_text("-", [installation.plan(), "\n"])
    except GitError as failure:
        fail(str(failure))


@command.command("undo", epilog=EPILOG)
@_everywhere
def undo(everywhere: bool) -> None:
    """Take away what `setup` wrote."""
    try:
        Installation(Path.cwd(), everywhere).remove()
    except GitError as failure:
        fail(str(failure))
