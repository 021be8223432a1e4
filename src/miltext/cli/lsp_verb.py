"""`miltext lsp`: the language server."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from miltext.cli.streams import FAILED
from miltext.diagnostics.home import install

EPILOG = f"""\b
Example:
  miltext lsp --stdio
\b
The server needs an extra; to install it:
{install("lsp")}
How editors start it: editors/README.md; its abilities: docs/language-server.md
\b
Exit status: 0 the client ended the server; 1 the client disappeared; 2 usage, a missing extra.
"""

EXTRA = ("pygls.lsp.server", "lsprotocol")
"""The packages of the extra; older versions of pygls have no `lsp.server`."""

MISSING = f"the language server needs pygls 2 or later, which is not installed: {install('lsp')}"


@click.command("lsp", epilog=EPILOG)
@click.option("--stdio", is_flag=True, help="Use standard input and output (the default).")
def command(stdio: bool) -> None:  # noqa: ARG001  # clients that know several transports name this one
    """Serve an editor: diagnostics, completion, hovers, rename and the like for .mil files.

    The server uses the Language Server Protocol on standard input and output; editors start it.
    """
    if not _has_extra():
        from miltext.lsp import without_extra

        click.echo(f"miltext: {MISSING}", err=True)
        if not sys.stdin.isatty():  # a listening client shows the message in a window
            without_extra.serve(sys.stdin.buffer, sys.stdout.buffer, f"miltext: {MISSING}")
        sys.exit(FAILED)
    if sys.stdin.isatty():
        raise click.UsageError("standard input is a terminal: let an editor start the server")
    from miltext.lsp.guarding import serve

    sys.exit(serve())


def _has_extra() -> bool:
    """Return whether the packages of the extra are installed, without importing them."""
    try:
        return all(find_spec(name) for name in EXTRA)
    except (ImportError, ValueError):
        return False
