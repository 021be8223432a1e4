"""`miltext locate`: the operation at Core ML's `model.mil:LINE:COL`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.streams import STATUSES, compiled_text, load_model, nested_option, write_json, write_text
from miltext.diagnostics import codes

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record
    from miltext.parsing.locating import Located

EPILOG = """\b
Examples:
  miltext locate Model.mlpackage 131:12
  miltext locate Compiled.mlmodelc 131
  miltext locate Model.mlpackage "model.mil:242:12: error: invalid axis"
"""

_PLACE = re.compile(r"(?:(?![0-9]+:).*?:)??([0-9]{1,4000})(?::([0-9]{1,4000}))?(?::(?:\s.*)?)?", re.DOTALL)
"""A line with or without a column; before it, perhaps a file's name, which is not a number; after it, perhaps a
message.
"""

LONGEST = 2000
"""The most shown characters of an operation's text; longer ones lose their middle."""


@click.command("locate", epilog=EPILOG + STATUSES)
@click.argument("model", metavar="MODEL")
@click.argument("place", metavar="LINE[:COL]")
@nested_option()
@format_option
def command(model: str, place: str, nested: str | None) -> None:
    """Show the operation at LINE[:COL] of the model.mil that Core ML made from MODEL.

    A .mil or .mlmodelc contains this text; for any other model, it is the text that Apple's compiler writes. LINE
    counts from 1 and COL from 0, as in Core ML's errors; miltext's own messages count columns from 1. A place in the
    space before a line's first operation counts as that operation.
    """
    from miltext.files.refusals import refusal
    from miltext.parsing.locating import at_place
    from miltext.parsing.parser import parse_tree

    loaded = load_model(model, nested)
    numbers = _PLACE.fullmatch(place)
    if numbers is None:
        raise click.UsageError(f"{place!r} is not a place: give LINE or LINE:COL")
    text = compiled_text(loaded, loaded.program) if loaded.text is None else loaded.text
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
