"""`miltext reshape`: a model whose inputs have other sizes."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from miltext.cli.streams import WRONG, colored, load_model, open_whole, show
from miltext.cli.writing_verbs import edit_options, write_edit

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.cli.habits import Chosen
    from miltext.drafting.edits import EditOptions, Reshaped, Written
    from miltext.models.model import Model

EPILOG = """\b
Examples:
  miltext reshape Model.mlpackage image=1,3,256,256 -o New.mlpackage
  miltext reshape Model.mlpackage image=1,3,64..512,64..512 -o New.mlpackage    # any size from 64 to 512
  miltext reshape Decoder.mlpackage tokens=1,64 mask=1,1,64,64 -o New.mlpackage
  miltext reshape Compiled.mlmodelc image=1,3,256,256 -o New.mlpackage
  miltext reshape Pipeline.mlpackage image=1,3,256,256 -o New.mlpackage         # in the model with that input
  miltext reshape model.mil image=1,3,256,256 -o model.mil --force              # comments kept
\b
Exit status: 0 the model is written, warnings or not; 1 the sizes do not fit, or the outputs differ from --verify,
and nothing is written; 2 usage, files.
"""


@click.command("reshape", epilog=EPILOG)
@click.argument("model", metavar="MODEL")
@click.argument("words", nargs=-1, required=True, metavar="NAME=SIZES...")
@click.option(
    "--verify",
    "conversion",
    metavar="MODEL",
    help="A conversion of the same network at the new sizes: if the outputs differ, nothing is written.",
)
@edit_options
def command(
    model: str,
    words: tuple[str, ...],
    output: str,
    function: str | None,
    nested: str | None,
    conversion: str | None,
    **how: Chosen,
) -> None:
    """Write MODEL with other sizes of inputs, in its program and its description. All inferable types are inferred
    again. OUT may also be a .mil.

    A size is a number, or a range as in 64..512. Without --function, the input is changed in every function that has
    it. For a range, four sizes are tried: both ends, the size after the least, and a size in the middle. All must fit.
    Other sizes are not proven.

    In a pipeline, an input that only one ML Program uses is changed in that program; otherwise choose a model with
    --model.

    Constants that follow from the old sizes are computed again: shapes, ends of slices, counts of copies, pads,
    windows, masks, numbers such as one over the root of a size. A warning names each decision left to the user, since a
    number can have several meanings. A constant that cannot be computed again is an error at its place in the output of
    `miltext print`, and nothing is written. With --verify, both models are run on the same random inputs.
    """
    from miltext.descriptions.sizes import read_sizes
    from miltext.drafting.edits import reshaped

    whole, sizes = open_whole(model), read_sizes(words)
    if conversion is not None and not all(size.is_fixed for each in sizes.values() for size in each):
        raise click.UsageError("--verify has one size for each dimension: leave it out, or name one size")

    def write(path: Path, options: EditOptions) -> Written:
        return reshaped(whole, sizes, path, options, partial(_see, conversion, function or "main"))

    write_edit(output, write, function=function, model=nested, **how)


def _see(conversion: str | None, function: str, made: Reshaped) -> None:
    """Show the warnings, and compare the outputs with a conversion's, if there is one."""
    show(made.warnings, made.before, made.model.name)
    if conversion is not None:
        _verify(conversion, function, made.text, made.model)


def _verify(conversion: str, function: str, text: str, model: Model) -> None:
    """Compare a text's outputs with a conversion's; if they differ, show it, and exit with WRONG."""
    from miltext.containers.programs import TextModel
    from miltext.evaluation.comparing.comparing import compare

    made = TextModel(text.encode(), model.name, None)
    made.model_path = model.model_path
    comparison = compare(load_model(conversion), made, function=function, seed=0, weights=model.model_path)
    if not comparison.ok:
        click.echo(comparison.to_text(color=colored(sys.stderr)), err=True, color=True)
        sys.exit(WRONG)
