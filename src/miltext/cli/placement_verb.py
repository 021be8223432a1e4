"""`miltext placement`: where the operations of a model run, and why not on the Neural Engine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.habits import shown_name
from miltext.cli.streams import (
    FAILED,
    WRONG,
    existing,
    nested_option,
    open_whole,
    read_stdin,
    show,
    show_failure,
    write_json,
    write_text,
)
from miltext.diagnostics import MiltextError

if TYPE_CHECKING:
    from miltext.placement.comparing import PlacementDifference
    from miltext.placement.placements import Placement

LIST = "list"
"""The word in place of a profile that lists all."""

EPILOG = """\b
Examples:
  miltext placement analytics.mil
  miltext placement analytics.mil --against before.mil    # moved operations, their boundaries and costs
  miltext placement plan.tsv --json
  miltext placement Model.mlpackage --profile ane-m4-macos27   # by proven rules, without a device
\b
Exit status: 0 all is well; 1 the input is wrong, or with --against a difference; 2 usage, files, with --against
also a placement that cannot be read or compared.
"""


@click.command("placement", epilog=EPILOG)
@click.argument("model", default="-", metavar="[FILE]")
@click.option("--against", metavar="OTHER", help="Show the difference from this placement, which was before.")
@click.option("--profile", metavar="NAME", help="Answer by the rules of this profile; `miltext check --profile list`.")
@nested_option()
@format_option
def command(model: str, against: str | None, profile: str | None, nested: str | None) -> None:
    """Show where the operations of a model run, and why they do not run on the Neural Engine.

    FILE is an `analytics.mil`, which the Core ML runtime writes of a model: each operation has its backend, the
    estimates in milliseconds, and the reasons of refusals in Apple's words. Or it is an export of an MLComputePlan, as
    JSON or as a table with tabs.

    With --profile, FILE is a model or a dump, and each operation gets an answer: supported, not supported with Apple's
    reason, or unknown, where no measurement and no stated limit decides.
    """
    if profile == LIST:
        if model != "-" or against is not None or nested is not None:
            raise click.UsageError("--profile list is about the profiles alone: leave the rest out")
        write_profiles(as_json=asks_json())
        return
    if profile is not None:
        if against is not None:
            raise click.UsageError("--against compares dumps or plans; a profile has neither: leave one option out")
        _predict(model, nested, profile)
        return
    if nested is not None:
        raise click.UsageError("--model chooses a model for --profile: add a profile")
    from miltext.placement.report import difference_lines, difference_record, placement_lines, placement_record

    if against is None:
        new = _placement(model)
        if asks_json():
            write_json(placement_record(new))
        else:
            write_text("-", [f"{line}\n" for line in placement_lines(new)])
        return
    difference = _difference(against, model)
    if asks_json():
        write_json(difference_record(difference))
    else:
        write_text("-", [f"{line}\n" for line in difference_lines(difference)])
    sys.exit(WRONG if difference else 0)


def write_profiles(*, as_json: bool) -> None:
    """Show the profiles."""
    from miltext.placement.rules import known_system, profile_lines, profiles

    if as_json:
        write_json({"profiles": [{"name": each, "system": known_system(each)} for each in profiles()]})
    else:
        write_text("-", [f"{line}\n" for line in profile_lines()])


def _difference(before: str, after: str) -> PlacementDifference:
    """Return the difference of two placements; end the command with status 2 if one cannot be read or compared."""
    from miltext.placement.comparing import compare_placements

    if before == after == "-":
        raise click.UsageError("standard input can be only one placement: name the other")
    try:
        return compare_placements(_placement(before), _placement(after))
    except MiltextError as error:
        show_failure(error)
        sys.exit(FAILED)


def _predict(name: str, nested: str | None, profile: str) -> None:
    """Show the answers of a profile about a model, the only program of a pipeline, or a dump."""
    from miltext.drafting.programs import outlined
    from miltext.dumps.recognition import is_dump
    from miltext.dumps.texts import read_dump
    from miltext.placement.predicted import predict, prediction_lines, prediction_record

    whole = open_whole(name)
    is_text = whole.kind == "mil" and is_dump(whole.text or "")
    program = read_dump(whole.text or "", whole.name).stated if is_text else None
    prediction = predict(program or outlined(whole.select_only(nested)).program, profile)
    if asks_json():
        write_json(prediction_record(prediction))
    else:
        write_text("-", [f"{line}\n" for line in prediction_lines(prediction)])


def _placement(name: str) -> Placement:
    """Return the placement in a file, or on standard input. Raise ModelError (MIL890) for another file."""
    from miltext.diagnostics import Note, codes, warning
    from miltext.files.contents import read_file
    from miltext.files.refusals import refusal
    from miltext.placement.placements import read_placement

    shown = shown_name(name)
    is_folder = name != "-" and Path(existing(name)).is_dir()
    data = b"" if is_folder else read_stdin() if name == "-" else read_file(Path(name))
    found = None if is_folder else read_placement(data, shown)
    if found is None:
        way = Note("for a model, `--profile NAME` answers by proven rules; `miltext check --profile list` lists them")
        message = "this is neither a dump of the runtime nor a compute plan"
        raise refusal(codes.UNREADABLE_PLAN, message, shown, way)
    for device in found.strange:
        message = f"`{device}` is an unknown device: its operations count as neither CPU nor Neural Engine"
        show([warning(codes.UNKNOWN_DEVICE, message)], None, shown)
    return found
