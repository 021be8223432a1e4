"""`miltext compare`: two models run on the same inputs."""

from __future__ import annotations

import math
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.declared import declared
from miltext.cli.given_inputs import InputChoices, given_inputs, input_options, naming_options
from miltext.cli.progress import Progress
from miltext.cli.streams import (
    FAILED,
    WRONG,
    OptionalNumbers,
    colored,
    load_model,
    nested_option,
    show_failure,
    write_json,
    write_text,
)
from miltext.diagnostics import MiltextError
from miltext.evaluation.comparing.options import CompareOptions

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen
    from miltext.evaluation.carried import Carried
    from miltext.evaluation.comparing.comparison import Comparison
    from miltext.evaluation.subjects import Subject

EPILOG = """\b
Examples:
  miltext compare before.mlpackage after.mlpackage
  miltext compare fp32.mlpackage fp16.mlpackage --input image=cat.jpg
  miltext compare model.mlpackage quantized.mlpackage --inputs x.npz --min-snr 25
  miltext compare model.mlpackage --inputs x.npz --against from_a_device.npz
  miltext compare a.mil b.mil --random 7 --format json | jq .first
\b
Exit status: 0 no output is below the threshold; 1 an output is below it, or B lacks an output; 2 the models cannot be
compared: a model cannot be read or run, inputs or the shapes of outputs differ, or no values correspond.
"""


@click.command("compare", cls=OptionalNumbers, epilog=EPILOG)
@click.argument("old", metavar="A")
@click.argument("new", metavar="[B]", required=False)
@input_options
@click.option(
    "--against",
    metavar="FILE",
    help="Instead of B: an .npz file with the expected outputs or inner values of A, by their names.",
)
@declared(CompareOptions, "min_snr", "weights", "function", "runs", "compute", "allow_nan")
@click.option("--all", "full", is_flag=True, help="List all values, not only the worst.")
@format_option
@nested_option("A model inside each pipeline, by index or name: 1, 1/0.")
def command(old: str, new: str | None, against: str | None, full: bool, nested: str | None, **options: Chosen) -> None:
    """Run the models A and B on the same inputs, and show the distances of B's values from A's.

    Each is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb, or a draft; one may be `-`, standard input. Values
    are paired as by `miltext diff`. Inputs have their names in A; by default, they are random.
    """
    if (new is None) == (against is None):
        raise click.UsageError("name a model B to compare with, or give --against FILE")
    if against is not None and options["runs"] > 1:
        raise click.UsageError("--against has the numbers of one run: leave out --runs")
    if options["min_snr"] is not None and math.isnan(options["min_snr"]):
        raise click.UsageError("--min-snr takes a number of dB, not nan")
    if old == new == "-":
        raise click.UsageError("standard input can be only one model: name the other")
    given = InputChoices(**{name: options.pop(name) for name in InputChoices._fields})
    try:
        comparison = _compared(old, new, against, nested, given, options)
        report = comparison.to_json() if asks_json() else comparison.to_text(color=colored(sys.stdout), full=full)
    except MiltextError as error:
        show_failure(error)
        sys.exit(FAILED)
    if isinstance(report, str):
        write_text("-", [report])
    else:
        write_json(report)
    sys.exit(0 if comparison.ok else WRONG)


def _compared(
    old: str, new: str | None, against: str | None, nested: str | None, given: InputChoices, options: dict[str, Chosen]
) -> Comparison:
    from miltext.evaluation.comparing.comparing import compare
    from miltext.evaluation.comparing.runners import compared_subject
    from miltext.evaluation.value_files import read_archive

    weights = options.pop("weights")
    first = compared_subject(load_model(old, nested), weights)
    second = None if new is None else compared_subject(load_model(new, nested), weights)
    numbers = None if against is None else read_archive(Path(against))
    if given.shapes and given.seed is None and not given.read:
        given = given._replace(seed=0)
    inputs = _inputs(first, given, options["function"])
    naming = naming_options(given) if inputs else nullcontext()  # without inputs, all of them are random
    with naming, Progress("comparing", lambda: sum(_operations(each) for each in (first, second) if each)) as progress:
        found = compare(first, second, inputs, against=numbers, seed=given.seed, progress=progress.add, **options)
    return replace(found, seed=given.seed) if given.shapes and given.seed is not None else found


def _inputs(subject: Subject, given: InputChoices, function: str) -> dict[str, Carried]:
    """Return the given inputs, and random ones for given shapes; `compare` makes all others."""
    from miltext.evaluation.evaluator import Evaluator

    evaluator = Evaluator(subject, function, check=False)
    if not given.shapes:
        return given_inputs(evaluator, given._replace(seed=None))
    found = given_inputs(evaluator, given)
    left = given_inputs(evaluator, given._replace(seed=None, shapes={}))
    return {name: value for name, value in found.items() if name in left or name in given.shapes}


def _operations(subject: Subject) -> int:
    """Return the number of operations of a program, without operations of inner blocks."""
    from miltext.schema.walk import statements

    return sum(1 for _ in statements(subject.program))
