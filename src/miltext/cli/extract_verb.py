"""`miltext extract`: the part of a model between values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.building.choices import WriteOptions
from miltext.cli.as_json import asks_json, format_option
from miltext.cli.declared import declared
from miltext.cli.progress import Progress
from miltext.cli.streams import nested_option, open_whole, show, weights_option, write_json, write_text
from miltext.cli.writing_verbs import (
    function_option,
    given_weights,
    tell_written,
)

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen
    from miltext.descriptions.changes import DescriptionChange
    from miltext.models.model import Model

EPILOG = """\b
Examples:
  miltext extract Model.mlpackage relu_3 -o Part.mlpackage                     # all operations before relu_3
  miltext extract Model.mlpackage relu_3 --input conv_1 -o Part.mlpackage      # from conv_1 on
  miltext extract Model.mlpackage out --input q --input k -o Part.mlmodelc     # compiled, as Apple's compiler writes it
  miltext extract Model.mlpackage relu_3 --input conv_1                        # print the text of the part
  miltext extract model.mil relu_3 -o part.mil                                 # comments are kept
  miltext extract Pipeline.mlpackage relu_3 --model 1 -o Part.mlpackage        # a part of one of its models
\b
Exit status: 0 the part is written, warnings or not; 1 the cut is impossible, and nothing is written; 2 usage, files.
"""


@click.command("extract", epilog=EPILOG)
@click.argument("model", metavar="MODEL")
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="VALUE",
    help="A value that becomes an input of the part; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    default="-",
    help="The .mlpackage, .mlmodel, .mlmodelc or .mil to write.  [the text, on standard output]",
)
@function_option
@nested_option()
@weights_option
@declared(WriteOptions, "ranges")
@format_option
@declared(WriteOptions, "no_loss", "force", "check")
def command(
    model: str,
    values: tuple[str, ...],
    inputs: tuple[str, ...],
    output: str,
    function: str | None,
    nested: str | None,
    **choices: Chosen,
) -> None:
    """Write the part of MODEL that computes each VALUE, as a separate model with these values as outputs.

    The inputs of the part are each --input, a value of MODEL, and the inputs of MODEL that the part needs. The part
    keeps names, order, and the description and weights that still apply. It contains all writes to a state that it
    uses. The cut can only be at values of a function's own block, not of inner blocks.

    If MODEL has several functions, the part is from the function with the values, unless --function chooses another. In
    a pipeline, it is from one model.
    """
    from miltext.extraction.extracting import model_with, part_text
    from miltext.extraction.wanted import wanted_values

    source = model_with(open_whole(model), wanted_values(values, inputs), nested)
    is_text = output == "-" or Path(output).suffix.lower() == ".mil"
    if is_text and (choices["ranges"] or choices["no_loss"] or choices["weights"]):
        message = "a text has no description and no weights: name a model with -o, or leave the options out"
        raise click.UsageError(message)
    if output == "-":
        text, found = part_text(source, values, inputs, function=function)
        show(found, source.text, source.name)
        if asks_json():
            write_json({"output": None, "changes": [], "text": text})
        else:
            write_text(output, [text], "mil")
    else:
        _write(source, output, values, inputs=inputs, function=function, **choices)


def _write(
    source: Model,
    output: str,
    values: tuple[str, ...],
    *,
    ranges: tuple[str, ...],
    weights: tuple[str, ...],
    **how: Chosen,
) -> None:
    """Write a part, and show a bar, warnings and the changes to the description."""
    from miltext.descriptions.sizes import read_sizes
    from miltext.extraction.extracting import extract

    changes: list[DescriptionChange] = []
    how["ranges"] = read_sizes(ranges)
    with Progress("writing weights") as bar:
        warnings = extract(
            source,
            values,
            output,
            weights=given_weights(weights),
            progress=bar.add,
            expect=bar.expect,
            on_change=changes.append,
            **how,
        )
    show(warnings, source.text, source.name)
    tell_written(output, changes)
