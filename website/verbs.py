"""A page for each verb of the command: what it does, its options, examples and exit statuses, as `--help` has them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import click

from miltext.cli import VERBS, command
from website.markdown import cell, plain

_RAW = re.compile(r"(?:\A|\n)\x08\n|\n{2,}")
"""What parts the paragraphs of a help; click leaves the lines of one after a backspace as they are."""


def pages() -> dict[str, str]:
    """Return the pages of all verbs, and the page that lists them."""
    root = click.Context(command, info_name="miltext", max_content_width=100)
    made = {f"verbs/{name}.md": "".join(_page(_context(root, command, name))) for name in VERBS}
    return {"verbs/index.md": "".join(_index(root)), **made}


def _context(parent: click.Context, group: click.Group, name: str) -> click.Context:
    """Return the context in which a verb is called, which says how its help calls it."""
    found = group.get_command(parent, name)
    assert found is not None, name
    return click.Context(found, info_name=name, parent=parent, max_content_width=100)


def _index(root: click.Context) -> Iterator[str]:
    yield "# Verbs\n\n"
    yield f"{plain(command.help or '')}\n\n"
    yield "| verb | what it does |\n|---|---|\n"
    yield from (f"| [`miltext {name}`]({name}.md) | {says} |\n" for name, says in VERBS.items())
    yield from _sections(root, 2)


def _page(context: click.Context) -> Iterator[str]:
    yield f"---\ntitle: {context.command_path.removeprefix('miltext ')}\n---\n"
    yield f"# miltext {context.info_name}\n\n"
    yield from _told(context)
    yield from _sections(context, 2)
    verb = context.command
    if isinstance(verb, click.Group):
        for name in verb.list_commands(context):
            inner = _context(context, verb, name)
            yield f"\n## {inner.command_path}\n\n"
            yield from _told(inner)
            yield from _sections(inner, 3)


def _told(context: click.Context) -> Iterator[str]:
    """Yield how a verb is called, and what its help says first."""
    usage = context.command.get_usage(context).removeprefix("Usage: ")
    yield f"```text\n{textwrap.dedent(usage)}\n```\n"
    for paragraph in _paragraphs(context.command.help or ""):
        yield f"\n{plain(' '.join(paragraph.split()))}\n"


def _sections(context: click.Context, level: int) -> Iterator[str]:
    """Yield the options, and what comes after them: examples, exit statuses, and more."""
    yield f"\n{'#' * level} Options\n\n| option | meaning |\n|---|---|\n"
    for parameter in context.command.get_params(context):
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield _option(parameter, context)
    for paragraph in _paragraphs(context.command.epilog or ""):
        yield from _after(paragraph, level)


def _option(option: click.Option, context: click.Context) -> str:
    spelled, says = option.get_help_record(context) or ("", "")
    return f"| `{spelled}` | {cell(plain(says))} |\n"


def _after(paragraph: str, level: int) -> Iterator[str]:
    head, _, rest = paragraph.partition(":")
    if head in ("Example", "Examples"):
        yield f"\n{'#' * level} Examples\n\n```sh\n{textwrap.dedent(rest.strip(chr(10)))}\n```\n"
    elif head == "Exit status":
        yield f"\n{'#' * level} Exit status\n\n"
        yield from (f"- **{number}** {says}\n" for number, says in statuses(rest))
    else:
        yield f"\n{plain(' '.join(paragraph.split()))}\n"


def statuses(text: str) -> list[tuple[str, str]]:
    """Return each exit status with what it means: `0 all is well; 1 the input is wrong.`"""
    said = re.split(r"; (?=\d)", " ".join(text.split()).removesuffix("."))
    return [(part.partition(" ")[0], part.partition(" ")[2]) for part in said]


def _paragraphs(text: str) -> list[str]:
    return [part for part in _RAW.split(textwrap.dedent(text)) if part.strip()]
