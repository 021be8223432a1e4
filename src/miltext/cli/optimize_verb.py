"""`miltext optimize`: removal of unnecessary operations from a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from miltext.building.choices import WriteOptions
from miltext.cli.as_json import asks_json, format_option
from miltext.cli.declared import declared
from miltext.cli.given_inputs import verify_options, verifying_inputs
from miltext.cli.progress import Progress
from miltext.cli.streams import nested_option, open_whole, output_in_folder, show, weights_option, write_text
from miltext.cli.writing_verbs import given_weights, require_one_end, tell_written

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen
    from miltext.descriptions.changes import DescriptionChange

EPILOG = """\b
Examples:
  miltext optimize Model.mlpackage -o New.mlpackage
  miltext optimize Model.mlpackage --dry-run           # the removals, rule by rule
  miltext optimize Model.mlpackage -o New.mlpackage --verify
  miltext optimize Model.mlpackage -o New.mlpackage --skip constant-folding
  miltext optimize Model.mlpackage --dry-run --format json
\b
Exit status: 0 all is well, changes or not; 1 the model is wrong, or a proof failed, and nothing is
written; 2 usage, files.
"""


@click.command("optimize", epilog=EPILOG)
@click.argument("model")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    callback=output_in_folder,
    default="",
    help="The .mlpackage, .mlmodel, .mlmodelc or .mil to write.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing: show the removals.")
@click.option("--skip", "skipped", multiple=True, metavar="RULE", help="Leave a rule or pass out; may be repeated.")
@verify_options
@nested_option()
@weights_option
@format_option
@declared(WriteOptions, "no_loss", "force", "check")
def command(
    model: str,
    output: str,
    dry_run: bool,
    skipped: tuple[str, ...],
    verify: bool,
    archive: str | None,
    nested: str | None,
    weights: tuple[str, ...],
    **choices: Chosen,
) -> None:
    """Write MODEL without unnecessary operations: every number keeps its bits.

    All exact packaged rules and passes apply until none changes anything: dead code, common subexpressions,
    operations on constants, casts, transposes and reshapes that cancel or join, operations that return their input. A
    compressed weight stays compressed. Names of inputs and outputs, description and weights are kept as in every edit.
    """
    from miltext.rewriting.optimizing import optimize

    require_one_end(output, dry_run, "the operations to remove")
    whole = open_whole(model)
    changes: list[DescriptionChange] = []
    with Progress("writing weights") as bar:
        choices |= {"progress": bar.add, "expect": bar.expect, "on_change": changes.append}
        choices |= {"weights": given_weights(weights), "model": nested, "skip": skipped}
        choices |= {"verify": verify, "inputs": verifying_inputs(archive, verify=verify)}
        made = optimize(whole, output or None, **choices)
    show(made.warnings, whole.text, whole.name)
    tell_written(output, changes, {**made.to_json(), "output": output or None})
    if not asks_json():
        write_text("-", [made.summary()])
