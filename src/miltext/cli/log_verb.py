"""`miltext log`: the commits of git that change a model, each with the change in words."""

from __future__ import annotations

import sys
from contextlib import closing
from itertools import islice
from pathlib import Path

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.streams import FAILED, colored, show_failure, write_json, write_text
from miltext.diagnostics import MiltextError

EPILOG = """\b
Examples:
  miltext log Model.mlpackage
  miltext log Model.mlpackage -n 5
  miltext log Model.mlpackage v1..v2          # the commits between two revisions
  miltext log Model.mlpackage topic           # the history of a branch
  miltext log Model.mlpackage --first-parent  # merged branches as one change
  miltext log Model.mlpackage --format json | jq -r '.commits[].words'
\b
Exit status: 0 the commits are listed, unreadable versions too; 2 usage, errors of git.
"""


@click.command("log", epilog=EPILOG)
@click.argument("model")
@click.argument("revisions", metavar="[REV[..REV]]", required=False, default="HEAD")
@click.option("--max-count", "-n", type=click.IntRange(min=1), metavar="N", help="At most N commits.  [all]")
@click.option("--first-parent", is_flag=True, help="Follow only the first parent of each merge, as git does.")
@format_option
def command(model: str, revisions: str, max_count: int | None, first_parent: bool) -> None:
    """List the commits that change MODEL, a file or folder in git, with the change of each in a line.

    The model is followed through renames. A merge is compared with its first parent.
    """
    from miltext.review.history import History
    from miltext.review.history_lines import entry_record, history_line

    try:
        history = History(Path.cwd(), model, revisions, first_parent=first_parent)
        with closing(history.entries()) as every:
            entries = islice(every, max_count)
            if asks_json():
                write_json({"commits": [entry_record(each, history.name_of) for each in entries]})
                return
            color = colored(sys.stdout)
            for each in entries:
                write_text("-", [history_line(each, history.name_of, color)])  # as it comes
    except MiltextError as error:
        show_failure(error)
        sys.exit(FAILED)
