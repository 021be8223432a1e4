"""A verb on one of many models, in any process: its output and its exit status are returned."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from miltext.cli.as_json import asks_json, failure_text, note_json
from miltext.cli.captured import Captured, echo, standard_error, standard_output
from miltext.cli.checked_paths import passed_over
from miltext.cli.habits import place_of
from miltext.cli.streams import FAILED, WRONG, colored, report_failures, show, write_text
from miltext.diagnostics import MiltextError, SettingsError, codes

if TYPE_CHECKING:
    from miltext.batches.named_models import Input
    from miltext.batches.reads import Reads
    from miltext.cli.habits import Chosen
    from miltext.diagnostics.dynamic import Json, Record

HABITS = ("miltext.color", "miltext.quiet", "miltext.stdin_filename")
"""The values of options of every verb in the context."""

PASSED_OVER = (codes.NOT_AN_ML_PROGRAM, codes.RULES_NOT_PROGRAM)
"""The codes of files that are not programs: in a folder, they are skipped."""

_working_folder = Lock()


class VerbCall(NamedTuple):
    """A call of a verb: its options as parsed, and those of every verb.

    `terminals` are whether standard output and error are terminals. If `is_recorded`, the files that it reads are
    returned. For another machine, `folder` is the working folder, and `version` that of miltext.
    """

    verb: str
    argument: str
    options: Mapping[str, Chosen]
    habits: Mapping[str, Chosen]
    is_json: bool
    terminals: tuple[bool, bool]
    is_recorded: bool = False
    folder: str | None = None
    version: str | None = None

    def elsewhere(self) -> VerbCall:
        """Return the call for workers of other machines."""
        from importlib.metadata import version

        return self._replace(folder=os.getcwd(), version=version("miltext"))

    def work(self, item: Input) -> Sequence[Json]:
        """Return the dependencies of the result beside files, for a cache: they include settings of the project."""
        from miltext.settings.project import settings_of

        streams = standard_output(), standard_error()
        shown = [] if self.is_json else [*map(colored, streams), colored(streams[0], is_document=True), self.terminals]
        try:
            settings = repr(settings_of(place_of(item.name)))
        except SettingsError as failure:  # a verb that needs them reports it
            settings = str(failure)
        return [self.verb, _plain(self.options), _plain(self.habits), self.is_json, shown, *item, os.getcwd(), settings]


class VerbOutcome(NamedTuple):
    """The result for a model: the exit status of the verb, its output, and counts; and the files that it read, if they
    are recorded, and all of it follows from them.
    """

    status: int
    out: str
    err: str
    counts: Mapping[str, int]
    reads: Reads | None = None

    def to_json(self) -> Record:
        """Return the record for a cache."""
        return {"status": self.status, "out": self.out, "err": self.err, "counts": self.counts}


def failed(message: str) -> VerbOutcome:
    """Return the outcome of a verb that could not be called, or did not end."""
    return VerbOutcome(FAILED, "", f"miltext: {message}\n", {})


def outcome(call: VerbCall, item: Input) -> VerbOutcome:
    """Return the result of a call for a model."""
    from importlib.metadata import version

    if call.version is not None and (there := version("miltext")) != call.version:
        return failed(f"{item.name}: a worker has miltext {there}, not {call.version}: install one version everywhere")
    try:
        with _working_in(call.folder):
            return _recorded(call, item) if call.is_recorded else _called(call, item)
    except OSError as failure:
        return failed(f"{failure.filename}: {failure.strerror}")


@contextmanager
def _working_in(folder: str | None) -> Iterator[None]:
    """Work in a folder, alone in this process; None stands for the present one."""
    if folder is None:
        yield
        return
    with _working_folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _recorded(call: VerbCall, item: Input) -> VerbOutcome:
    """Return the result with the files that were read for it."""
    from miltext.batches.reads import recording

    with recording() as recorder:
        found = _called(call, item)
    return found._replace(reads=recorder.reads(item.name))


def _called(call: VerbCall, item: Input) -> VerbOutcome:
    kept = Captured(call.terminals, item)
    command = command_of(call.verb)
    with click.Context(command, info_name=call.verb) as context:
        kept.begin(context)
        context.meta.update(call.habits)
        if call.is_json:
            note_json(context)
        name = item.name if call.argument == "model" else (item.name,)
        context.params = {**call.options, call.argument: name}
        status = _status(context, command, item)
    return VerbOutcome(status, kept.out.written, kept.err.written, kept.counts)


def _status(context: click.Context, command: click.Command, item: Input) -> int:
    """Call the verb, and return its exit status. A signal ends more than the verb."""
    assert command.callback is not None
    try:
        with report_failures(), _passing_over(item):
            context.invoke(command.callback, **context.params)
    except SystemExit as end:
        if end.code not in (None, 0, WRONG, FAILED):
            raise
        return int(end.code or 0)
    except click.ClickException as failure:
        echo(f"miltext: {failure.format_message()}")
        return FAILED
    return 0


@contextmanager
def _passing_over(item: Input) -> Iterator[None]:
    """Pass over a file in a folder that is not a program, with a note."""
    try:
        yield
    except MiltextError as failure:
        if not item.found or failure.diagnostics[0].code not in PASSED_OVER:
            raise
        show(passed_over(failure.diagnostics), failure.text, failure.path)
        if asks_json():
            write_text("-", [failure_text()])


def command_of(verb: str) -> click.Command:
    """Return the command of a verb."""
    from miltext.cli import command

    found = command.get_command(click.Context(command), verb)
    assert found is not None, verb
    return found


def _plain(options: Mapping[str, Any]) -> Record:
    return {name: repr(value) for name, value in sorted(options.items())}
