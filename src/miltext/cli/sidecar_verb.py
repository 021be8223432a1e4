"""`miltext sidecar`: the text of a model, beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.batches.named_models import whole_model
from miltext.cli.as_json import asks_json, done_so_far, format_option
from miltext.cli.progress import Progress, size_below
from miltext.cli.streams import WRONG, existing, tell, write_json

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

EPILOG = """\b
Examples:
  miltext sidecar Model.mlpackage            # writes Model.mlpackage.mil
  miltext sidecar --check Model.mlpackage    # exit 1 if it is not up to date
  miltext sidecar --full models/*.mlmodelc
  miltext sidecar --draft Model.mlpackage    # inferable types are left out; --check needs the option, too
  miltext sidecar --width 100 Model.mlpackage   # long argument lists broken, an item a line; --check needs it, too

\b
Exit status: 0 all are up to date, or written; 1 with --check, a stale sidecar; or a model is wrong; 2 usage, files.
"""


@click.command("sidecar", epilog=EPILOG)
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--check", is_flag=True, help="Write nothing; list stale sidecars, and exit with 1 if there are any.")
@click.option("--full", is_flag=True, help="Write every operation in full, instead of the compact form.")
@click.option("--draft", is_flag=True, help="Write a draft instead, without parts that `miltext infer` restores.")
@click.option(
    "--width",
    type=click.IntRange(min=1),
    metavar="N",
    help="Break lists of arguments in lines of more than N columns; without it, an operation is one line.",
)
@format_option
def command(models: tuple[str, ...], check: bool, full: bool, draft: bool, width: int | None) -> None:
    """Write the text of each MODEL to a file beside it, for the web pages of GitHub, GitLab and Gitea, which cannot
    show models.

    The text is the model's description and the program in compact form, with weights as digests; its first line names
    the command that made it. A program with errors has no draft, and is written in full. A file inside an .mlpackage or
    .mlmodelc stands for the whole model.
    """
    from miltext.review.sidecar import COMPACT

    if full and draft:
        raise click.UsageError("--full and --draft are two forms of the text: leave out one of them")
    form = "full" if full else "draft" if draft else COMPACT
    files: list[Record] = []
    done_so_far({"files": files})
    for path in dict.fromkeys(map(whole_model, models)):
        existing(str(path))
        for sidecar, text in _made(path, form, width):
            status = _settled(sidecar, text, check)
            files.append({"path": str(sidecar), "model": str(path), "status": status})
            if not asks_json():
                _report(files[-1], form, width)
    if asks_json():
        write_json({"files": files})
    if any(each["status"] == "stale" for each in files):
        sys.exit(WRONG)


def _settled(sidecar: Path, text: str, check: bool) -> str:
    """Write a stale sidecar, unless it is only checked; return its status."""
    from miltext.models.outputs import check_content
    from miltext.review.sidecar import is_current, write

    if is_current(sidecar, text):
        return "current"
    if check:
        return "stale"
    check_content(sidecar, "sidecar")
    write(sidecar, text)
    return "written"


def _report(file: Record, form: str, width: int | None) -> None:
    """Report on standard error the status of a sidecar."""
    from miltext.review.sidecar import options_of

    if file["status"] == "written":
        tell(f"wrote {file['path']}")
    elif file["status"] == "stale":
        remake = " ".join(["miltext sidecar", *options_of(form, width), file["model"]])
        click.echo(f"stale: {file['path']}; to write it: {remake}", err=True)


def _made(path: Path, form: str, width: int | None) -> list[tuple[Path, str]]:
    """Return the sidecars of a model and their texts; this reads all weights."""
    from miltext.review.sidecar import sidecars

    with Progress("reading weights", lambda: size_below(path if path.is_dir() else path.parent)) as progress:
        return list(sidecars(path, form, progress.add, width))
