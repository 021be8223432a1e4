"""`miltext describe`: a model's description, as TOML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.many_models import Manner, ManyModels, models_argument
from miltext.cli.streams import STATUSES, open_whole, output_option, show, write_json, write_text

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

EPILOG = """\b
Examples:
  miltext describe Model.mlpackage -o model.toml         # then edit model.toml
  miltext build Model.mlpackage --description model.toml -o New.mlpackage
  miltext describe model.mil -o model.toml               # for a text: made from its types
  miltext build model.mil --description model.toml --weights DIR -o New.mlpackage
"""


@click.command("describe", cls=ManyModels, manner=Manner(alone={"output": "-o"}), epilog=EPILOG + STATUSES)
@models_argument
@output_option("The file to write; an existing description is updated, and keeps its comments.")
@format_option
def command(model: str, output: str) -> None:
    """Show the description of MODEL as TOML, which `miltext build --description` reads.

    The description contains inputs, outputs and states, images and flexible sizes, labels, metadata, functions, and the
    stages of a pipeline. For a program without a model, it follows from the types.
    """
    from miltext.drafting.describing import describe, update
    from miltext.models.outputs import check_output

    check_output(output, "toml", model)
    before = _there(output)
    whole = open_whole(model)
    show(whole.warnings, None, whole.name)
    text = describe(whole) if before is None else update(whole, before, output)
    if text != before and not (output == "-" and asks_json()):
        write_text(output, [text], "toml", model)
    if asks_json():
        write_json(_record(text, output, text != before))


def _record(text: str, output: str, is_new: bool) -> Record:
    """Return the description as JSON, and the file that it was written to; None for a stream."""
    from miltext.toml.reading import read_toml

    where = {"output": None, "written": False} if output == "-" else {"output": output, "written": is_new}
    return {**where, "description": read_toml(text)}


def _there(output: str) -> str | None:
    """Return the present text of the file to write; None for a new file."""
    from miltext.descriptions.model_texts import text_of
    from miltext.files.writing import is_stream

    path = Path(output)
    return None if output == "-" or is_stream(path) or not path.is_file() else text_of(path)
