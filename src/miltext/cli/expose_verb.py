"""`miltext expose`: inner values as outputs of a model."""

from __future__ import annotations

import click

from miltext.cli.edits import edit_model, function_option
from miltext.cli.models import force_option, model_output, nested_option

EPILOG = """\b
Examples:
  miltext expose Model.mlpackage conv_3 relu_3 -o Probed.mlpackage
  miltext expose Model.mlpackage hidden --function decode -o Probed.mlpackage
"""


@click.command("expose", epilog=EPILOG)
@click.argument("model", metavar="MODEL")
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@model_output
@function_option
@nested_option("A model inside a pipeline, by index or name: 1, 1/0.")
@force_option
def command(
    model: str, values: tuple[str, ...], output: str, function: str | None, nested: str | None, force: bool
) -> None:
    """Write MODEL with each VALUE as a further output, and described. OUT may also be a .mil."""

    def edit(text: str, name: str) -> str:
        from miltext.models.building.editing import expose

        return expose(text, values, function=function, path=name)

    edit_model(model, output, nested, force, edit)
