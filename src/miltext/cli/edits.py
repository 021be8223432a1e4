"""How the verbs that make one edit work: print, edit the text, build from the original."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from miltext.cli.models import open_whole, write_model

ELIDED = 64
"""Literals of more elements are left out of the text that is edited, and filled in again."""


def function_option(function: Callable[..., None]) -> Callable[..., None]:
    """Return the `--function` option."""
    return click.option("--function", "function", metavar="NAME", help="The function that is meant.")(function)


def edit_model(name: str, output: str, nested: str | None, force: bool, edit: Callable[[str, str], str]) -> None:
    """Write a model with its text edited; `edit` takes the text and the name that errors give it.

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
    edited = edit(text, chosen.name)
    if as_text:
        check_name(Path(output), "mil")
        write_file(Path(output), [edited.encode()], replace=force)
        return
    source = TextModel(edited.encode(), chosen.name, chosen.path if chosen.kind == "mil" else None)
    source.model_path = chosen.model_path
    original = None if whole.kind in ("mil", "pb", "txtpb") else whole
    write_model(source, output, original=original, model=nested, force=force)
