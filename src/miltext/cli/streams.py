"""The parts shared by all verbs: input, output, and the end after failures."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO, TypeAlias

import click

from miltext.cli.as_json import asks_json, failure_text, json_text, keep
from miltext.cli.captured import echo, standard_error, standard_output
from miltext.cli.habits import option_value, quiet, shown_name
from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean
from miltext.files.staging import THERE
from miltext.files.writing import MODEL_FILES, MODEL_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from miltext.diagnostics import Diagnostic, MiltextError, Note
    from miltext.diagnostics.dynamic import Record
    from miltext.models.model import Model
    from miltext.schema.proto import Program

WRONG, FAILED = 1, 2
"""The exit statuses for a wrong input, and for usage, files or a missing extra."""


NO_OUTPUT = (
    codes.WRONG_ENDING,
    codes.TARGET_WOULD_BE_LOST,
    codes.ARRAYS_ELSEWHERE,
    codes.SEVERAL_TEXTS,
    codes.OPTION_FOR_COMPILED,
)
"""The codes for outputs that must not be written to a place or in a form."""

NO_INPUT = (
    codes.MISSING_INPUT,
    codes.WRONG_INPUT_SHAPE,
    codes.WRONG_INPUT_DTYPE,
    codes.NOT_FINITE_INPUT,
    codes.UNREADABLE_INPUT_FILE,
    codes.NO_PILLOW,
)
"""The codes for impossible inputs and requests of a run."""

MISUSE = (codes.UNREADABLE_SIZES, codes.NO_DASK)
"""The codes for values of options that cannot be read, whatever the model."""

NO_PROGRAM = (codes.NOTHING_TO_GENERATE, codes.NOTHING_GENERATED)
"""The codes of programs that cannot be generated."""

SETUP = {codes.UNREADABLE_FILE, *NO_OUTPUT, *NO_INPUT, *NO_PROGRAM, *MISUSE}
"""The codes for usage and files, whose status is FAILED; a failure with any other error has the status WRONG."""

STDOUT = "standard output"
_CANNOT_WRITE = (errno.EBADF, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of writing to a stream; where files are written, the failure contains their name."""

STATUSES = """\b
Exit status: 0 all is well, warnings or not; 1 the input is wrong; 2 usage, files, a missing extra.
"""
"""The end of the help of a verb with the usual exit statuses."""

COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}

FORCING = {"NO_COLOR": False, "FORCE_COLOR": True, "CLICOLOR_FORCE": True}
"""The meaning for colours of a variable that has a value; the first such variable counts.

no-color.org and force-color.org define the first two. By bixense.com/clicolors, NO_COLOR precedes CLICOLOR_FORCE, whose
`0` has always meant that it is not set.
"""

Decorator: TypeAlias = "Callable[[Callable[..., None]], Callable[..., None]]"

model_argument: Decorator = click.argument("model", default="-", metavar="[MODEL]")


def output_option(help: str) -> Decorator:
    """Return the `-o` option of a verb that writes text or bytes."""
    return click.option("-o", "--output", metavar="FILE", default="-", help=help)


def nested_option(help: str = "A model inside a pipeline, by index or name: 1, 1/0.") -> Decorator:
    """Return the `--model` option, which chooses a model in a pipeline."""
    return click.option("--model", "nested", metavar="PATH", help=help)


weights_option: Decorator = click.option(
    "--weights", multiple=True, metavar="DIR|NAME=FILE", help="The place of a text's weight files."
)
"""The option of a verb that reads texts with weights beside them."""


class OptionalNumbers(click.Command):
    """A command with options whose number is optional, as in `--option`, `--option 5` or `--option=5`.

    If the word after such an option is not a number, it does not belong to the option: it may be the model's name.
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


def existing(name: str) -> str:
    """Return the name of an existing file or folder; otherwise end the command."""
    if os.path.lexists(name):
        return name
    if not name:
        fail("the name of a file is empty")
    return fail(f"file or folder not found: {name}{_given_later(name) or did_you_mean(_near(name))}")


def _given_later(name: str) -> str:
    """Return the end of the message for a missing MODEL if a later argument is the model, as in `rename x y M.mil`."""
    context = click.get_current_context()
    if context.params.get("model") != name:
        return ""
    given = [context.params.get(str(each.name)) for each in context.command.params if isinstance(each, click.Argument)]
    words = [word for each in given for word in (each if isinstance(each, tuple) else [each]) if word]
    endings = (*MODEL_FILES, *MODEL_FOLDERS)
    found = next((word for word in words if word.rstrip("/").lower().endswith(endings) and os.path.exists(word)), None)
    return f"; MODEL is the first argument, and {found} is not the first" if found else ""


def output_in_folder(context: click.Context, _option: click.Parameter, output: str) -> str:
    """Return the output of a model; end the command if its folder does not exist, whose name is then often mistyped."""
    folder = os.path.dirname(output)
    if folder and not os.path.lexists(folder) and not context.resilient_parsing:
        fail(f"folder not found: {folder}{did_you_mean(_near(folder))}")
    return output


def _near(name: str) -> str | None:
    from miltext.files.near_names import near_path

    return near_path(name)


def texts_in(folder: str) -> list[str]:
    """Return every .mil below a folder; end the command if there are none."""
    from miltext.files.writing import texts_below

    message = f"no .mil file found in the folder {folder}; `miltext print` writes one for a model"
    return texts_below(folder) or fail(message)


def load_model(name: str, nested: str | None = None) -> Model:
    """Return the ML Program of that path, or on standard input."""
    from miltext.containers.opening import load

    return open_whole(name).select(nested) if name == "-" else load(existing(name), nested)


def open_whole(name: str) -> Model:
    """Return the model of that path, or on standard input: also a pipeline, or a model that is not an ML Program."""
    from miltext.containers.opening import open_model, read_model

    if name != "-":
        return open_model(existing(name))
    return read_model(read_stdin(), shown_name("-"), option_value("stdin_filename"))


def read_stdin() -> bytes:
    """Return the bytes on standard input, unless a person had to type them: waiting would look like a hang."""
    if sys.stdin.isatty():
        raise click.UsageError("standard input is a terminal: name a MODEL, or pipe one in")
    with _named("standard input"):
        return sys.stdin.buffer.read()


def write_text(
    output: str, pieces: Iterable[str], kind: str = "report", *sources: str, force: bool | None = None
) -> None:
    """Write text to a file or to standard output, as UTF-8; bytes of a name outside Unicode become escapes.

    `kind` is the kind of the text, and `sources` are the files that it is made from: those, and files of another kind,
    are not replaced. A verb with the option --force passes it: without it nothing is replaced. On standard output, the
    text is coloured by its kind, where colours are on.
    """
    if output == "-" and kind != "report" and colored(standard_output(), is_document=True):
        from miltext.cli.coloring import colored_pieces

        pieces = colored_pieces(pieces, kind)
    encoded = (piece.encode(errors="backslashreplace") for piece in pieces)
    if output == "-":
        _write_stdout(encoded)
    else:
        write_bytes(output, encoded, kind, *sources, force=force)


def write_bytes(output: str, pieces: Iterable[bytes], kind: str, *sources: str, force: bool | None = None) -> None:
    """Write bytes to a file, as `write_text` does, or to standard output unless it is a terminal."""
    from miltext.files.writing import write_file
    from miltext.models.outputs import check_output

    if output != "-":
        check_output(output, kind, *sources or ("-",), force=force)
        write_file(Path(output), pieces, replace=force is not False)
    elif standard_output().isatty():
        raise click.UsageError("the output is binary, and standard output is a terminal: name a file with -o")
    else:
        _write_stdout(pieces)


def write_back(name: str, before: str, text: str) -> bool:
    """Write a text back into the file that `before` was read from; report a reason not to.

    A read-only or meanwhile changed file is left as it is. Return whether it was written.
    """
    from miltext.files.writing import is_stream, write_file

    path = Path(name)
    try:
        if is_stream(path):
            raise OSError(errno.EINVAL, "only a file is written back; `-` stands for standard input and output", name)
        if not os.access(path, os.W_OK) or not path.stat().st_mode & 0o222:
            raise PermissionError(errno.EACCES, "the file is read-only, and is left as it is", name)
        if path.read_bytes() != before.encode():
            raise OSError(errno.EAGAIN, "the file was changed meanwhile, and is left as it is; try again", name)
        write_file(path, [text.encode()])
    except OSError as failure:
        echo(f"miltext: {failure.filename}: {failure.strerror}")
        return False
    return True


def unified(name: str, before: str, after: str, how: str) -> Iterator[str]:
    """Return the lines of a unified diff of a file's text; `how`, the kind of change, is beside the name of the new
    text.
    """
    from difflib import unified_diff

    old, new = ([f"{line}\n" for line in text.split("\n")] for text in (before, after))
    for lines in (old, new):
        last = lines.pop()
        if last != "\n":
            lines.append(f"{last}\\ No newline at end of file\n")
    return unified_diff(old, new, name, f"{name} ({how})")


def write_raw(text: str) -> None:
    """Write a text with surrogates for bytes to standard output, as it is."""
    _write_stdout([text.encode(errors="surrogateescape")] if text else [])


def _write_stdout(pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        with _named(STDOUT):
            standard_output().buffer.write(piece)
    with _named(STDOUT):
        standard_output().buffer.flush()


@contextmanager
def _named(stream: str) -> Iterator[None]:
    """Make failures of a standard stream name it."""
    try:
        yield
    except OSError as failure:
        failure.filename = stream
        raise


@contextmanager
def naming_failures(name: str, ways: Mapping[str, Note] | None = None) -> Iterator[None]:
    """Make an error without a path name the program, and errors of the codes in `ways` name a way out."""
    from miltext.diagnostics import MiltextError

    try:
        yield
    except MiltextError as failure:
        failure.path = failure.path or name
        first = failure.diagnostics[0]
        if ways and first.code in ways:
            failure.diagnostics[0] = first._replace(notes=(*first.notes, ways[first.code]))
        raise


def tell(message: str) -> None:
    """Report a fact beside the result, on standard error, unless only results and errors are shown."""
    if not quiet():
        echo(message)


def show(
    diagnostics: Sequence[Diagnostic],
    text: str | None,
    path: str | None,
    *,
    err: bool = True,
    is_result: bool = False,
) -> None:
    """Show diagnostics on standard error, or on standard output; with `--quiet` only errors, or results.

    If the output is JSON, they are kept for its object.
    """
    from miltext.diagnostics import render
    from miltext.diagnostics.option_words import found_by_command

    diagnostics = found_by_command(diagnostics)
    if keep(diagnostics, text, path):
        return
    if quiet() and not is_result:
        diagnostics = [each for each in diagnostics if each.severity == "error"]
    for diagnostic in diagnostics:
        shown = render(diagnostic, text, path)
        word = f"{diagnostic.severity}[{diagnostic.code}]"
        if colored(standard_error() if err else standard_output()):
            shown = shown.replace(word, click.style(word, fg=COLORS[diagnostic.severity], bold=True), 1)
        echo(shown, err=err, color=True)


def write_json(record: Record) -> None:
    """Write the object of a verb to standard output, with the kept findings."""
    write_text("-", [json_text(record)])


def compiled_text(model: Model, program: Program) -> str:
    """Return the text that Apple's compiler would write of a model's program, and show its omissions."""
    from miltext.printing.printing import to_text

    version = model.specification_version
    known: Record = {"specification_version": version} if version else {}
    known["on_warning"] = lambda warning: show([warning], None, model.name)
    return to_text(program, as_coremlc=True, description=model.description, **known)


def colored(stream: TextIO, *, is_document: bool = False) -> bool:
    """Return whether to colour the output to a stream: the option decides, else the environment, else the terminal.

    A document, such as MIL text, is often read by a program: in a file or a pipe, only the option colours it.
    """
    choice = option_value("color")
    if choice in ("always", "never"):
        return bool(choice == "always")
    for name, answer in FORCING.items():
        is_set = os.environ.get(name) and (name, os.environ[name]) != ("CLICOLOR_FORCE", "0")
        if is_set and not (answer and is_document):
            return answer
    return os.environ.get("TERM") != "dumb" and stream.isatty()


def fail(message: str) -> NoReturn:
    """End with status 2 and a message."""
    echo(f"miltext: {message}")
    sys.exit(FAILED)


def show_failure(error: MiltextError) -> None:
    """Show the findings of an input; if the output is JSON, as an object of findings alone."""
    show(error.diagnostics, error.text, error.path)
    if asks_json():
        write_text("-", [failure_text()])


@contextmanager
def report_failures() -> Iterator[None]:
    """Turn a failure of an input (status 1) or a file (2) into one message and an exit status."""
    from miltext.diagnostics import MiltextError, SettingsError

    try:
        yield
    except MiltextError as error:
        show_failure(error)
        found = {each.code for each in error.diagnostics if each.severity == "error"}
        is_setup = isinstance(error, SettingsError) or (found and found <= SETUP)
        sys.exit(FAILED if is_setup else WRONG)
    except ModuleNotFoundError as error:  # importlib.metadata's PackageNotFoundError is one
        if error.name != "miltext":
            raise
        fail("the version is not known, as miltext is not installed: run `pip install -e .` in its checkout")
    except BrokenPipeError:
        _give_up_output()  # the reader left
        sys.exit(FAILED)
    except OSError as error:
        _give_up_output()
        where = error.filename or (STDOUT if error.errno in _CANNOT_WRITE else None)
        way = "; --force replaces it" if error.strerror == THERE else ""
        fail(f"{where}: {error.strerror}{way}" if where else str(error))


def _give_up_output() -> None:
    """Drop output that cannot be written to standard output, so that Python does not try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_strict_findings(text: str, name: str | None = None) -> None:
    """Show the constructs in a text outside Apple's syntax: unproven ones are warnings; miltext's own spellings end the
    command.
    """
    from miltext.diagnostics import ParseError
    from miltext.parsing.strict import strict_findings

    findings = strict_findings(text)
    errors = [finding for finding in findings if finding.severity == "error"]
    show([finding for finding in findings if finding not in errors], text, name)
    if errors:
        raise ParseError(errors, text=text, path=name)
