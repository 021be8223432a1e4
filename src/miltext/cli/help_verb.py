"""`miltext help`: the help of a verb, as its `--help` shows it."""

from __future__ import annotations

import click

EPILOG = """\b
Examples:
  miltext help
  miltext help check
  miltext help git setup
\b
Exit status: 0 the help is shown; 2 usage, such as an unknown verb.
"""


@click.command("help", epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[VERB...]")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Show the help of VERB, or of miltext."""
    click.echo(_context_of(context.find_root(), words).get_help())


def _context_of(root: click.Context, words: tuple[str, ...]) -> click.Context:
    """Return the context of a verb, or of the inner command that is named after it. Raise UsageError for an unknown
    word.
    """
    found = root
    for word in words:
        if not isinstance(found.command, click.Group):
            raise click.UsageError(f"`{found.info_name}` has no commands of its own: leave out {word}", root)
        name, verb, _ = found.command.resolve_command(found, [word])
        assert verb is not None  # an unknown verb would have been refused
        found = click.Context(verb, found, name)
    return found
