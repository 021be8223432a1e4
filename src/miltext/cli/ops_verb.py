"""`miltext ops`: the operations, and the parameters of each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.streams import colored, write_json, write_text

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record
    from miltext.reference.searching import Found

EPILOG = """\b
Examples:
  miltext ops                            # all operations, by family
  miltext ops conv                       # describe one operation
  miltext ops matrix product             # operations with both words in their descriptions
  miltext ops --family pooling --opset ios17
  miltext ops conv --example | miltext infer -
  miltext ops --json | jq '.operations[].name'
\b
Exit status: 0 an operation was found; 2 usage, such as an unknown operation.
"""


@click.command("ops", epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[WORD...]")
@click.option("--opset", metavar="OPSET", help="Operations in this opset's versions, such as ios17.  [the newest]")
@click.option("--family", metavar="FAMILY", help="Only this family, such as pooling; words are searched, not names.")
@format_option
@click.option("--example", is_flag=True, help="Write only the example, a draft of a whole program.")
def command(words: tuple[str, ...], opset: str | None, family: str | None, example: bool) -> None:
    """Describe the operations that the WORDs name, or list the operations whose descriptions contain all WORDs.

    Without WORD, list all operations.
    """
    from miltext.reference.searching import UnknownWord, find

    try:
        found = find(words, opset, family)
    except UnknownWord as unknown:
        raise click.UsageError(str(unknown)) from None
    if asks_json() and example:
        raise click.UsageError("--json has the examples, too: leave --example out")
    if example:
        write_text("-", _examples(found), "mil")
    else:
        write_found(found)


def write_found(found: Found) -> None:
    """Write the operations that were found, as text or JSON."""
    if asks_json():
        write_json({"operations": _records(found)})
    else:
        write_text("-", _described(found))


def _records(found: Found) -> list[Record]:
    from miltext.reference.records import record

    return [record(entry, found.opset) for entry in found.entries]


def _examples(found: Found) -> Iterator[str]:
    if len(found.entries) > 1:
        raise click.UsageError("--example shows a single operation: name it")
    yield found.entries[0].example(found.opset).text


def _described(found: Found) -> Iterator[str]:
    """Yield the lines about the operations that were found: a list, or all facts about the named ones."""
    from miltext.cli.coloring import mil_coloring
    from miltext.reference.pages import listing, page

    is_colored = colored(sys.stdout)
    mark = partial(click.style, bold=True) if is_colored else str
    if not found.names:
        yield from (f"{line}\n" for line in listing(found.entries, mark))
        return
    for number, entry in enumerate(found.entries):
        yield "\n" * bool(number)
        yield from (f"{line}\n" for line in page(entry, found.opset, mark, mil_coloring() if is_colored else str))
