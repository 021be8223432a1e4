"""`miltext explain`: the meaning of a diagnostic's code."""

from __future__ import annotations

import sys

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.streams import colored, write_json, write_text

EPILOG = """\b
Examples:
  miltext explain MIL604           # or its number alone: 604
  miltext explain                  # all codes, a line each
  miltext explain conv             # an operation, as `miltext ops conv`
\b
Exit status: 0 the code is explained; 2 usage, such as an unknown code.
"""

_BEGINNING = "MIL"
"""The beginning of each code, before its number."""

MOST = 9
"""The most suggestions for an unknown code."""


@click.command("explain", epilog=EPILOG)
@click.argument("code", required=False, metavar="[CODE]")
@format_option
def command(code: str | None) -> None:
    """Explain CODE, with an example and the fix; or describe an operation. Without CODE, list all codes."""
    from miltext.cli.meanings import or_meant
    from miltext.cli.ops_verb import write_found
    from miltext.diagnostics.codes import TITLES, explanation
    from miltext.reference.searching import find
    from miltext.schema.operations import all_names

    if code is None and asks_json():
        write_json({"codes": [_record(each) for each in TITLES]})
        return
    if code is None:
        write_text("-", (f"{each}  {title}\n" for each, title in TITLES.items()), "markdown")
        return
    known = f"{_BEGINNING if code.isdecimal() else ''}{code}".upper()
    if known not in TITLES and code in all_names():
        write_found(find([code]))
        return
    if known not in TITLES:
        lists = "; `miltext ops` lists all operations, and `miltext explain` lists all codes"
        raise click.UsageError(f"`{code}` is neither a code nor an operation{or_meant(_meant(code)) or lists}")
    if asks_json():
        write_json({"codes": [_record(known)]})
    else:
        _write_explanation(explanation(known))


def _write_explanation(text: str) -> None:
    """Write an explanation as Markdown, and without its marks for people at a terminal."""
    if sys.stdout.isatty():
        from miltext.cli.coloring import rendered

        write_text("-", [rendered(text, is_colored=colored(sys.stdout, is_document=True))])
    else:
        write_text("-", [text], "markdown")


def _meant(word: str) -> list[str]:
    """Return suggestions for a code: codes of this number or beginning, of this title, or the
    nearest code or operation.
    """
    from miltext.diagnostics.codes import TITLES
    from miltext.diagnostics.selection import near_code
    from miltext.diagnostics.suggestions import nearest
    from miltext.schema.operations import all_names

    number = word.upper().removeprefix(_BEGINNING)
    found = [code for code in TITLES if number and code.startswith(f"{_BEGINNING}{number}")]
    found = found or [code for code, title in TITLES.items() if word.lower() in title.split()]
    near = near_code(word)
    near = near if near in TITLES else nearest(word, all_names())
    return found[:MOST] or ([near] if near else [])


def _record(code: str) -> dict[str, str]:
    from miltext.diagnostics.codes import TITLES, explanation

    return {"code": code, "title": TITLES[code], "explanation": explanation(code)}
