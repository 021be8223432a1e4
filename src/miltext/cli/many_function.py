"""The function `miltext.many`: a verb on many models, by any executor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.batches.cache import ResultCache
from miltext.batches.executing import Lost, Workers, given_workers, own_workers, results
from miltext.cli.captured import Captured
from miltext.cli.checked_paths import inputs, rules_of
from miltext.cli.many_models import ManyModels, ManyOptions, outcomes
from miltext.cli.one_model import HABITS, VerbCall, command_of
from miltext.cli.shown_outcomes import diagnostic_of, record_of
from miltext.cli.streams import FAILED, SETUP, WRONG
from miltext.diagnostics import Diagnostic, MiltextError, ModelError, codes, error
from miltext.diagnostics.arguments import checked

if TYPE_CHECKING:
    from miltext.batches.named_models import Input
    from miltext.cli.one_model import VerbOutcome
    from miltext.diagnostics.dynamic import Json

HERE = (ProcessPoolExecutor, ThreadPoolExecutor)
"""The executors whose workers have the working folder and the version of this process."""


class ManyResult(NamedTuple):
    """The result of `miltext.many` for a model: its `path`, and the exit `status` of the verb.

    The `result` is the JSON of the verb, or the value that a function returned. A `diagnostic` is the reason for an
    absent result.
    If a process ends in the middle of its work, the models that it or its executor was to read are tried again, each
    alone in a new process; the one that ends that process, too, has a diagnostic.
    """

    path: str
    status: int
    result: Json | None
    diagnostic: Diagnostic | None


@checked("options", "jobs", "cache")
def many(
    verb: str | Callable[[str], object],
    paths: Iterable[str | os.PathLike[str]],
    *,
    options: Iterable[str] = (),
    executor: Executor | None = None,
    jobs: int = 1,
    cache: str | os.PathLike[str] | None = None,
) -> Iterator[ManyResult]:
    """Call a verb for each of many models, and yield the results as they come.

    An error in a model is its result, and does not end the run. A folder stands for all models below it.

    Args:
        verb: A verb of the command that takes many models: "check", "cost", "describe", "find", "fmt", "info", "run",
            "size" or "weights". Or a function of a path; other processes import it by its name.
        paths: The paths of models and folders.
        options: The options of the verb, as words of the command line.
        executor: Any executor of `concurrent.futures`, such as that of a client of dask.distributed.
        jobs: Without an executor, the number of processes; 0 for the number of cores.
        cache: The folder where results of a verb are kept, so that an unchanged model is not read again.

    Returns:
        An iterator of the results, in the order in which they come.

    Raises:
        ModelError: A folder contains no model, or options name a file that does not exist.
        OSError: The cache is not a folder.
        ValueError: The verb takes one model, or has no such options.

    Example:
        wrong = [each.path for each in miltext.many("check", ["Model.mlpackage", "model.mil"]) if each.status]
    """
    names = _names(paths)
    _refuse(executor, jobs, cache)
    if callable(verb):
        if [*options] or cache is not None:
            raise ValueError("`options` and `cache` are for verbs by name: leave them out for a function")
        return _answers_of(verb, names, executor, jobs)
    return _results_of(verb, names, [*options], executor, jobs, cache)


def _refuse(executor: Executor | None, jobs: int, cache: str | os.PathLike[str] | None) -> None:
    """Refuse values of arguments that are wrong, alone or together. Raise TypeError, ValueError."""
    if executor is not None and not hasattr(executor, "submit"):
        raise TypeError(f"`executor` of many() must be an Executor or None, not {type(executor).__name__}")
    if jobs < 0:
        raise ValueError(f"`jobs` of many() must be 0 or more, not {jobs}")
    if cache is not None and not os.fspath(cache):
        raise ValueError("`cache` of many() is empty: name a folder")
    if executor is not None and jobs != 1:
        raise ValueError("`jobs` is for processes of this machine: leave out `jobs` or `executor`")


def _names(paths: object) -> list[str]:
    if isinstance(paths, str | bytes | os.PathLike) or not isinstance(paths, Iterable):
        raise TypeError(f"`paths` of many() must be several paths, not {type(paths).__name__}")
    names = [*paths]
    for each in names:
        if not isinstance(each, str | os.PathLike):
            raise TypeError(f"`paths` of many() must be several paths, but contains {type(each).__name__}")
    return [os.fspath(each) for each in names]


def _workers(executor: Executor | None, jobs: int, models: int) -> Workers | None:
    if executor is not None:
        return given_workers(executor)
    return None if jobs == 1 else own_workers(jobs, models)


def _results_of(
    verb: object,
    names: Sequence[str],
    options: list[str],
    executor: Executor | None,
    jobs: int,
    cache: str | os.PathLike[str] | None,
) -> Iterator[ManyResult]:
    """Return the results of a verb, after all refusals."""
    call, models = _asked(verb, names, options)
    if executor is not None and not isinstance(executor, HERE):
        call = call.elsewhere()
    call = call._replace(is_recorded=cache is not None)
    kept = None if cache is None else ResultCache(Path(cache))
    found = outcomes(call, models, _workers(executor, jobs, len(models)), kept)
    return (_result(models[index].name, each) for index, each in found)


def _asked(verb: object, names: Sequence[str], options: list[str]) -> tuple[VerbCall, list[Input]]:
    """Return the call of a verb with options, and the models."""
    from miltext.cli import VERBS

    command = command_of(verb) if isinstance(verb, str) and verb in VERBS else None
    if not isinstance(command, ManyModels):
        raise ValueError(f"{verb!r} is not a verb on many models: see help(miltext.many)")
    try:
        with command.make_context(str(verb), [*options, "--json"], resilient_parsing=False) as context:
            return _call_of(command, context, names)
    except click.UsageError as failure:
        raise ValueError(f"options of {verb}: {failure.format_message()}") from None


def _call_of(command: ManyModels, context: click.Context, names: Sequence[str]) -> tuple[VerbCall, list[Input]]:
    params = {name: value for name, value in context.params.items() if name not in ManyOptions._fields}
    if params.pop("paths"):
        raise ValueError("`options` contains a path: paths are an argument of their own")
    command.manner.refuse(params)
    habits = {name: context.meta[name] for name in HABITS if name in context.meta}
    models = inputs_of(lambda: command.manner.expand(names, params, True))
    return VerbCall(context.info_name or "", command.manner.argument, params, habits, True, (False, False)), models


def inputs_of(expand: Callable[[], list[Input]]) -> list[Input]:
    """Return models; raise ModelError where the command ends with a message."""
    kept = Captured()
    with click.Context(click.Command("many")) as context:
        kept.begin(context)
        try:
            return expand()
        except SystemExit:
            message = kept.err.written.strip().removeprefix("miltext: ")
            raise ModelError([error(codes.UNREADABLE_FILE, message)]) from None


def _result(name: str, found: VerbOutcome) -> ManyResult:
    record = record_of(found)
    return ManyResult(name, found.status, record, diagnostic_of(found) if record is None else None)


# ---- functions


def _answers_of(
    function: Callable[[str], object], names: Sequence[str], executor: Executor | None, jobs: int
) -> Iterator[ManyResult]:
    """Return the results of a function, after all refusals."""
    models = inputs_of(lambda: inputs(names, rules_of(None, True), missing=True))
    return _answers(function, models, _workers(executor, jobs, len(models)))


def _answers(
    function: Callable[[str], object], models: Sequence[Input], workers: Workers | None
) -> Iterator[ManyResult]:
    for index, found in results(partial(_answer, function), [each.name for each in models], workers):
        name = models[index].name
        yield _refused(name, f"{name}: not finished: {found.reason}") if isinstance(found, Lost) else found


def _answer(function: Callable[[str], object], name: str) -> ManyResult:
    """Return the result of a function for a model."""
    try:
        return ManyResult(name, 0, function(name), None)
    except MiltextError as failure:
        first = failure.diagnostics[0]
        return ManyResult(name, FAILED if first.code in SETUP else WRONG, None, first)
    except OSError as failure:
        return _refused(name, f"{failure.filename or name}: {failure.strerror or failure}")


def _refused(name: str, message: str) -> ManyResult:
    return ManyResult(name, FAILED, None, error(codes.MODEL_WITHOUT_RESULT, message))
