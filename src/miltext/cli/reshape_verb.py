"""`miltext reshape`: a model whose inputs have other sizes."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from miltext.cli.streams import WRONG, colored, load_model, open_whole, show
from miltext.cli.writing_verbs import edit_model, edit_options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from miltext.cli.habits import Chosen
    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import Diagnostic

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
    from miltext.pipelines.takers import only_taker

    sizes, whole = read_sizes(words), open_whole(model)
    if nested is None and whole.is_pipeline:
        nested = only_taker(whole, sizes)
    ranges = {name: each for name, each in sizes.items() if not all(size.is_fixed for size in each)}
    if ranges and conversion is not None:
        raise click.UsageError("--verify has one size for each dimension: leave it out, or name one size")

    drops_ranges = whole.is_compiled and not output.lower().endswith(".mil")  # build removes their attribute
    edit = partial(_reshaped, sizes, function, whole.select(nested).model_path, conversion, drops_ranges)
    edit_model(whole, output, nested, edit, elide=None, **(how | {"ranges": ranges} if ranges else how))


def _reshaped(
    sizes: Mapping[str, Sizes],
    function: str | None,
    folder: Path | None,
    conversion: str | None,
    drops_ranges: bool,
    text: str,
    path: str,
) -> str:
    """Return a text with other sizes, and show the warnings."""
    from miltext.drafting.reshaping import reshape
    from miltext.printing.flexible_shapes import ATTRIBUTE

    found: list[Diagnostic] = []
    edited = reshape(text, sizes, function=function, path=path, weights=folder, on_warning=found.append)
    show([each for each in found if not drops_ranges or ATTRIBUTE not in each.message], text, path)
    if conversion is not None:
        _verify(edited, path, folder, conversion, function or "main")
    return edited


def _verify(text: str, name: str, folder: Path | None, conversion: str, function: str) -> None:
    """Compare a text's outputs with a conversion's; if they differ, show it, and exit with WRONG."""
    from miltext.containers.programs import TextModel
    from miltext.evaluation.comparing.comparing import compare

    made = TextModel(text.encode(), name, None)
    made.model_path = folder
    comparison = compare(load_model(conversion), made, function=function, seed=0, weights=folder)
    if not comparison.ok:
        click.echo(comparison.to_text(color=colored(sys.stderr)), err=True, color=True)
        sys.exit(WRONG)
