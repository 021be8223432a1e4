"""`miltext rename`: another name for a value, an input or an output."""

from __future__ import annotations

import click

from miltext.cli.edits import edit_model, function_option
from miltext.cli.models import force_option, model_output, nested_option

EPILOG = """\b
Examples:
  miltext rename Model.mlpackage var_42 logits -o New.mlpackage
  miltext rename Model.mlpackage x image -o Model.mlpackage --force
  miltext rename model.mil x image -o model.mil --force       # comments kept
"""


@click.command("rename", epilog=EPILOG)
@click.argument("model", metavar="MODEL")
@click.argument("old")
@click.argument("new")
@model_output
@function_option
@nested_option("A model inside a pipeline, by index or name: 1, 1/0.")
@force_option
def command(model: str, old: str, new: str, output: str, function: str | None, nested: str | None, force: bool) -> None:
    """Write MODEL with the value OLD named NEW, wherever it is made and used, in inner blocks and the description too.

    Without --function, in every function that has such a value. OUT may also be a .mil.
    """

    def edit(text: str, name: str) -> str:
        from miltext.models.building.editing import rename

        return rename(text, old, new, function=function, path=name)

    edit_model(model, output, nested, force, edit)
