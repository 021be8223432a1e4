"""The JSON of verbs: one object on standard output, with findings in the form of `miltext check`.

docs/json.md describes each verb's object. Under `--format json`, findings for standard error are kept for the object,
and a failure of an input is an object with findings alone. A mistake in the command line, or a failure to read or write
a file, stays a message on standard error.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.dynamic import Record
    from miltext.diagnostics.reports import Report

Decorator: TypeAlias = "Callable[[Callable[..., None]], Callable[..., None]]"

JSON = "json"
_KEPT, _DONE = f"{__name__}.findings", f"{__name__}.done"


def note_format(context: click.Context, _option: click.Parameter, form: str) -> str:
    """Note whether JSON is the output format: the callback of a `--format` with further choices."""
    if form == JSON:
        note_json(context)
    return form


def note_json(context: click.Context) -> None:
    """Note that JSON is the output format."""
    context.meta.setdefault(_KEPT, [])


def _note_flag(context: click.Context, _option: click.Parameter, is_given: bool) -> None:
    if is_given:
        note_json(context)


format_option: Decorator = click.option(
    "--format",
    type=click.Choice(["text", JSON]),
    default="text",
    expose_value=False,
    callback=note_format,
    help="The output format; docs/json.md describes the JSON.  [text]",
)

json_option: Decorator = click.option(
    "--json", is_flag=True, expose_value=False, callback=_note_flag, help="The same as --format json."
)


def asks_json() -> bool:
    """Whether the current verb has JSON as its output format."""
    return _kept() is not None


def keep(diagnostics: Sequence[Diagnostic], text: str | None, path: str | None) -> bool:
    """Keep findings for the object if the output is JSON; return whether it is."""
    from miltext.diagnostics.reports import Report

    kept = _kept()
    if kept is not None and diagnostics:
        kept.append(Report(path or "", diagnostics, text))
    return kept is not None


def json_text(record: Record) -> str:
    """Return the object of a verb, with the kept findings, and with U+FFFD for bytes of a file's name outside UTF-8."""
    import json

    from miltext.diagnostics.plain import plain
    from miltext.diagnostics.reports import FORM, findings

    whole = {"form": FORM, **plain(record), **findings(_kept() or [])}
    text = json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text if text.isascii() else os.fsencode(text).decode(errors="replace")


def done_so_far(record: Record) -> None:
    """Make a failure report the work done before it, too, by a record that grows."""
    click.get_current_context().meta[_DONE] = record


def failure_text() -> str:
    """Return the object of a failure."""
    return json_text(click.get_current_context().meta.get(_DONE, {}))


def _kept() -> list[Report] | None:
    context = click.get_current_context(silent=True)
    found: list[Report] | None = context.meta.get(_KEPT) if context else None
    return found
