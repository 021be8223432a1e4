"""The options of every verb, written before or after the verb: they apply to the whole command.

Their values are in the context that click shares between a command and its verb, or in the context of a test.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import click

Chosen: TypeAlias = Any
"""The value of an option, as click passes it."""

STDIN = "<stdin>"
"""The name of standard input in messages, without `--stdin-filename`."""

FROM_STDIN = {
    **dict.fromkeys(("build", "convert-weights", "describe", "info", "parse", "print", "reduce", "run"), ("model",)),
    **dict.fromkeys(("expose", "extract", "locate", "optimize", "rename", "reshape", "size", "weights"), ("model",)),
    **dict.fromkeys(("check", "fmt"), ("paths",)),
    "split": ("model",),
    "find": ("paths",),
    "link": ("models",),
    "rewrite": ("words",),
    "compare": ("old", "new"),
    "diff": ("names",),
    "infer": ("draft",),
}
"""The arguments, by verb, that may be `-`: these verbs have `--stdin-filename`."""


def _note(context: click.Context, option: click.Parameter, value: Chosen) -> None:
    """Note the value of an option; of several, the last counts."""
    if value:
        context.meta[f"miltext.{option.name}"] = value


def option_value(name: str) -> Chosen:
    """Return the value of an option of every verb: `color`, `quiet` or `stdin_filename`; None if it is missing."""
    context = click.get_current_context(silent=True)
    return context.meta.get(f"miltext.{name}") if context else None


class StdinFilename(click.Option):
    """The option `--stdin-filename` of a verb, with the arguments that may stand for standard input."""

    def __init__(self, *sources: str) -> None:
        super().__init__(
            ["--stdin-filename"],
            metavar="PATH",
            expose_value=False,
            callback=_note,
            help="The path for `-`: its name, settings and weights.",
        )
        self.sources = sources

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Chosen], args: list[str]
    ) -> tuple[Chosen, list[str]]:
        if opts.get(self.name or "") is not None and not ctx.resilient_parsing:
            self._require_stdin(opts)
        return super().handle_parse_result(ctx, opts, args)

    def _require_stdin(self, opts: Mapping[str, Chosen]) -> None:
        """Refuse named files in place of standard input; without any argument, standard input is read."""
        if not opts[self.name or ""]:
            raise click.UsageError("--stdin-filename is empty: give the path that standard input is to have")
        given = [opts.get(name) for name in self.sources]
        words = [word for each in given for word in (each if isinstance(each, (list, tuple)) else [each])]
        files = [word for word in words if isinstance(word, str)]
        if files and "-" not in files:
            raise click.UsageError(f"--stdin-filename names standard input: give `-` in place of {files[0]}")


def with_habits(verb: click.Command, name: str | None) -> click.Command:
    """Return a verb, and its inner commands, with the options of every verb."""
    if COLOR not in verb.params:
        verb.params += _habits(name)
        for inner in verb.commands.values() if isinstance(verb, click.Group) else ():
            with_habits(inner, None)
    return verb


def _habits(name: str | None) -> Iterator[click.Parameter]:
    if name in FROM_STDIN:
        yield StdinFilename(*FROM_STDIN[name])
    yield from (QUIET, COLOR)


QUIET = click.Option(
    ["-q", "--quiet"],
    is_flag=True,
    expose_value=False,
    callback=_note,
    help="Show only results and errors.",
)
COLOR = click.Option(
    ["--color"],
    type=click.Choice(["auto", "always", "never"]),
    expose_value=False,
    callback=_note,
    help="When to use colours.  [auto: on a terminal]",
)


def quiet() -> bool:
    """Return whether only results and errors are shown."""
    return bool(option_value("quiet"))


def shown_name(name: str) -> str:
    """Return the name for messages of a file of the command line: standard input has a name of its own."""
    return str(option_value("stdin_filename") or STDIN) if name == "-" else name


def place_of(name: str) -> str:
    """Return the path from which settings and arrays of a file of the command line are found.

    Its last name need not exist: for standard input without a name, it is in the working folder.
    """
    return str(option_value("stdin_filename") or os.path.join(os.getcwd(), STDIN)) if name == "-" else name


def named_paths(paths: tuple[str, ...], purpose: str) -> tuple[str, ...]:
    """Return the paths in a verb's arguments; without any, standard input if it has a name. Raise UsageError."""
    if not paths and not option_value("stdin_filename"):
        raise click.UsageError(f"name the {purpose}, or `-` for standard input")
    return paths or ("-",)
