"""`miltext convert-weights`: a model's weights and types in another precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from miltext.building.choices import WriteOptions
from miltext.cli.as_json import asks_json, format_option
from miltext.cli.declared import declared
from miltext.cli.progress import Progress, weights_bar
from miltext.cli.streams import STATUSES, model_argument, nested_option, open_whole, show, write_text
from miltext.cli.writing_verbs import (
    given_weights,
    model_output,
    tell_written,
)

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen
    from miltext.conversion.converting import Conversion
    from miltext.descriptions.changes import DescriptionChange
    from miltext.models.model import Model

FORM = 2
"""The version of this verb's JSON; in `Conversion.to_json`, `warnings` is a list."""

TEXTS = ("mil", "pb", "txtpb")
"""The kinds of programs without a model around them."""

EPILOG = """\b
Examples:
  miltext convert-weights Model.mlpackage --to fp16 -o Half.mlpackage
  miltext convert-weights Model.mlpackage --to fp16 --io -o Half.mlpackage    # inputs and outputs, too
  miltext convert-weights Half.mlpackage --to fp32 -o Single.mlpackage
  miltext convert-weights Model.mlpackage --to fp16 -o Model.mlpackage --force
  miltext compare Model.mlpackage Half.mlpackage                              # the effect on the outputs
"""


@click.command("convert-weights", epilog=EPILOG + STATUSES)
@model_argument
@click.option("--to", type=click.Choice(["fp16", "fp32"]), required=True, help="The data type to convert to.")
@model_output
@click.option(
    "--io", is_flag=True, help="Convert inputs, outputs and states, too, except images, and update the description."
)
@nested_option()
@click.option(
    "--weights",
    multiple=True,
    metavar="DIR|NAME=FILE",
    help="The place of a text's weight files: a folder or model, or a file for a name in the text; "
    "may be repeated.  [its folder]",
)
@click.option("--full", is_flag=True, help="List all constants with losses, not only the ten with the largest losses.")
@format_option
@declared(WriteOptions, "ranges", "no_loss", "force", "check")
def command(
    model: str,
    to: str,
    output: str,
    io: bool,
    nested: str | None,
    weights: tuple[str, ...],
    full: bool,
    ranges: tuple[str, ...],
    **choices: bool,
) -> None:
    """Write MODEL with all fp32 values inside the program as fp16, or the reverse.

    Constants, types and casts change together. Inputs, outputs and states keep their types, with casts after and before
    them, and the description does not change. Operations without fp16 stay fp32, and so do operations with constants
    beyond its range. Losses are reported: the largest error of each constant, and values that became 0.
    """
    from miltext.descriptions.sizes import read_sizes

    whole = open_whole(model)
    if weights and whole.kind not in TEXTS:
        raise click.UsageError("MODEL has weights of its own: leave out --weights")
    requested = {"to": to, "output": output, "io": io, "weights": given_weights(weights), "ranges": read_sizes(ranges)}
    made, changes = _convert(whole, nested, **requested, **choices)
    tell_written(output, changes, {**made.to_json(), "form": FORM})
    if not asks_json():
        write_text("-", [made.to_text(full=full)])


def _convert(whole: Model, nested: str | None, **choices: Chosen) -> tuple[Conversion, list[DescriptionChange]]:
    """Convert a model, and show bars and warnings; return also the changes to its description."""
    from miltext.conversion.converting import convert_weights

    source = whole.select(nested)
    changes: list[DescriptionChange] = []
    reading = Progress("reading weights") if source.kind == "mil" else weights_bar("reading weights", source)
    with reading, Progress("writing weights") as bar:
        made = convert_weights(
            whole,
            model=nested,
            reading=reading.add,
            progress=bar.add,
            expect=bar.expect,
            on_change=changes.append,
            **choices,
        )
    show(made.warnings, whole.text, whole.name)
    return made, changes
