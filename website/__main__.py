"""The commands of `python -m website`."""

from __future__ import annotations

import logging
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from website import HERE, ROOT

OUT = ROOT / ".website"


@click.group()
def main() -> None:
    """Make miltext's documentation site: the page is website/README.md."""
    if find_spec("material") is None:
        raise click.UsageError("MkDocs and its theme are not installed: pip install -e '.[site]'")


@main.command()
@click.option("--out", default=OUT, type=click.Path(file_okay=False, path_type=Path), help="The folder.  [.website]")
@click.option("--playground/--no-playground", default=True, help="Make the playground, too, which needs Node.")
def build(out: Path, playground: bool) -> None:
    """Write the whole site to a folder, whose earlier contents are removed. The exit status is 1 at any warning.

    For example: python -m website build --out site
    """
    from website.building import Refused, built

    try:
        built(out, playground=playground)
    except Refused as refused:
        print(refused, file=sys.stderr)
        sys.exit(1)


@main.command()
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="Where to listen.")
def serve(port: int) -> None:
    """Show the site on this machine, and make it anew when a page changes; a warning is only told.

    For example: python -m website serve --port 8080
    """
    from mkdocs.commands.serve import serve as watch

    from website.building import where

    logging.basicConfig(format="%(message)s", level=logging.INFO)  # where it is served, and what is wrong
    watch(str(HERE / "mkdocs.yml"), dev_addr=f"127.0.0.1:{port}", watch=[str(HERE)], strict=False, **where())


if __name__ == "__main__":
    main()
