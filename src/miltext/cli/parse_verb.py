"""`miltext parse`: MIL text, or any other model, to a serialized Program."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from miltext.cli.streams import (
    STATUSES,
    load_model,
    model_argument,
    output_option,
    show_strict_findings,
    write_bytes,
    write_text,
)
from miltext.diagnostics import PrintError, codes, error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.schema.proto import Program

MOST_NAMED = 3
"""The most lost values that a message names."""

EPILOG = """\b
Examples:
  miltext parse model.mil -o program.pb
  miltext parse model.mil -o program.txtpb
  miltext parse model.mil --to txtpb | less
  miltext print Model.mlpackage | miltext parse --to pb > program.pb
"""


@click.command("parse", epilog=EPILOG + STATUSES)
@model_argument
@output_option("Write to FILE; its ending, .pb or .txtpb, selects the format.")
@click.option("--to", "form", type=click.Choice(["pb", "txtpb"]), help="The format: protobuf's binary or its text.")
@click.option(
    "--strict", is_flag=True, help="Refuse constructs that Apple's compiler rejects, and warn about unproven ones."
)
def command(model: str, output: str, form: str | None, strict: bool) -> None:
    """Turn MODEL, usually MIL text, into a serialized Program.

    MODEL is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb; `-` or nothing, in a pipe, is standard input.
    """
    form = form or PurePath(output).suffix[1:]
    if form not in ("pb", "txtpb"):
        raise click.UsageError("name a file that ends in .pb or .txtpb with -o, or the form with --to")
    loaded = load_model(model)
    program = loaded.program
    if strict and loaded.text is not None:
        show_strict_findings(loaded.text, loaded.name)
    data = program.SerializeToString(deterministic=True)
    if not data:
        raise _lossy("an empty Program has no bytes, and its file would read as a damaged one")
    if form == "pb":
        write_bytes(output, [data], "pb", model)
    else:
        write_text(output, [_protobuf_text(program, data)], "txtpb", model)


def _protobuf_text(program: Program, data: bytes) -> str:
    """Return the Program in protobuf's text format, which has only one NaN, if the text reads back equal."""
    from google.protobuf import text_format

    text = text_format.MessageToString(program)
    back = text_format.Parse(text, type(program)())
    if back.SerializeToString(deterministic=True) == data:
        return text
    lost = ", ".join(list(dict.fromkeys(_unlike(program, back)))[:MOST_NAMED]) or "all of this Program"
    raise _lossy(f"protobuf's text cannot express {lost}: its `nan` does not have a sign or a payload; write a .pb")


def _unlike(program: Program, back: Program) -> Iterator[str]:
    """Yield the names of values that did not read back equal."""
    from miltext.schema.walk import values

    for held, read in zip(values(program), values(back), strict=False):
        if held.value.SerializeToString(deterministic=True) != read.value.SerializeToString(deterministic=True):
            yield f"`{held.name}`" + (f" of `{held.function}`" if held.function else "")


def _lossy(message: str) -> PrintError:
    return PrintError([error(codes.UNWRITABLE_PROGRAM, f"{message}; MIL text contains it")])
