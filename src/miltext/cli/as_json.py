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
SHORT = ("html", JSON)
"""The output formats that are also options by themselves."""

_KEPT, _DONE, _SHORT = (f"{__name__}.{name}" for name in ("findings", "done", "short"))


def note_json(context: click.Context) -> None:
    """Note that JSON is the output format."""
    context.meta.setdefault(_KEPT, [])


def _note_short(context: click.Context, option: click.Parameter, is_given: bool) -> None:
    """Note an option such as `--json`, which is read before `--format`."""
    if is_given:
        context.meta.setdefault(_SHORT, []).append(option.name)


def _chosen(context: click.Context, option: click.Parameter, form: str | None) -> str | None:
    """Return the output format of `--format` or its short form; note whether it is JSON."""
    short = context.meta.pop(_SHORT, [])
    forms = [*short, *([form] if _is_given(context, option) else [])]
    if len({*forms}) > 1:
        raise click.UsageError(f"the output has one format, not {' and '.join(map(str, forms))}: leave out all but one")
    chosen = forms[0] if forms else form
    if chosen == JSON:
        note_json(context)
    return chosen


def _is_given(context: click.Context, option: click.Parameter) -> bool:
    return context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE


def format_options(
    *forms: str,
    default: str | None = "text",
    help: str = "The output format; docs/json.md describes the JSON.  [text]",
    expose_value: bool = True,
) -> Decorator:
    """Return a decorator that adds `--format`, as the parameter `form`, and `--json` or `--html` for these forms."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for form in SHORT:
            if form in forms:
                same = f"The same as --format {form}."
                command = click.option(
                    f"--{form}", is_flag=True, is_eager=True, expose_value=False, callback=_note_short, help=same
                )(command)
        kind = click.Choice(forms)
        return click.option(
            "--format", "form", type=kind, default=default, expose_value=expose_value, callback=_chosen, help=help
        )(command)

    return decorate


format_option: Decorator = format_options("text", JSON, expose_value=False)
"""The options of a verb that writes text or JSON."""


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
