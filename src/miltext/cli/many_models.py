"""Verbs on many models: paths and folders, `--files-from`, `--jobs`, `--executor` and `--cache`.

One model is read by the verb itself, in the same way as if there were no other.
"""

from __future__ import annotations

import os
import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.cli.as_json import asks_json
from miltext.cli.checked_paths import inputs, rules_of
from miltext.cli.habits import STDIN, option_value
from miltext.cli.streams import Decorator, OptionalNumbers, existing, fail, read_stdin, tell

if TYPE_CHECKING:
    from miltext.batches.cache import ResultCache
    from miltext.batches.executing import Workers
    from miltext.batches.named_models import Input
    from miltext.cli.habits import Chosen
    from miltext.cli.one_model import VerbCall, VerbOutcome
    from miltext.cli.shown_outcomes import ShownOutcomes
    from miltext.diagnostics import ModelError

models_argument: Decorator = click.argument("paths", nargs=-1, metavar="[MODEL|DIR]...")
"""The argument of a verb on models, whose function gets one, as `model`."""

DASK = "dask://"
"""The beginning of the address of a scheduler of dask.distributed."""


def _jobs(_context: click.Context, _option: click.Parameter, word: str | None) -> int | None:
    """Return the number of processes; 0 stands for the number of cores."""
    if word is None or word == "auto":
        return None if word is None else 0
    if not word.isdecimal():
        raise click.BadParameter(f"{word!r} is neither a number of processes nor `auto`.")
    return int(word)


def _address(_context: click.Context, _option: click.Parameter, word: str | None) -> str | None:
    if word is not None and not (word.startswith(DASK) and word.rpartition(":")[2].isdecimal()):
        raise click.BadParameter(f"{word!r} is not the address of a scheduler, as in {DASK}localhost:8786.")
    return word


class ManyOptions(NamedTuple):
    """The options of many models."""

    files_from: str | None
    jobs: int | None
    executor: str | None
    cache: str | None


OPTIONS = (
    click.option(
        "--files-from",
        metavar="FILE",
        help="Also read paths from FILE, or `-` for standard input: one per line, or with NUL after each.",
    ),
    click.option(
        "--jobs",
        metavar="N",
        callback=_jobs,
        help="Work in N processes; 0 or `auto` stands for the number of cores.  [1]",
    ),
    click.option(
        "--executor", metavar="ADDRESS", callback=_address, help=f"Work on a cluster of dask: {DASK}HOST:PORT."
    ),
    click.option("--cache", metavar="DIR", help="Keep results in DIR, and take those of unchanged models from there."),
)


class Manner(NamedTuple):
    """How a verb treats many models.

    `expand` returns the models that its paths name, also `missing` ones if these are to have a result. `alone` are the
    parameters that make sense for one model only, with their options. `end` shows the sums of all models. `is_headed`
    is whether each text has the model's name above it; that of a single named model has none.
    """

    argument: str = "model"
    expand: Callable[[Sequence[str], Mapping[str, Chosen], bool], list[Input]] = lambda paths, _, missing: inputs(
        paths, rules_of(None, True), missing=missing
    )
    alone: Mapping[str, str] = {}
    end: Callable[[Counter[str], Mapping[str, Chosen]], None] | None = None
    is_headed: bool = True

    def refuse(self, options: Mapping[str, Chosen], beside: str | None = None) -> None:
        """Raise UsageError for an option that makes sense for one model only; `beside` is an option of many models."""
        for name, option in self.alone.items():
            if options.get(name) not in (None, False, (), "-"):
                if beside is not None:
                    raise click.UsageError(f"{option} does not work with {beside}: leave out one of them")
                raise click.UsageError(f"{option} is for one model: leave it out, or name one model without the others")


class ManyModels(click.Command):
    """A verb that takes any number of models, one by one."""

    manner = Manner()

    def __init__(self, *args: Chosen, manner: Manner | None = None, **named: Chosen) -> None:
        super().__init__(*args, **named)
        self.manner = manner or self.manner
        for option in OPTIONS:
            option(self)

    def invoke(self, ctx: click.Context) -> Chosen:
        """Call the verb for one model, or for each of several."""
        options = ManyOptions(**{name: ctx.params.pop(name) for name in ManyOptions._fields})
        if any(each is not None for each in options) or self._names_several(ctx.params["paths"]):
            sys.exit(_ManyRun(self, ctx, options).status())
        if self.manner.argument == "model":
            ctx.params["model"] = [*ctx.params.pop("paths"), "-"][0]
        return super().invoke(ctx)

    def _names_several(self, paths: Sequence[str]) -> bool:
        from miltext.batches.named_models import is_plain_folder

        return self.manner.argument == "model" and (len(paths) > 1 or any(map(is_plain_folder, paths)))


class ManyModelsWithNumbers(OptionalNumbers, ManyModels):
    """A verb on many models with options whose number is optional."""


class _ManyRun:
    """A call of a verb for many models."""

    def __init__(self, command: ManyModels, context: click.Context, options: ManyOptions) -> None:
        self._manner = command.manner
        self._options = options
        self._params = context.params
        paths: tuple[str, ...] = context.params.pop("paths")
        self._refuse_unclear(paths)
        from miltext.cli.one_model import HABITS, VerbCall

        is_asked = any(each is not None for each in options)  # else, a wrong path is a slip
        self._inputs = self._manner.expand(self._named(paths), context.params, is_asked)
        habits = {name: context.meta[name] for name in HABITS if name in context.meta}
        self._call = VerbCall(
            *(context.info_name or "", self._manner.argument, self._params, habits, asks_json()),
            (sys.stdout.isatty(), sys.stderr.isatty()),
            is_recorded=options.cache is not None,
        )
        if options.executor is not None:
            self._call = self._call.elsewhere()

    def _refuse_unclear(self, paths: Sequence[str]) -> None:
        """Refuse options for one model, and two reports at once."""
        given = (name for name, each in zip(ManyOptions._fields, self._options, strict=True) if each is not None)
        self._manner.refuse(self._params, next((f"--{name.replace('_', '-')}" for name in given), None))
        if self._options.files_from == "-" and "-" in paths:
            raise click.UsageError("standard input is a model or a list of paths, not both: leave out one `-`")
        if self._options.executor is not None and self._options.jobs is not None:
            raise click.UsageError(
                "--jobs does not work with --executor, which is for a cluster: leave out one of them"
            )

    def _named(self, paths: Sequence[str]) -> list[str]:
        listed = [] if self._options.files_from is None else _listed(self._options.files_from)
        if not paths and self._options.files_from is None:
            if self._manner.argument != "model" and not option_value("stdin_filename"):
                raise click.UsageError("name the models, or a file with their paths: --files-from FILE")
            return ["-"]
        return [*paths, *listed]

    def status(self) -> int:
        """Call the verb for each model, show the results, and return the worst status."""
        from miltext.batches.cache import ResultCache

        folder = self._options.cache
        try:
            cache = None if folder is None else ResultCache(Path(folder))
        except OSError as failure:
            fail(f"--cache {folder}: {failure.strerror}")
        shown = self._shown()
        worst, counts = 0, Counter[str]()
        with closing(outcomes(self._call, self._inputs, self._workers(), cache)) as ended:
            for index, found in ended:
                worst = max(worst, found.status)
                counts.update(found.counts)
                shown.add(index, found)
        shown.end()
        if cache is not None and cache.problem is not None:
            tell(f"miltext: --cache {folder}: not all results were kept: {cache.problem.strerror or cache.problem}")
        if self._manner.end is not None:
            self._manner.end(counts, self._params)
        elif not self._inputs:
            tell("miltext: no models are named")
        return worst

    def _shown(self) -> ShownOutcomes:
        from miltext.cli.shown_outcomes import JsonLines, SarifLog, TextOutcomes

        if self._call.is_json:
            return JsonLines(self._inputs)
        if self._params.get("form") == "sarif":
            return SarifLog(self._inputs)
        is_alone = len(self._inputs) == 1 and not self._inputs[0].found
        return TextOutcomes(self._inputs, is_headed=self._manner.is_headed and not is_alone)

    def _workers(self) -> Workers | None:
        from miltext.batches.executing import own_workers

        if self._options.executor is not None:
            from miltext.batches.dask_cluster import dask_workers

            return dask_workers(self._options.executor.removeprefix(DASK))
        jobs = self._options.jobs
        return None if jobs in (None, 1) else own_workers(jobs or 0, len(self._inputs))


def outcomes(
    call: VerbCall, models: Sequence[Input], workers: Workers | None, cache: ResultCache | None
) -> Generator[tuple[int, VerbOutcome], None, None]:
    """Yield the result of a call for each model, with its index, in the order in which they come.

    Results of a cache come first. Standard input is read here, and never kept.
    """
    from miltext.cli.one_model import VerbOutcome, outcome

    left: list[int] = []
    try:
        for index, item in enumerate(models):
            if item.name == "-":
                yield index, outcome(call._replace(is_recorded=False, folder=None), item)
            elif cache is not None and (hit := cache.get(call.work(item))) is not None:
                yield index, VerbOutcome(**hit.result)
            else:
                left.append(index)
        for place, found in _worked(call, [models[index] for index in left], workers):
            if cache is not None and found.reads is not None:
                cache.put(call.work(models[left[place]]), found.reads, found.to_json())
            yield left[place], found
    finally:
        if cache is not None:
            cache.close()


def _worked(call: VerbCall, models: Sequence[Input], workers: Workers | None) -> Iterator[tuple[int, VerbOutcome]]:
    """Yield the results of workers."""
    from miltext.batches.executing import Lost, results
    from miltext.cli.one_model import failed, outcome

    for index, found in results(partial(outcome, call), models, workers):
        if isinstance(found, Lost):
            found = failed(f"{models[index].name}: not finished: {found.reason}")
        yield index, found


def _listed(name: str) -> list[str]:
    """Return the paths in a file, or on standard input: each ends with NUL, or else with the line.

    Programs of Windows end a line with a carriage return and LF, and write a byte order mark first, of UTF-8 or, as
    `>` of PowerShell 5 does, of UTF-16.
    """
    from miltext.files.contents import read_file, wide_text

    data = read_stdin() if name == "-" else read_file(Path(existing(name)))
    shown = STDIN if name == "-" else name
    text = wide_text(data, shown)
    if text is None and _is_unmarked(data):
        raise _unlisted("this is UTF-16 without a byte order mark, by its NULs", shown)
    data = data.removeprefix(BOM_UTF8) if text is None else os.fsencode(text.removeprefix("\ufeff"))
    lines = data.split(b"\0") if b"\0" in data else [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return [_decoded(each, number, shown) for number, each in enumerate(lines, 1) if each]


def _is_unmarked(data: bytes) -> bool:
    """Return whether data looks like UTF-16 without a mark: every second byte is NUL, and no name has two bytes."""
    return len(data) > 3 and len(data) % 2 == 0 and not (any(data[1::2]) and any(data[::2]))


def _decoded(path: bytes, number: int, shown: str) -> str:
    """Return a path of a list; Windows has none for bytes outside UTF-8."""
    try:
        return os.fsdecode(path)
    except UnicodeDecodeError as failure:
        found = f"byte {failure.start + 1} of path {number} is 0x{path[failure.start]:02x}"
        raise _unlisted(f"this is not UTF-8 text: {found}", shown) from failure


def _unlisted(message: str, shown: str) -> ModelError:
    from miltext.diagnostics import Note, codes
    from miltext.files.refusals import refusal

    return refusal(codes.NOT_A_TEXT_FILE, message, shown, Note("write the list of paths as UTF-8"))
