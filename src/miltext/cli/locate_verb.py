"""`miltext locate`: the operation at Core ML's `model.mil:LINE:COL`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.streams import (
    STATUSES,
    compiled_text,
    naming_failures,
    nested_option,
    open_whole,
    write_json,
    write_text,
)
from miltext.diagnostics import Note, codes

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record
    from miltext.models.model import Model
    from miltext.parsing.locating import Located

EPILOG = """\b
Examples:
  miltext locate Model.mlpackage 131:12
  miltext locate Compiled.mlmodelc 131
  miltext locate Model.mlpackage "model.mil:242:12: error: invalid axis"
  miltext locate Pipeline.mlmodelc "model0/model.mil:5:12: error: invalid axis"
  miltext locate Pipeline.mlpackage 5:12 --model 0
"""

_PLACE = re.compile(r"(?:(?![0-9]+:).*?:)??([0-9]{1,4000})(?::([0-9]{1,4000}))?(?::(?:\s.*)?)?", re.DOTALL)
"""A line with or without a column; before it, perhaps a file's name, which is not a number; after it, perhaps a
message.
"""

_CITED = re.compile(r"(?:^|\.mlmodelc[\\/])((?:model[0-9]+[\\/])+)[^\\/:]*\.mil:")
"""The folders of a model in a compiled pipeline, in the path of a cited model.mil."""

_CHOOSE = Note("name it with `--model 0`, or give its path in Core ML's error, as in `model0/model.mil:242:12`")

_NO_COMPILED_TEXT = Note(
    "the text of Apple's compiler cannot be reproduced for this model: take model.mil from the compiled model, and "
    "locate in that"
)

LONGEST = 2000
"""The most shown characters of an operation's text; longer ones lose their middle."""


@click.command("locate", epilog=EPILOG + STATUSES)
@click.argument("model", metavar="MODEL")
@click.argument("place", metavar="LINE[:COL]", required=False)
@nested_option()
@format_option
def command(model: str, place: str | None, nested: str | None) -> None:
    """Show the operation at LINE[:COL] of the model.mil that Core ML made from MODEL.

    A .mil or .mlmodelc contains this text; for any other model, it is the text that Apple's compiler writes. In a
    pipeline, --model chooses the model, unless the path in the error does, as in `model0/model.mil:242:12`. LINE counts
    from 1 and COL from 0, as in Core ML's errors; miltext's own messages count columns from 1. A place in the space
    before a line's first operation counts as that operation.
    """
    from miltext.files.refusals import refusal
    from miltext.parsing.locating import at_place
    from miltext.parsing.parser import parse_tree

    if place is None:
        raise click.UsageError(f"Missing argument '{_missing(model)}'.")
    whole = open_whole(model)
    numbers = _PLACE.fullmatch(place)
    if numbers is None:
        raise click.UsageError(f"{place!r} is not a place: give LINE or LINE:COL")
    with naming_failures(whole.name, {codes.UNKNOWN_PIPELINE_MODEL: _CHOOSE}):
        loaded = whole.select(_cited_model(place) if nested is None and whole.is_pipeline else nested)
    text = _compilers_text(loaded) if loaded.text is None else loaded.text
    root = parse_tree(text, loaded.name, whole=True).root
    line, column = int(numbers[1]), int(numbers[2]) if numbers[2] else None
    shown = ":".join(filter(None, numbers.groups()))
    try:
        found = at_place(text, root, line, column)
    except IndexError as outside:
        raise refusal(codes.POSITION_OUTSIDE_TEXT, f"{shown} is outside the text: {outside}", loaded.name) from None
    if found is None:
        parse_tree(text, loaded.name)  # which reports where an apparent operation breaks the syntax
        raise refusal(codes.POSITION_OUTSIDE_TEXT, f"no operation found at {shown}", loaded.name)
    if asks_json():
        write_json(_record(text, found))
    else:
        write_text("-", [_shown(text, found)])


def _missing(model: str) -> str:
    """Return the argument that a call with a single one lacks."""
    is_place = _PLACE.fullmatch(model) is not None and not os.path.lexists(model)
    return "MODEL" if is_place else "LINE[:COL]"


def _cited_model(place: str) -> str | None:
    """Return the place in a pipeline of the model whose text an error cites: `1/0` for `model1/model0/model.mil:3`."""
    cited = _CITED.search(place)
    return None if cited is None else "/".join(re.findall("[0-9]+", cited[1]))


def _compilers_text(model: Model) -> str:
    """Return the text that Apple's compiler writes of a model. Raise PrintError."""
    with naming_failures(model.name, {codes.NOT_APPLE_SYNTAX: _NO_COMPILED_TEXT}):
        return compiled_text(model, model.program)


def _record(text: str, found: Located) -> Record:
    from miltext.diagnostics.reports import place

    code = text[found.span.start : found.span.end]
    names = ("type", "outputs", "name", "function", "depth")
    return {**{name: getattr(found, name) for name in names}, **place(text, found.span), "text": code}


def _shown(text: str, found: Located) -> str:
    code = text[found.span.start : found.span.end]
    if len(code) > LONGEST:
        code = f"{code[: LONGEST // 2]} ... {code[-LONGEST // 2 :]}"
    rows = {
        "operation": found.type,
        "outputs": ", ".join(found.outputs) or "none",
        "name": found.name or "none",
        "function": found.function + (f", {found.depth} blocks deep" if found.depth else ""),
    }
    return "".join(f"{heading + ':':<11}{content}\n" for heading, content in rows.items()) + f"\n{code}\n"
