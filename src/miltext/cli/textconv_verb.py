"""`miltext textconv`: what git calls to show a file of a model as text."""

from __future__ import annotations

from pathlib import Path

import click

from miltext.cli.streams import write_text


@click.command("textconv")
@click.argument("file", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Print FILE as text to compare: a .mlmodel, a coremldata.bin, or a weight file.

    git calls this once `miltext git setup` has told it to; it never fails for what the file holds.
    """
    from miltext.review.textconv import describe

    write_text("-", describe(file))
