"""`miltext split`: a model divided into parts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from miltext.building.choices import WriteOptions
from miltext.cli.as_json import asks_json, format_option
from miltext.cli.declared import declared
from miltext.cli.progress import Progress
from miltext.cli.streams import nested_option, open_whole, show, weights_option, write_json, write_text
from miltext.cli.writing_verbs import given_weights, require_one_end

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen

EPILOG = """\b
Examples:
  miltext split Model.mlpackage --parts 3 --dry-run               # the parts, and the values between them
  miltext split Model.mlpackage --parts 3 -o parts                # parts/01_Model.mlpackage, ...
  miltext split Model.mlpackage --max-weights 500MB -o parts
  miltext split Model.mlpackage --at relu_1 --at relu_3 -o parts
  miltext split Model.mlpackage --functions -o functions          # a model of each function
  miltext split Model.mlpackage --parts 3 --pipeline -o Pipeline.mlpackage
\b
Exit status: 0 the parts are written, warnings or not; 1 the split is impossible, and nothing is written; 2 usage,
files.
"""

_FACTORS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
"""The factors of units of bytes, in capitals."""

_BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", re.ASCII)


def byte_count(context: click.Context, option: click.Parameter, words: str | None) -> int | None:
    """Return the number of bytes in the words of an option."""
    if words is None:
        return None
    found = _BYTES.fullmatch(words)
    factor = _FACTORS.get(found[2].upper()) if found is not None else None
    size = int(float(found[1]) * factor) if found is not None and factor is not None else 0
    if size < 1:
        raise click.BadParameter(f"{words!r} is not a number of bytes, such as 500MB, 2GiB or 1000000", context, option)
    return size


@click.command("split", epilog=EPILOG)
@click.argument("model", metavar="MODEL")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    default="",
    help="The folder for the parts, or with --pipeline the .mlpackage to write.",
)
@click.option("--parts", type=click.IntRange(min=1), metavar="N", help="Make N parts with about equal weights.")
@click.option(
    "--max-weights",
    callback=byte_count,
    metavar="SIZE",
    help="Allow so many bytes of weights in each part: 500MB, 2GiB.",
)
@click.option("--at", multiple=True, metavar="VALUE", help="End a part after this value; may be repeated.")
@click.option("--functions", is_flag=True, help="Make a model of each function.")
@click.option("--pipeline", is_flag=True, help="Write one pipeline of the parts.")
@click.option("--dry-run", is_flag=True, help="Write nothing: show the parts.")
@click.option("--function", metavar="NAME", help="The function to divide.  [the only one]")
@nested_option()
@weights_option
@declared(WriteOptions, "ranges")
@format_option
@declared(WriteOptions, "no_loss", "force", "check")
def command(
    model: str,
    output: str,
    parts: int | None,
    max_weights: int | None,
    at: tuple[str, ...],
    functions: bool,
    dry_run: bool,
    nested: str | None,
    weights: tuple[str, ...],
    ranges: tuple[str, ...],
    **choices: Chosen,
) -> None:
    """Divide MODEL into parts, each a model: by the size of weights, by number, at values, or by function.

    Boundaries are where the fewest bytes pass from part to part, and never at a value that an input of a model cannot
    have. A part takes values directly from each part that makes them: run in order, the parts compute the results of
    MODEL. All uses of a state are in one part, and constants are in each part that uses them.

    Each part is shown, with its operations, the bytes of its weights, and the values that pass to other parts.
    """
    if sum((parts is not None, max_weights is not None, bool(at), functions)) != 1:
        raise click.UsageError("choose the parts by one of --parts, --max-weights, --at and --functions")
    if functions and (choices["pipeline"] or choices["function"] is not None):
        raise click.UsageError("--functions makes a model of each function: leave out --pipeline and --function")
    require_one_end(output, dry_run, "the parts", "model" if choices["pipeline"] else "folder")
    from miltext.descriptions.sizes import read_sizes
    from miltext.splitting.splitting import split

    whole = open_whole(model)
    choices |= {"parts": parts, "max_weights": max_weights, "at": at, "functions": functions, "model": nested}
    choices |= {"ranges": read_sizes(ranges), "weights": given_weights(weights)}
    with Progress("writing weights") as bar:
        made = split(whole, output or None, progress=bar.add, expect=bar.expect, **choices)
    show(made.warnings, whole.text, whole.name)
    if asks_json():
        write_json({"output": output or None, **made.to_json()})
    else:
        write_text("-", [made.to_text()])
