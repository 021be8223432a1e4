"""`miltext cost`: the costs of running a model."""

from __future__ import annotations

import sys

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.many_models import ManyModels, models_argument
from miltext.cli.size_verb import limit_option
from miltext.cli.streams import WRONG, nested_option, open_whole, write_json, write_text

EPILOG = """\b
Examples:
  miltext cost Model.mlpackage
  miltext cost Model.mlpackage --shape image=1,3,256,256
  miltext cost Model.mlpackage --against Old.mlpackage      # added work, the largest change first
  miltext cost Model.mlpackage --json | jq '.functions[0].peakBytes'
\b
Exit status: 0 all is well; 1 the input was read and is wrong, or with --against the costs differ; 2 usage, files.
"""


@click.command("cost", cls=ManyModels, epilog=EPILOG)
@models_argument
@click.option(
    "--shape",
    "words",
    metavar="NAME=SIZES",
    multiple=True,
    help="The shape of an input or a state, as in x=1,3,256,256.  [its own, or its default]",
)
@click.option("--function", metavar="NAME", help="Measure only this function.")
@click.option("--against", metavar="OLD", help="Show the growth since this model, which was before.")
@limit_option
@nested_option()
@format_option
def command(
    model: str,
    words: tuple[str, ...],
    function: str | None,
    against: str | None,
    limit: int,
    nested: str | None,
) -> None:
    """Show what MODEL costs to run: multiply-accumulates (macs), bytes read and written, and the most memory of its
    values; by scope, by type of operation, and by operation.

    Only products of `conv`, `conv_transpose`, `linear`, `matmul`, `einsum`, attention and recurrent layers are macs. A
    weight counts with its bytes as stored, each time that an operation reads it. Views such as `reshape` move no bytes.
    The larger branch of a `cond` counts, and one turn of a loop. The numbers follow from the program alone: weight
    files may be missing. Repeated scopes and operations share a row; JSON has all rows, unfolded.
    """
    from miltext.costing.costs import measure_cost
    from miltext.costing.growth import cost_growth
    from miltext.costing.report import cost_growth_lines, cost_growth_record, cost_lines, cost_record
    from miltext.descriptions.sizes import read_sizes

    new, shapes = open_whole(model).at(nested), read_sizes(words, are_fixed=True)
    if against is None:
        cost = measure_cost(new, shapes, function)
        if asks_json():
            write_json(cost_record(cost))
        else:
            write_text("-", [f"{line}\n" for line in cost_lines(cost, limit)])
        return
    growth = cost_growth(open_whole(against).at(nested), new, shapes, function)
    if asks_json():
        write_json(cost_growth_record(growth))
    else:
        write_text("-", [f"{line}\n" for line in cost_growth_lines(growth, limit)])
    sys.exit(WRONG if growth else 0)
