"""`miltext rename` and `miltext expose`, which make one edit: print, edit the text, build from the original."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from miltext.cli.models import force_option, model_output, write_model
from miltext.cli.streams import nested_option, open_whole

ELIDED = 64
"""Literals of more elements are left out of the text that is edited, and filled in again."""

RENAME_EPILOG = """\b
Examples:
  miltext rename Model.mlpackage var_42 logits -o New.mlpackage
  miltext rename Model.mlpackage x image -o Model.mlpackage --force
  miltext rename model.mil x image -o model.mil --force       # comments kept
"""

EXPOSE_EPILOG = """\b
Examples:
  miltext expose Model.mlpackage conv_3 relu_3 -o Probed.mlpackage
  miltext expose Model.mlpackage hidden --function decode -o Probed.mlpackage
"""


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of both verbs."""
    function_option = click.option("--function", metavar="NAME", help="The function that is meant.")
    for option in (force_option, nested_option(), function_option, model_output):
        command = option(command)
    return command


@click.command("rename", epilog=RENAME_EPILOG)
@click.argument("model", metavar="MODEL")
@click.argument("old")
@click.argument("new")
@_options
def rename(model: str, old: str, new: str, output: str, function: str | None, nested: str | None, force: bool) -> None:
    """Write MODEL with the value OLD named NEW, wherever it is made and used, in inner blocks and the description too.

    Without --function, in every function that has such a value. OUT may also be a .mil.
    """
    from miltext.models.building import editing

    _edit(model, output, nested, force, partial(editing.rename, old=old, new=new, function=function))


@click.command("expose", epilog=EXPOSE_EPILOG)
@click.argument("model", metavar="MODEL")
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@_options
def expose(
    model: str, values: tuple[str, ...], output: str, function: str | None, nested: str | None, force: bool
) -> None:
    """Write MODEL with each VALUE as a further output, and described. OUT may also be a .mil."""
    from miltext.models.building import editing

    _edit(model, output, nested, force, partial(editing.expose, names=values, function=function))


def _edit(name: str, output: str, nested: str | None, force: bool, edit: Callable[..., str]) -> None:
    """Write a model with its text edited; `edit` takes the text and the `path` that errors give.

    An output that ends in `.mil` gets the edited text itself.
    """
    from miltext.models.files import write_file
    from miltext.models.outputs import check_name
    from miltext.models.programs import TextModel
    from miltext.printing.printing import to_text

    whole = open_whole(name)
    chosen = whole.select(nested)
    as_text = Path(output).suffix.lower() == ".mil"
    text = chosen.text or to_text(chosen.program, elide=None if as_text else ELIDED)
    edited = edit(text, path=chosen.name).encode()
    if as_text:
        check_name(Path(output), "mil")
        write_file(Path(output), [edited], replace=force)
        return
    source = TextModel(edited, chosen.name, chosen.path if chosen.kind == "mil" else None)
    source.model_path = chosen.model_path
    original = None if whole.kind in ("mil", "pb", "txtpb") else whole
    write_model(source, output, original=original, model=nested, force=force)
