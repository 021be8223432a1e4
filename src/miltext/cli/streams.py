"""What every verb shares: where input comes from, where output goes, and how failures end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.models import Model

WRONG, FAILED = 1, 2
"""The exit statuses for an input that is wrong, and for usage, files or a missing extra."""

CANNOT_READ = "MIL250"
"""The code of a file that is not there or cannot be read."""

COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}


def model_argument(function: Callable[..., None]) -> Callable[..., None]:
    """The MODEL argument of a verb."""
    return click.argument("model", default="-", metavar="[MODEL]")(function)


def output_option(help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The `-o` option of a verb."""
    return click.option("-o", "--output", metavar="FILE", default="-", help=help)


class OptionalNumbers(click.Command):
    """A command with options whose number may be left out, as in `--option`, `--option 5` or `--option=5`.

    What follows such an option and is no number is not its: it may be the model's name.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        optional = {
            name: each.flag_value
            for each in self.params
            if isinstance(each, click.Option) and type(each.flag_value) is int
            for name in each.opts
        }
        for index, word in enumerate(args):
            following = args[index + 1] if index + 1 < len(args) else ""
            if word == "--":
                break
            if word in optional and not following.isdecimal():
                args[index] = f"{word}={optional[word]}"
        return super().parse_args(ctx, args)


def load_model(name: str, nested: str | None = None) -> Model:
    """The model of that path, or on standard input."""
    from miltext.models import load, read

    if name != "-":
        if not os.path.lexists(name):
            fail(f"there is no file or folder {name}")
        return load(name, model=nested)
    return read(read_stdin(), "<stdin>")


def read_stdin() -> bytes:
    """What stands on standard input; waiting for a person to type it would only look like a hang."""
    if sys.stdin.isatty():
        raise click.UsageError("no MODEL was given, and standard input is a terminal")
    return sys.stdin.buffer.read()


def write_text(output: str, pieces: Iterable[str]) -> None:
    """Text to a file or to standard output, as UTF-8; of a file's name, bytes that are not UTF-8 are escaped."""
    encoded = (piece.encode(errors="backslashreplace") for piece in pieces)
    if output != "-":
        write_bytes(output, encoded)
        return
    for piece in encoded:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def write_bytes(output: str, pieces: Iterable[bytes]) -> None:
    """Bytes to a file or, unless it is a terminal, to standard output."""
    from miltext.files import write_atomically

    if output != "-":
        write_atomically(Path(output), pieces)
        return
    if sys.stdout.isatty():
        raise click.UsageError("the output is binary and standard output is a terminal; name a file with -o")
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def show(diagnostics: Sequence[Diagnostic], text: str | None, path: str | None, *, err: bool = True) -> None:
    """Diagnostics on standard error, or on standard output where they are what was asked for."""
    from miltext.diagnostics import render

    for diagnostic in diagnostics:
        shown = render(diagnostic, text, path)
        word = f"{diagnostic.severity}[{diagnostic.code}]"
        if colored(sys.stderr if err else sys.stdout):
            shown = shown.replace(word, click.style(word, fg=COLORS[diagnostic.severity], bold=True), 1)
        click.echo(shown, err=err, color=True)


def colored(stream: object) -> bool:
    """Whether to colour what goes to a stream."""
    context = click.get_current_context(silent=True)
    choice = context.find_root().obj if context else "auto"
    if choice in ("always", "never"):
        return bool(choice == "always")
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and bool(stream.isatty())  # type: ignore[attr-defined]


def fail(message: str) -> NoReturn:
    """End with status 2 and a message."""
    click.echo(f"miltext: {message}", err=True)
    sys.exit(FAILED)


@contextmanager
def report_failures() -> Iterator[None]:
    """Turn what goes wrong with an input (1) or a file (2) into one message and an exit status."""
    from miltext.diagnostics import MiltextError

    try:
        yield
    except MiltextError as error:
        show(error.diagnostics, error.text, error.path)
        sys.exit(FAILED if error.diagnostics[0].code == CANNOT_READ else WRONG)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left; nothing more to say
        sys.exit(FAILED)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def show_strict_findings(text: str, name: str | None = None) -> None:
    """Show what of a text is not Apple's: warnings for the unproven; for what is ours, an error ends the command."""
    from miltext.diagnostics import ParseError
    from miltext.strictness import strict_findings

    findings = strict_findings(text)
    errors = [finding for finding in findings if finding.severity == "error"]
    show([finding for finding in findings if finding not in errors], text, name)
    if errors:
        raise ParseError(errors, text=text, path=name)
