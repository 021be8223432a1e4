"""`miltext reduce`: the smallest model on which a command still succeeds."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import click

from miltext.building.choices import WriteOptions
from miltext.cli.as_json import asks_json, format_option
from miltext.cli.declared import declared
from miltext.cli.habits import quiet
from miltext.cli.streams import (
    load_model,
    model_argument,
    nested_option,
    output_in_folder,
    show,
    tell,
    write_json,
    write_text,
)
from miltext.diagnostics import MiltextError, Note, codes, warning
from miltext.diagnostics.wording import tally

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen
    from miltext.diagnostics.dynamic import Record
    from miltext.models.model import Model
    from miltext.reduction.commands import Command
    from miltext.reduction.reducing import Reduction
    from miltext.reduction.trials import Candidate
    from miltext.schema.proto import Program

EPILOG = """\b
Examples:
  miltext reduce Model.mlpackage --test ./still-fails.sh -o Small.mlpackage
  miltext reduce Model.mlpackage --test './predict {} 2>&1 | grep "MIL->EIR"' -o Small.mlpackage
  miltext reduce Model.mlpackage --test ./on-device.sh --jobs 4 --timeout 60 -o Small.mlpackage
  miltext reduce Model.mlpackage --as mil --test 'grep -q gather' -o small.mil
  miltext reduce Pipeline.mlpackage --model 0 --test ./still-fails.sh -o Small.mlpackage
\b
Exit status: 0 the smallest model is written; 1 CMD fails on MODEL itself, or MODEL is wrong; 2 usage, files;
130 after Ctrl-C, with the smallest model so far.
"""

UNSTEADY = warning(
    codes.UNSTEADY_TEST,
    "the test passed on this model, but failed when it was run again",
    None,
    Note("a test with varying results misleads: make it try several times, and reduce again"),
)
"""The warning about an unreliable result."""

KINDS = ("mil", "mlpackage", "mlmodel", "mlmodelc")


@click.command("reduce", epilog=EPILOG)
@model_argument
@click.option(
    "--test",
    "line",
    metavar="CMD",
    required=True,
    help="A shell command that exits with 0 if the fault occurs; the path of a model replaces {}, or is appended.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    callback=output_in_folder,
    help="The .mlpackage, .mlmodel, .mlmodelc or .mil.",
)
@click.option("--as", "kind", type=click.Choice(KINDS), help="The kind of model for CMD.  [MODEL's]")
@click.option("--jobs", type=click.IntRange(min=1), default=1, help="The number of CMD that run at once.  [1]")
@click.option("--max-tests", type=click.IntRange(min=1), metavar="N", help="The greatest number of runs of CMD.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    default=300.0,
    help="The seconds after which CMD counts as failed.  [300]",
)
@nested_option()
@declared(WriteOptions, "ranges")
@format_option
@click.option("-v", "--verbose", is_flag=True, help="Show the output of each CMD.")
@declared(WriteOptions, "force")
def command(
    model: str,
    line: str,
    output: str,
    kind: str | None,
    jobs: int,
    max_tests: int | None,
    timeout: float,
    nested: str | None,
    ranges: tuple[str, ...],
    verbose: bool,
    force: bool,
) -> None:
    """Write the smallest part of MODEL on which CMD still exits with 0, for a bug report.

    Operations are removed, and their outputs become inputs. Half of the operations is tried first, so a fault in one of
    a thousand operations takes about twenty runs of CMD. At the end, no single operation, input or output can be
    removed; constants, and compressed weights (constexpr_), stay with their users. Then constants become zeros, and
    attributes and metadata are removed, if CMD still succeeds.

    Each tested model passes `miltext check`, except for MODEL's own errors. CMD should have the same result for the
    same model each time. With --jobs, several CMD run at once, which takes less time and a few more runs. After Ctrl-C,
    OUT is the smallest model so far.
    """
    from miltext.descriptions.sizes import read_sizes
    from miltext.reduction.commands import Command

    source = load_model(model, nested)
    _check_output(Path(output), source, force)
    work = _Work(Path(output), force, Command(line, timeout, _shown if verbose else bool))
    with work.kept():
        work.reduce(source, read_sizes(ranges), kind=kind, jobs=jobs, max_tests=max_tests)
    if asks_json():
        write_json({"output": output, **work.record()})
    else:
        write_text("-", [work.in_words()])


def _shown(text: str) -> None:
    """Show a command's output."""
    click.echo(text, err=True, nl=False)


def _check_output(output: Path, source: Model, force: bool) -> None:
    """Refuse an impossible output before any test is run, as far as it can be known."""
    from miltext.building.build import OUTPUTS, require_ending
    from miltext.models.outputs import check_name, check_output, check_target

    if not os.access(output.parent, os.W_OK):
        raise OSError(errno.EACCES, "this is not a folder that can be written to", str(output.parent))
    if output.suffix.lower() in OUTPUTS:
        check_target(output, force, [source])
        return
    check_name(output, "mil")
    require_ending(output, "a smaller model")
    check_output(str(output), "mil", str(source.path or "-"), force=force)


class _Work:
    """A reduction, with its result when something ends it."""

    def __init__(self, output: Path, force: bool, test: Command) -> None:
        self._output, self._force, self._test = output, force, test
        self._best: Candidate | None = None
        self._tests = 0
        self._program: Program | None = None
        self._done: Reduction | None = None
        self._shows_progress = sys.stderr.isatty() and not quiet()

    def reduce(self, source: Model, ranges: Chosen, **how: Chosen) -> None:
        """Reduce a model, and write the result; if the first test fails, show the command's output."""
        from miltext.diagnostics import ModelError, Note
        from miltext.reduction.reducing import reduce_source
        from miltext.reduction.source import OriginalModel

        opened = OriginalModel(source, ranges)
        self._program = opened.program
        written = {how["kind"] or opened.kind, self._output.suffix.lower().removeprefix(".")}
        how |= {"on_progress": self._note, "written": sorted(written), "stop": self._test.stop}
        try:
            done = reduce_source(opened, self._test, **how)
        except ModelError as failure:
            found = failure.diagnostics[0]
            if found.code == codes.TEST_FAILS_ON_MODEL:
                ran = self._test.last
                notes = [Note(ran.how), *[Note(f"it printed: {line}") for line in ran.lines], *found.notes]
                failure.diagnostics[0] = found._replace(notes=tuple(notes))
            raise
        self._end_progress()
        self._done, self._best = done, done.best
        self._save()

    def in_words(self) -> str:
        """Return the result, in words."""
        from miltext.reduction.report import in_words

        done = self._ended()
        if not done.is_complete:
            run = tally(done.tests, "test")
            tell(f"miltext: stopped after {run}, as set by --max-tests: more may be left out")
        return in_words(done.original, done.best, done.tests, done.reused)

    def record(self) -> Record:
        """Return the result, for programs."""
        from miltext.reduction.report import record

        return record(self._ended())

    def _ended(self) -> Reduction:
        """Return the completed reduction, and warn if it is unreliable."""
        assert self._done is not None
        if not self._done.is_steady:
            show([UNSTEADY], None, str(self._output))
        return self._done

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Write the best result when an interrupt or a full disk ends the `with` block, and report it."""
        from miltext.files.interrupts import uninterrupted

        try:
            yield
        except (KeyboardInterrupt, SystemExit, OSError):
            self._end_progress()
            if self._best is None or self._best.program is self._program or self._done is not None:
                raise
            with uninterrupted():
                self._save()
            run, left = tally(self._tests, "test"), tally(self._best.operations, "operation")
            click.echo(f"miltext: interrupted after {run}; {self._output} is the best so far, of {left}", err=True)
            raise

    def _save(self) -> None:
        """Write the best result; if that fails, write it into another folder, for the work may have taken hours."""
        assert self._best is not None
        try:
            warnings = self._best.save(self._output, force=self._force)
        except (OSError, MiltextError):
            kept = Path(mkdtemp(prefix="miltext-reduced-"), self._output.name)
            self._best.save(kept)
            click.echo(f"miltext: the result is kept as {kept}", err=True)
            raise
        show(warnings, None, str(self._output))

    def _note(self, best: Candidate, tests: int) -> None:
        """Record the best candidate, and show the progress on a terminal."""
        self._best, self._tests = best, tests
        if self._shows_progress:
            line = f"{tally(best.operations, 'operation')} left, {tally(tests, 'test')} run"
            click.echo(f"\r\x1b[K{line}", err=True, nl=False)

    def _end_progress(self) -> None:
        if self._tests and self._shows_progress:
            click.echo("\r\x1b[K", err=True, nl=False)
