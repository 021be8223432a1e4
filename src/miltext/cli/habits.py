"""The options that every verb takes, before it or after it: what they ask for holds for all of the command.

What they say is in the context that click shares between a command and its verb, and in that of a test that has none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import click

STDIN = "<stdin>"
"""What messages call standard input, unless `--stdin-filename` says otherwise."""

FROM_STDIN = {
    **dict.fromkeys(("build", "convert-weights", "describe", "info", "parse", "print", "reduce", "run"), ("model",)),
    **dict.fromkeys(("expose", "extract", "locate", "rename", "reshape", "weights"), ("model",)),
    **dict.fromkeys(("check", "fmt"), ("paths",)),
    "compare": ("old", "new"),
    "diff": ("names",),
    "infer": ("draft",),
}
"""The arguments, by verb, that may be `-`: these verbs take `--stdin-filename`."""


def _note(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Note what an option says; of several, the last counts."""
    if value:
        context.meta[f"miltext.{option.name}"] = value


def asked(name: str) -> Any:
    """Return what an option of every verb says: `color`, `quiet` or `stdin_filename`; None if it is not given."""
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
            help="The path that `-` has: its name, settings and weights.",
        )
        self.sources = sources

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        if opts.get(self.name or "") is not None and not ctx.resilient_parsing:
            self._require_stdin(opts)
        return super().handle_parse_result(ctx, opts, args)

    def _require_stdin(self, opts: Mapping[str, Any]) -> None:
        """Refuse files that are named where standard input is meant; without any, that is read."""
        if not opts[self.name or ""]:
            raise click.UsageError("--stdin-filename is empty: give the path that standard input is to have")
        given = [opts.get(name) for name in self.sources]
        words = [word for each in given for word in (each if isinstance(each, (list, tuple)) else [each])]
        files = [word for word in words if isinstance(word, str)]
        if files and "-" not in files:
            raise click.UsageError(f"--stdin-filename names standard input: give `-` in place of {files[0]}")


def with_habits(verb: click.Command, name: str | None) -> click.Command:
    """Return a verb with the options that every verb takes, and those of its own commands with them."""
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
    help="Tell only results and errors.",
)
COLOR = click.Option(
    ["--color"],
    type=click.Choice(["auto", "always", "never"]),
    expose_value=False,
    callback=_note,
    help="When to use colours.  [auto: on a terminal]",
)


def quiet() -> bool:
    """Tell whether only results and errors are to be told."""
    return bool(asked("quiet"))


def shown_name(name: str) -> str:
    """Return what messages call a file of the command line: standard input by its own name."""
    return str(asked("stdin_filename") or STDIN) if name == "-" else name


def place_of(name: str) -> str:
    """Return the path that settings and arrays of a file of the command line are found from.

    It ends in a name that need not be there: for standard input without a name, it is in the working folder.
    """
    return str(asked("stdin_filename") or os.path.join(os.getcwd(), STDIN)) if name == "-" else name


def named_paths(paths: tuple[str, ...], purpose: str) -> tuple[str, ...]:
    """Return the paths that a verb was given; without any, standard input if that has a name. Raise UsageError."""
    if not paths and not asked("stdin_filename"):
        raise click.UsageError(f"name the {purpose}, or `-` for standard input")
    return paths or ("-",)
