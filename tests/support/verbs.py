"""The command's verbs and their subcommands, each with what its help has at the end."""

from __future__ import annotations

from collections.abc import Iterator

import click

from miltext.cli import _TOGETHER, VERBS, command
from miltext.cli.habits import with_habits


def verbs() -> dict[str, click.Command]:
    """Every command by its words, as in `git setup`, with those that no list shows; the empty one is `miltext`."""
    context = click.Context(command, info_name="miltext")
    names = dict.fromkeys([*VERBS, *_TOGETHER])
    return {"": with_habits(command, None)} | {
        words: found for name in names for words, found in _below(command.get_command(context, name), context, name)
    }


def _below(verb: click.Command | None, context: click.Context, words: str) -> Iterator[tuple[str, click.Command]]:
    assert verb is not None, words
    yield words, verb
    if isinstance(verb, click.Group):
        inner = click.Context(verb, context, words)
        for name in verb.list_commands(inner):
            yield from _below(verb.get_command(inner, name), inner, f"{words} {name}")


def examples(verb: click.Command) -> list[str]:
    """The lines of a verb's examples, with the comments at their ends."""
    parts = (verb.epilog or "").split("\b\n")
    shown = next((part for part in parts if part.startswith(("Example:\n", "Examples:\n"))), "")
    return [line.strip() for line in shown.splitlines()[1:] if line.strip()]
