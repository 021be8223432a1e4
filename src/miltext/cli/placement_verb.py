"""`miltext placement`: where the operations of a model run, and why not on the Neural Engine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.habits import shown_name
from miltext.cli.streams import WRONG, existing, read_stdin, write_json, write_text

if TYPE_CHECKING:
    from miltext.placement.placements import Placement

EPILOG = """\b
Examples:
  miltext placement analytics.mil
  miltext placement analytics.mil --against other/analytics.mil   # what moved, at what boundary, at what cost
  miltext placement plan.tsv --json
\b
Exit status: 0 all is well; with --against, no difference; 1 the input is wrong, or a difference; 2 usage, files.
"""


@click.command("placement", epilog=EPILOG)
@click.argument("model", default="-", metavar="[FILE]")
@click.option("--against", metavar="OTHER", help="Show the difference from this placement, which was before.")
@format_option
def command(model: str, against: str | None) -> None:
    """Show where the operations of a model run, and why they do not run on the Neural Engine.

    FILE is an `analytics.mil`, which the Core ML runtime writes of a model: each operation has its backend, the
    estimates in milliseconds, and the reasons of refusals in Apple's words. Or it is an export of an MLComputePlan, as
    JSON or as a table with tabs.
    """
    from miltext.placement.report import difference_lines, difference_record, placement_lines, placement_record

    new = _placement(model)
    if against is None:
        if asks_json():
            write_json(placement_record(new))
        else:
            write_text("-", [f"{line}\n" for line in placement_lines(new)])
        return
    from miltext.placement.comparing import compare_placements

    difference = compare_placements(_placement(against), new)
    if asks_json():
        write_json(difference_record(difference))
    else:
        write_text("-", [f"{line}\n" for line in difference_lines(difference)])
    sys.exit(WRONG if difference else 0)


def _placement(name: str) -> Placement:
    """Return the placement in a file, or on standard input. Raise ModelError (MIL890) for another file."""
    from miltext.diagnostics import codes
    from miltext.files.contents import read_file
    from miltext.files.refusals import refusal
    from miltext.placement.placements import read_placement

    data = read_stdin() if name == "-" else read_file(Path(existing(name)))
    shown = shown_name(name)
    found = read_placement(data, shown)
    if found is None:
        raise refusal(codes.UNREADABLE_PLAN, "this is neither a dump of the runtime nor a compute plan", shown)
    return found
