"""`miltext parse`: MIL text, or any other model, to a serialized Program."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from miltext.cli.streams import load_model, model_argument, output_option, show_strict_findings, write_bytes, write_text

if TYPE_CHECKING:
    from miltext.proto import Program

EPILOG = """\b
Examples:
  miltext parse model.mil -o program.pb
  miltext parse model.mil -o program.txtpb
  miltext parse model.mil --to txtpb | less
  miltext print Model.mlpackage | miltext parse --to pb > program.pb
"""


@click.command("parse", epilog=EPILOG)
@model_argument
@output_option("Write to FILE; its ending, .pb or .txtpb, tells the form.")
@click.option("--to", "form", type=click.Choice(["pb", "txtpb"]), help="The form: protobuf's binary or its text.")
@click.option(
    "--strict", is_flag=True, help="Refuse what Apple's compiler does not take, and warn of what is unproven."
)
def command(model: str, output: str, form: str | None, strict: bool) -> None:
    """Turn MODEL, MIL text as a rule, into a serialized Program.

    MODEL is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb; `-` or nothing, in a pipe, is standard input.
    """
    form = form or PurePath(output).suffix[1:]
    if form not in ("pb", "txtpb"):
        raise click.UsageError("name a file that ends in .pb or .txtpb with -o, or the form with --to")
    loaded = load_model(model)
    program = loaded.program
    if strict and loaded.text is not None:
        show_strict_findings(loaded.text, loaded.name)
    if form == "pb":
        write_bytes(output, [program.SerializeToString(deterministic=True)], "pb", model)
    else:
        write_text(output, [_protobuf_text(program)], "txtpb", model)


def _protobuf_text(program: Program) -> str:
    from google.protobuf import text_format

    return text_format.MessageToString(program)
