"""`miltext lsp`: the language server."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from miltext.cli.streams import fail

EPILOG = """\b
The server needs an extra: pip install 'miltext[lsp]'
How editors start it: editors/README.md; what it does: docs/language-server.md
\b
Exit status: 0 the client ended the server; 1 it left without a word; 2 usage, a missing extra.
"""


@click.command("lsp", epilog=EPILOG)
@click.option("--stdio", is_flag=True, help="Speak on standard input and output, which is what it does anyway.")
def command(stdio: bool) -> None:  # noqa: ARG001  # clients that can speak in several ways name this one
    """Serve an editor: diagnostics, completion, hovers, rename and the like for .mil files.

    It speaks the Language Server Protocol on standard input and output; editors start it.
    """
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        fail("the language server needs pygls, which is not installed: pip install 'miltext[lsp]'")
    if sys.stdin.isatty():
        raise click.UsageError("editors start the server and speak to it; standard input is a terminal")
    from miltext.lsp.server import serve

    sys.exit(serve())
