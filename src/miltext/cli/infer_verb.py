"""`miltext infer`: a draft, completed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.habits import place_of, shown_name
from miltext.cli.streams import (
    FAILED,
    WRONG,
    existing,
    output_option,
    read_stdin,
    show,
    write_back,
    write_json,
    write_text,
)

EPILOG = """\b
Examples:
  miltext infer draft.mil
  miltext infer draft.mil -o model.mil
  miltext infer draft.mil --names --consts --defaults   # as coremltools writes it
  miltext infer model.mil --all -o model.mil   # after an edit of an input's shape
  miltext infer - < draft.mil | miltext parse --to pb > program.pb
  miltext build draft.mil -o New.mlpackage   # infers, and makes a model of the result
\b
Exit status: 0 the text is written, warnings or not; 1 errors were found, and nothing is written; 2 usage, files.
"""


MODELS = (".mlmodel", ".pb", ".txtpb")
"""The ends of the names of models that are not texts."""

_NO_DRAFT = "infer takes the text of a draft, a .mil, and {}; `miltext print` writes the text of a model"


@click.command("infer", epilog=EPILOG)
@click.argument("draft", default="-", metavar="[DRAFT]")
@output_option("Write to FILE instead of standard output.")
@click.option("--all", "anew", is_flag=True, help="Also infer the written types of outputs again.")
@click.option("--names", is_flag=True, help="Give each operation without a `name` the name of its first output.")
@click.option("--consts", is_flag=True, help="Move each literal argument to a `const` before its operation.")
@click.option("--defaults", is_flag=True, help="Write out the defaults of omitted parameters.")
@format_option
def command(draft: str, output: str, anew: bool, **options: bool) -> None:
    """Add the types that DRAFT, a .mil, omits: of outputs (`y = ...`) and of literals (`axis = 1`).

    The result is canonical MIL text; comments and numbers are kept as they are. It contains the text of DRAFT, and
    types; a head such as `program(1.3) $draft(names, consts)` adds more, as the options do. All problems are reported
    as by `miltext check`. `-` or nothing, in a pipe, is standard input.

    With --all, DRAFT may be any MIL text, and FILE the same file if it is not a draft: all inferable types of outputs
    are inferred again. So a new shape of an input is one edit; `miltext reshape` also makes this edit. A constant that
    fits only the old sizes is an error with its name.

    Arrays that DRAFT names, as in `$npy("w.npy")`, are read from its folder. The result also names them, and is not
    written to a folder without them.
    """
    from miltext.drafting.draft import complete, complete_anew
    from miltext.syntax.names import DRAFT_WORDS

    name = shown_name(draft)
    text = _read(draft, name)
    completed = (complete_anew if anew else complete)(text, name, [word for word in DRAFT_WORDS if options[word]])
    show(completed.diagnostics, text, name)
    if completed.text is None:
        _report(None, None)
        sys.exit(WRONG)
    if anew and _is_itself(draft, output, text):
        if not write_back(output, text, completed.text):
            sys.exit(FAILED)
    else:
        _write(completed.text, draft, output)
    _report(*((None, completed.text) if output == "-" else (output, None)))


def _read(draft: str, name: str) -> str:
    """Return the text of a draft. Refuse folders, models and dumps."""
    from miltext.dumps.recognition import is_dump
    from miltext.files.contents import decode, is_binary, read_file
    from miltext.files.foreign import refuse_foreign
    from miltext.parsing.parser import parse

    if draft != "-" and os.path.isdir(existing(draft)):
        raise click.UsageError(_NO_DRAFT.format(f"{draft} is a folder"))
    ending = os.path.splitext(name)[1].lower()
    data = read_stdin() if draft == "-" else read_file(Path(draft))
    refuse_foreign(data, name)
    if ending in MODELS or (data and ending != ".mil" and is_binary(data)):
        raise click.UsageError(_NO_DRAFT.format(f"{name} is none"))
    text = decode(data, name)
    if is_dump(text):
        parse(text, path=name)  # a dump is not a draft: the error of its types is that of any reader of programs
    return text


def _write(text: str, draft: str, output: str) -> None:
    """Write a completed draft, except into the JSON object."""
    if output != "-":
        from miltext.checking.moved_texts import require_arrays

        require_arrays(text, Path(output), shown_name(draft), Path(place_of(draft)).parent)
    if output != "-" or not asks_json():
        write_text(output, [text], "mil", draft)


def _report(output: str | None, text: str | None) -> None:
    """Write the JSON object, if selected, with the path of the output or, without one, with the text."""
    if asks_json():
        write_json({"output": output, "text": text})


def _is_itself(draft: str, output: str, text: str) -> bool:
    """Return whether a text is written to its own file, and is not a draft, which would be lost."""
    from miltext.checking.left_out import program_of
    from miltext.parsing.parser import attempt

    if "-" in (draft, output) or not os.path.exists(output) or not os.path.samefile(draft, output):
        return False
    return attempt(text) is not None or program_of(text, ())[0] is not None
