"""`miltext diff`: two models compared by structure."""

from __future__ import annotations

import json
import sys

import click

from miltext.cli.progress import weights_bar
from miltext.cli.streams import FAILED, WRONG, colored, nested_option, open_whole, show, write_text
from miltext.diagnostics import MiltextError

EPILOG = """\b
Examples:
  miltext diff old.mlpackage new.mlpackage
  miltext diff old.mlpackage new.mlpackage --stat
  miltext diff old.mlpackage new.mlpackage --format json | jq .weights
  miltext diff old.mlpackage new.mlpackage --format unified --draft
  miltext diff Mine.mlmodelc Apples.mlmodelc              # compiled models, file by file
  miltext diff Old.mlpackage New.mlpackage --model 1      # a model of two pipelines; without it, each
  miltext diff --ignore-weights a.mil b.mil               # texts alone, without weight files
  git show HEAD:model.mil | miltext diff --ignore-weights - model.mil
\b
Exit status: 0 no difference; 1 a difference; 2 unknown: a model cannot be read, or no difference was
found and a weight was not read.
"""


@click.command("diff", epilog=EPILOG)
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "unified"]),
    default="text",
    help="The output format.  [text]",
)
@click.option(
    "--draft",
    is_flag=True,
    help="With --format unified: compare drafts by line, without what `miltext infer` gives back.",
)
@click.option("--stat", is_flag=True, help="Only count the differences.")
@click.option("--full", is_flag=True, help="List all renamed values and all weights, however many.")
@click.option("--build-info", is_flag=True, help="Also compare which tools made the models.")
@click.option(
    "--ignore-weights",
    is_flag=True,
    help="For two models without weight files: compare the places of weights.",
)
@nested_option("A model inside each pipeline, by index or name: 1, 1/0.")
def command(
    old: str, new: str, form: str, draft: bool, stat: bool, full: bool, nested: str | None, **choices: bool
) -> None:
    """Show the differences between the models A and B, with operations matched by structure.

    Each is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb; one may be `-`, standard input. Signs: + added,
    - removed, ~ changed, > moved, = renamed.
    """
    if stat and form != "text":
        raise click.UsageError("--stat cannot be combined with --format: leave out one of them")
    if draft and form != "unified":
        raise click.UsageError("--draft says what the lines of a unified diff are: add --format unified")
    if old == new == "-":
        raise click.UsageError("standard input can be only one of the models: name the other")
    from miltext.diffing import diff

    try:
        models = open_whole(old).at(nested), open_whole(new).at(nested)
        with weights_bar("comparing weights", models[1]) as progress:
            difference = diff(models[0], models[1], progress=progress.add, **choices)
    except MiltextError as error:
        show(error.diagnostics, error.text, error.path)
        sys.exit(FAILED)
    if form == "json":
        text = json.dumps(difference.to_json(), indent=2) + "\n"
    elif form == "unified":
        text = difference.to_unified(draft=draft)
    else:
        text = difference.to_stat() if stat else difference.to_text(color=colored(sys.stdout), full=full)
    write_text("-", [text], "diff" if form == "unified" else "text")
    sys.exit({True: 0, False: WRONG, None: FAILED}[difference.same])
