"""`miltext explain`: what a diagnostic's code means."""

from __future__ import annotations

import click

from miltext.cli.streams import write_text

EPILOG = """\b
Examples:
  miltext explain MIL604
  miltext explain                  # all codes, a line each
\b
Exit status: 0 it is explained; 2 usage, as a code that there is not.
"""


@click.command("explain", epilog=EPILOG)
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain CODE, with an example and the fix. Without CODE, list all codes."""
    from miltext.diagnostics.codes import TITLES, explanation

    if code is None:
        write_text("-", (f"{each}  {title}\n" for each, title in TITLES.items()), "markdown")
        return
    known = code.upper()
    if known not in TITLES:
        raise click.UsageError(f"unknown code {code}; `miltext explain` lists all codes")
    write_text("-", [explanation(known)], "markdown")
