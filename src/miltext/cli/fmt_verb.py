"""`miltext fmt`: MIL text in its canonical layout."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from miltext.cli.streams import WRONG, fail, read_stdin, show, write_text
from miltext.diagnostics import MiltextError
from miltext.files import write_atomically

EPILOG = """\b
Examples:
  miltext fmt model.mil                  # in place
  miltext fmt --check .                  # every .mil below; exit 1 if one would change
  miltext fmt --diff model.mil
  miltext fmt - < model.mil
"""


@click.command("fmt", epilog=EPILOG)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--check", is_flag=True, help="Write nothing; list what would change, and exit with 1 if anything would.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change, and exit with 1 if anything would.")
def command(paths: tuple[str, ...], check: bool, diff: bool) -> None:
    """Lay out each PATH canonically: .mil files, folders of them, or `-` for standard input.

    Comments and numbers are kept as they are. Before a file is written, its program is proven to be the same.
    """
    if not paths:
        raise click.UsageError("name the files or folders to format, or `-` for standard input")
    results = [_format(name, check, diff) for name in _files(paths)]
    if False in results:
        sys.exit(WRONG)


def _files(paths: tuple[str, ...]) -> list[str]:
    """The files that the paths name, those of a folder in order."""
    names: list[str] = []
    for path in paths:
        if path != "-" and not Path(path).exists():
            fail(f"there is no file or folder {path}")
        names += sorted(map(str, Path(path).rglob("*.mil"))) if Path(path).is_dir() and path != "-" else [path]
    return names


def _format(name: str, check: bool, diff: bool) -> bool:
    """Format one file; whether it is right, or as asked made so."""
    from miltext.formatter import verified_format

    try:
        text = _read(name)
        formatted = verified_format(text, path=name)
    except MiltextError as error:
        show(error.diagnostics, error.text, error.path)
        return False
    if diff:
        write_text("-", _difference(name, text, formatted))
    elif check:
        click.echo(f"would reformat {name}", err=True) if formatted != text else None
    elif name == "-":
        write_text("-", [formatted])
    elif formatted != text:
        write_atomically(Path(name), [formatted.encode()])
        click.echo(f"reformatted {name}", err=True)
    return formatted == text or not (check or diff)


def _read(name: str) -> str:
    from miltext.models.contents import decode

    return decode(read_stdin() if name == "-" else Path(name).read_bytes(), name)


def _difference(name: str, text: str, formatted: str) -> list[str]:
    from difflib import unified_diff

    return list(
        unified_diff(text.splitlines(keepends=True), formatted.splitlines(keepends=True), name, f"{name} (formatted)")
    )
