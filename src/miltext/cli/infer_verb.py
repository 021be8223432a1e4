"""`miltext infer`: a draft, completed."""

from __future__ import annotations

from pathlib import Path

import click

from miltext.cli.streams import output_option, read_stdin, write_text

EPILOG = """\b
Examples:
  miltext infer draft.mil
  miltext infer draft.mil -o model.mil
  miltext infer - < draft.mil | miltext parse --to pb > program.pb
"""


@click.command("infer", epilog=EPILOG)
@click.argument("draft", default="-", metavar="[DRAFT]")
@output_option("Write to FILE instead of standard output.")
def command(draft: str, output: str) -> None:
    """Fill in the types that DRAFT, a .mil, leaves out: those of outputs (`_ y = ...`) and of literals (`axis = 1`).

    The result is canonical MIL text; comments and numbers are kept as they are. `-` or nothing, in a pipe, is standard
    input.
    """
    from miltext.checking.verifier import infer_draft
    from miltext.models.contents import decode

    name = "<stdin>" if draft == "-" else draft
    text = decode(read_stdin() if draft == "-" else Path(draft).read_bytes(), name)
    write_text(output, [infer_draft(text, path=name)], "mil", draft)
