"""`miltext diff`: two models compared by structure."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from miltext.cli.progress import weights_bar
from miltext.cli.streams import FAILED, WRONG, colored, nested_option, open_whole, output_option, show, write_text
from miltext.diagnostics import MiltextError

if TYPE_CHECKING:
    from miltext.diffing import Difference

EPILOG = """\b
Examples:
  miltext diff old.mlpackage new.mlpackage
  miltext diff old.mlpackage new.mlpackage --stat
  miltext diff old.mlpackage new.mlpackage --format json | jq .weights
  miltext diff old.mlpackage new.mlpackage --format unified --draft
  miltext diff old.mlpackage new.mlpackage --format html -o diff.html
  miltext diff old.mlpackage new.mlpackage --format markdown > comment.md
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
    type=click.Choice(["text", "json", "unified", "markdown", "html"]),
    default="text",
    help="The output format.  [text]",
)
@click.option(
    "--draft",
    is_flag=True,
    help="With --format unified: compare drafts by line, without what `miltext infer` gives back.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1000),
    metavar="N",
    help="With --format markdown: at most N characters, and how many lines are left out.  [65536]",
)
@output_option("Write to FILE instead of standard output.")
@click.option("--stat", is_flag=True, help="Only count the differences.")
@click.option("--full", is_flag=True, help="List all renamed values and all weights, however many.")
@click.option("--build-info", is_flag=True, help="Also compare which tools made the models.")
@click.option(
    "--ignore-weights",
    is_flag=True,
    help="For two models without weight files: compare the places of weights.",
)
@nested_option("A model inside each pipeline, by index or name: 1, 1/0.")
def command(old: str, new: str, nested: str | None, output: str, **options: Any) -> None:
    """Show the differences between the models A and B, with operations matched by structure.

    Each is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb; one may be `-`, standard input. Signs: + added,
    - removed, ~ changed, > moved, = renamed.
    """
    form = Form(**{name: options.pop(name) for name in Form._fields})
    form.refuse_unclear()
    if old == new == "-":
        raise click.UsageError("standard input can be only one of the models: name the other")
    from miltext.diffing import diff

    try:
        models = open_whole(old).at(nested), open_whole(new).at(nested)
        with weights_bar("comparing weights", models[1]) as progress:
            difference = diff(models[0], models[1], progress=progress.add, **options)
    except MiltextError as error:
        show(error.diagnostics, error.text, error.path)
        sys.exit(FAILED)
    if output != "-":
        from miltext.models.outputs import check_place

        check_place(output, old)
    write_text(output, [form.text(difference, output)], form.kind, new)
    sys.exit({True: 0, False: WRONG, None: FAILED}[difference.same])


class Form(NamedTuple):
    """The form in which a difference is to be shown: the options, which say what each means."""

    form: str
    draft: bool
    limit: int | None
    stat: bool
    full: bool

    @property
    def kind(self) -> str:
        """What the output is, as `miltext.models.outputs` calls it."""
        return "html" if self.form == "html" else "told"

    def refuse_unclear(self) -> None:
        """Refuse options that do not go together. Raise UsageError."""
        if self.stat and self.form != "text":
            raise click.UsageError("--stat cannot be combined with --format: leave out one of them")
        if self.draft and self.form != "unified":
            raise click.UsageError("--draft says what the lines of a unified diff are: add --format unified")
        if self.limit is not None and self.form != "markdown":
            raise click.UsageError("--limit says how long a comment may be: add --format markdown")

    def text(self, difference: Difference, output: str) -> str:
        """Return a difference in this form; in colours only on a terminal."""
        if self.form == "json":
            return json.dumps(difference.to_json(), indent=2) + "\n"
        if self.form == "unified":
            return difference.to_unified(draft=self.draft)
        if self.form == "markdown":
            return difference.to_markdown(full=self.full, **({} if self.limit is None else {"limit": self.limit}))
        if self.form == "html":
            return difference.to_html()
        if self.stat:
            return difference.to_stat()
        return difference.to_text(color=output == "-" and colored(sys.stdout), full=self.full)
