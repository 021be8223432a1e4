"""`miltext build`: a model from text, from a text and its original, or from a compiled model."""

from __future__ import annotations

import click

from miltext.cli.models import force_option, model_output, write_model
from miltext.cli.streams import OptionalNumbers, model_argument, nested_option

EPILOG = """\b
Examples:
  miltext print Model.mlpackage --elide 64 -o model.mil     # then edit model.mil
  miltext build model.mil --from Model.mlpackage -o New.mlpackage
  miltext build model.mil --from Model.mlpackage -o Model.mlpackage --force
  miltext build program.mil -o New.mlpackage                # from text alone
  miltext build Compiled.mlmodelc -o Recovered.mlpackage
  miltext build part.mil --from Pipeline.mlpackage --model 1 -o New.mlpackage
"""


@click.command("build", cls=OptionalNumbers, epilog=EPILOG)
@model_argument
@model_output
@click.option("--from", "original", metavar="MODEL", help="The model that provides everything but the program.")
@nested_option("With --from, the model in its pipelines whose program is replaced: 1, 1/0, or a name.")
@click.option(
    "--weights", metavar="DIR", help="The folder of the weight files that a text by itself names.  [its folder]"
)
@click.option(
    "--externalize",
    type=click.IntRange(min=0),
    is_flag=False,
    flag_value=10,
    metavar="N",
    help="Move immediate constants of N elements or more into the weight file; 10, coremltools' number, without N.",
)
@force_option
def command(
    model: str,
    output: str,
    original: str | None,
    nested: str | None,
    weights: str | None,
    externalize: int | None,
    force: bool,
) -> None:
    """Write MODEL, an edited text as a rule, as an .mlpackage or .mlmodel.

    With --from, all but the program is that model's: description, metadata and weights. A compiled .mlmodelc is
    turned back into a package. Anything else by itself gets a description made from its types.
    """
    if original is None and nested is not None:
        raise click.UsageError("--model chooses in the pipeline that --from names")
    if original is not None and weights is not None:
        raise click.UsageError("with --from, the weights are the original's: leave out --weights")
    write_model(model, output, original=original, model=nested, weights=weights, externalize=externalize, force=force)
