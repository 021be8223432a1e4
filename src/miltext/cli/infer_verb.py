"""`miltext infer`: a draft, completed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from miltext.cli.streams import STDIN, WRONG, existing, output_option, read_stdin, show, write_text

EPILOG = """\b
Examples:
  miltext infer draft.mil
  miltext infer draft.mil -o model.mil
  miltext infer - < draft.mil | miltext parse --to pb > program.pb
  miltext build draft.mil -o New.mlpackage   # infers, and makes a model of the result
\b
Exit status: 0 the text is written, warnings or not; 1 errors were found, and nothing is written; 2 usage, files.
"""


MODELS = (".mlmodel", ".pb", ".txtpb")
"""How the names of files end that are models and no texts."""

_NO_DRAFT = "infer takes the text of a draft, a .mil, and {}; `miltext print` writes the text of a model"


@click.command("infer", epilog=EPILOG)
@click.argument("draft", default="-", metavar="[DRAFT]")
@output_option("Write to FILE instead of standard output.")
@click.option("--names", is_flag=True, help="Give each operation without one the attribute `name`: its first output's.")
@click.option(
    "--consts", is_flag=True, help="Write each literal that is an argument as a `const` before its operation."
)
@click.option("--defaults", is_flag=True, help="Write out the defaults of parameters that are left out.")
def command(draft: str, output: str, **options: bool) -> None:
    """Fill in the types that DRAFT, a .mil, leaves out: those of outputs (`y = ...`) and of literals (`axis = 1`).

    The result is canonical MIL text; comments and numbers are kept as they are. All problems are reported as by
    `miltext check`. `-` or nothing, in a pipe, is standard input.
    """
    from miltext.checking.verifier import complete
    from miltext.models.contents import decode, is_binary, read_file
    from miltext.syntax.vocabulary import DRAFT_WORDS

    if draft != "-" and os.path.isdir(existing(draft)):
        raise click.UsageError(_NO_DRAFT.format(f"{draft} is a folder"))
    name, ending = STDIN if draft == "-" else draft, os.path.splitext(draft)[1].lower()
    data = read_stdin() if draft == "-" else read_file(Path(draft))
    if ending in MODELS or (ending != ".mil" and is_binary(data)):
        raise click.UsageError(_NO_DRAFT.format(f"{name} is none"))
    text = decode(data, name)
    completed = complete(text, name, [word for word in DRAFT_WORDS if options[word]])
    show(completed.diagnostics, text, name)
    if completed.text is None:
        sys.exit(WRONG)
    write_text(output, [completed.text], "mil", draft)
