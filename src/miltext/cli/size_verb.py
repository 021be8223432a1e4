"""`miltext size`: the places of a model's bytes, and its growth."""

from __future__ import annotations

import sys

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.many_models import ManyModels, models_argument
from miltext.cli.streams import WRONG, Decorator, nested_option, open_whole, write_json, write_text

EPILOG = """\b
Examples:
  miltext size Model.mlpackage
  miltext size Model.mlpackage --limit 100
  miltext size Model.mlpackage --against Old.mlpackage    # the growth, the largest change first
  miltext size Model.mlpackage --json | jq '.weights[0]'
\b
Exit status: 0 all is well; 1 the input was read and is wrong, or with --against the sizes differ; 2 usage, files.
"""

MOST = 10
"""The most rows of each table by default."""

limit_option: Decorator = click.option(
    "--limit", type=click.IntRange(1), default=MOST, metavar="N", help=f"Rows of each table.  [{MOST}]"
)


@click.command("size", cls=ManyModels, epilog=EPILOG)
@models_argument
@click.option("--against", metavar="OLD", help="Show the growth since this model, which was before.")
@limit_option
@nested_option()
@format_option
def command(model: str, against: str | None, limit: int, nested: str | None) -> None:
    """Show the bytes of MODEL's weights: by scope, by the operations that use them, by weight, and by weight file.

    Scopes are the common beginnings of names. Repeated scopes, and weights of one form whose names differ in their
    first number, share a row. A pipeline is measured whole. A draft is completed first. JSON has all rows, unfolded.
    """
    from miltext.sizing.growth import growth_between
    from miltext.sizing.report import growth_lines, growth_record, size_lines, size_record
    from miltext.sizing.sizes import measure

    new = open_whole(model).at(nested)
    if against is None:
        size = measure(new)
        if asks_json():
            write_json(size_record(size))
        else:
            write_text("-", [f"{line}\n" for line in size_lines(size, limit)])
        return
    growth = growth_between(open_whole(against).at(nested), new)
    if asks_json():
        write_json(growth_record(growth))
    else:
        write_text("-", [f"{line}\n" for line in growth_lines(growth, limit)])
    sys.exit(WRONG if growth else 0)
