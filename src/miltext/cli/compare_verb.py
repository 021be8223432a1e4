"""`miltext compare`: two models run on the same inputs."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.compared_numbers import compared_numbers
from miltext.cli.declared import declared
from miltext.cli.given_inputs import InputChoices, input_options
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
    from miltext.evaluation.comparing.comparison import Comparison

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
    from miltext.evaluation.comparing.runners import compared_subject
    from miltext.evaluation.value_files import read_archive

    weights = options.pop("weights")
    first = compared_subject(load_model(old, nested), weights)
    second = None if new is None else compared_subject(load_model(new, nested), weights)
    numbers = None if against is None else read_archive(Path(against))
    return compared_numbers(first, second, given, numbers, **options)
