"""`miltext check`: all that is wrong with programs."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from miltext.cli.streams import (
    CANNOT_READ,
    FAILED,
    WRONG,
    existing,
    fail,
    open_whole,
    show,
    texts_in,
    write_text,
)
from miltext.diagnostics import MiltextError

if TYPE_CHECKING:
    from miltext.diagnostics.reports import Report
    from miltext.models.model import Model
    from miltext.schema.proto import Program

NO_COREMLTOOLS, NO_MODEL_FOLDER = "MIL480", "MIL251"

EPILOG = """\b
Examples:
  miltext check model.mil
  miltext check Model.mlpackage              # places are those of `miltext print Model.mlpackage`
  miltext check model.mil --from Model.mlpackage   # a text that `print --elide` wrote, its values filled in
  miltext check .                            # every .mil below, but for sidecars
  miltext check --format sarif *.mil > found.sarif
  miltext print Model.mlpackage | miltext check -
\b
Exit status: 0 nothing was found; 1 errors or warnings were; 2 usage, files, a missing extra.
"""


@click.command("check", epilog=EPILOG)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    help="For people, or for what reads the report: JSON, SARIF, GitHub's annotations.  [text]",
)
@click.option("--from", "original", metavar="MODEL", help="The model that has the values that texts leave out.")
@click.option("--with-coremltools", "loader", is_flag=True, help="Also run coremltools' own loader.")
def command(paths: tuple[str, ...], form: str, original: str | None, loader: bool) -> None:
    """Report all problems of each PATH, and how to fix them.

    A PATH is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb, a folder of .mil files, or `-` for standard input.
    In a folder, sidecars are passed over: check their models.
    """
    if not paths:
        raise click.UsageError("name the models or folders to check, or `-` for standard input")
    if loader:
        logging.getLogger("coremltools").setLevel(logging.ERROR)  # it warns of missing frameworks that only macOS has
    originals = [] if original is None else [model.program for model in _programs(open_whole(original))]
    reports: list[Report] = []
    for name in _names(paths):
        for report in _reports(name, loader, originals):
            reports.append(report)
            if form == "text":
                show(report.diagnostics, report.text, report.path, err=False)
    if form != "text":
        write_text("-", [_for_machines(form, reports)])
    found = [diagnostic for report in reports for diagnostic in report.diagnostics]
    severities = [diagnostic.severity for diagnostic in found]
    if form == "text":
        click.echo(_summary(severities, len(reports)), err=True)
    if any(diagnostic.code == CANNOT_READ for diagnostic in found):
        sys.exit(FAILED)
    if "error" in severities or "warning" in severities:
        sys.exit(WRONG)


def _for_machines(form: str, reports: Sequence[Report]) -> str:
    from importlib.metadata import version

    from miltext.diagnostics.reports import as_github, as_json, as_sarif

    if form == "sarif":
        return as_sarif(reports, version("miltext"))
    return as_json(reports) if form == "json" else as_github(reports)


def _summary(severities: list[str], programs: int) -> str:
    counts = [(severities.count(kind), kind) for kind in ("error", "warning")]
    found = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for count, kind in counts if count)
    return f"{found or 'nothing found'} in {programs} program{'' if programs == 1 else 's'}"


# ---- the files and models of the paths


def _names(paths: Sequence[str]) -> list[str]:
    """Return the files and models of the paths, each once; those of a plain folder are all .mil below."""
    names: dict[str, str] = {}
    for path in paths:
        for name in _below(path) if path != "-" and _is_plain_folder(existing(path)) else [path]:
            names.setdefault(name if name == "-" else os.path.realpath(name), name)
    return list(names.values())


def _is_plain_folder(path: str) -> bool:
    """Whether a folder is not a model, but may hold some."""
    from miltext.models.opening import open_model

    if not os.path.isdir(path) or path.lower().endswith((".mlpackage", ".mlmodelc")):
        return False
    try:
        open_model(path)
    except MiltextError as error:
        return error.diagnostics[0].code == NO_MODEL_FOLDER
    return False


def _below(folder: str) -> list[str]:
    """Return every .mil below, except for sidecars, which say less than a program."""
    from miltext.review.sidecar import is_sidecar

    return [name for name in texts_in(folder) if not is_sidecar(name)]


# ---- the findings in them


def _reports(name: str, loader: bool, originals: Sequence[Program]) -> Iterator[Report]:
    """Yield the findings in each program of a file or model."""
    try:
        models = list(_programs(open_whole(name)))
    except MiltextError as error:
        yield _refused(error, name)
    else:
        yield from (_checked(model, loader, originals) for model in models)


def _programs(model: Model) -> Iterator[Model]:
    """Yield the ML Programs of a model: itself, or those of its pipelines."""
    inside = [nested for nested in model.models if nested.models or nested.type == "mlProgram"]
    if not inside:
        yield model.select(None)
    for nested in inside:
        yield from _programs(nested)


def _checked(model: Model, loader: bool, originals: Sequence[Program]) -> Report:
    from miltext.checking.verifier import examine
    from miltext.diagnostics.reports import Report

    try:
        checked = examine(model, with_coremltools=loader, originals=originals)
    except MiltextError as error:
        if error.diagnostics[0].code == NO_COREMLTOOLS:
            fail(f"{error.diagnostics[0].message}: {error.diagnostics[0].notes[0].message}")
        return _refused(error, model.name)
    return Report(model.name, checked.diagnostics, checked.text, printed=model.text is None)


def _refused(error: MiltextError, name: str) -> Report:
    from miltext.diagnostics.reports import Report

    return Report(error.path or name, error.diagnostics, error.text)
