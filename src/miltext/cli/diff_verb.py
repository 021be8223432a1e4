"""`miltext diff`: two models compared by structure."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.cli.as_json import JSON, format_options, json_text, note_json
from miltext.cli.given_inputs import InputChoices, input_options
from miltext.cli.progress import weights_bar
from miltext.cli.streams import (
    FAILED,
    WRONG,
    colored,
    nested_option,
    open_whole,
    output_option,
    show_failure,
    write_text,
)
from miltext.diagnostics import MiltextError
from miltext.diagnostics.option_words import of_command
from miltext.models.outputs import kind_of_name

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen
    from miltext.diffing import Difference
    from miltext.models.model import Model
    from miltext.review.revisions import Compare

EPILOG = """\b
Examples:
  miltext diff old.mlpackage new.mlpackage
  miltext diff old.mlpackage new.mlpackage --stat
  miltext diff old.mlpackage new.mlpackage --format json | jq .weights
  miltext diff old.mlpackage new.mlpackage --numbers      # the same program in another form, or other numbers
  miltext diff old.mlpackage new.mlpackage --format unified --draft
  miltext diff old.mlpackage new.mlpackage --format html -o diff.html
  miltext diff old.mlpackage new.mlpackage --format markdown > comment.md
  miltext diff Mine.mlmodelc Apples.mlmodelc              # compiled models, file by file
  miltext diff Old.mlpackage New.mlpackage --model 1      # one model of two pipelines; by default, all
  miltext diff --ignore-weights a.mil b.mil               # texts alone, without weight files
  git show HEAD:model.mil | miltext diff --ignore-weights - model.mil
  miltext diff --git HEAD Model.mlpackage                 # the working tree with the last commit
  miltext diff --git main...HEAD                          # every model that a branch changes
  miltext diff --git HEAD --cached models                 # staged models in a folder
  miltext diff --breaking --git v1 Model.mlpackage        # changes that break apps made for v1
  miltext diff --git v1..v2 Old.mlpackage New.mlpackage   # a renamed model
\b
Exit status: 0 no difference; 1 a difference, with --breaking a breaking one; 2 unknown: a model
cannot be read, or no difference was found and a weight or a model was not read.
"""


@click.command("diff", epilog=EPILOG)
@click.argument("names", nargs=-1, metavar="A B")
@click.option(
    "--git",
    "revisions",
    metavar="REV[..REV]",
    help="Compare models between two revisions of git, or between a revision and the working tree. A and B are then "
    "paths of models or folders; without paths, all models are compared.",
)
@click.option(
    "--cached", is_flag=True, help="With --git REV: compare the revision with the index, not with the working tree."
)
@format_options(
    *("text", "json", "unified", "markdown", "html"),
    default=None,
    help="The output format.  [text; or by the ending of FILE: .json, .md, .html, .diff, .patch]",
)
@click.option(
    "--draft",
    is_flag=True,
    help="With --format unified: compare drafts by line, without parts that `miltext infer` restores.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1000),
    metavar="N",
    help="With --format markdown: at most N characters, with a count of omitted lines.  [65536]",
)
@output_option("Write to FILE instead of standard output.")
@click.option(
    "--breaking", is_flag=True, help="Only changes that break callers: inputs, outputs, types, states, opsets."
)
@click.option("--stat", is_flag=True, help="Only count the differences, by function and scope.")
@click.option(
    "--numbers",
    is_flag=True,
    help="Also run both models on the same inputs, as `compare` does, and show each cause's effect on the outputs.",
)
@input_options
@click.option("--function", default=None, metavar="NAME", help="With --numbers: the function of A to run.  [main]")
@click.option("--full", is_flag=True, help="Open all folds: repeated edits, consequences, names and weights.")
@click.option("--consequences", is_flag=True, help="List the differences that follow from others, by their cause.")
@click.option("--build-info", is_flag=True, help="Also compare the tools that made the models.")
@click.option(
    "--ignore-weights",
    is_flag=True,
    help="For two models without weight files: compare the places of weights.",
)
@nested_option("A model inside each pipeline, by index or name: 1, 1/0.")
def command(
    names: tuple[str, ...],
    revisions: str | None,
    cached: bool,
    breaking: bool,
    nested: str | None,
    output: str,
    numbers: bool,
    function: str | None,
    **options: Chosen,
) -> None:
    """Show the differences between the models A and B, with operations matched by structure.

    Each is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb; one may be `-`, standard input. Signs: + added,
    - removed, ~ changed, > moved, = renamed.
    """
    form = DiffForm(**{name: options.pop(name) for name in DiffForm._fields}).by_ending(output)
    form.refuse_unclear()
    given = InputChoices(**{name: options.pop(name) for name in InputChoices._fields})
    run = _Run(given, function or "main") if numbers else None
    _check_numbers(run, given, function, breaking or form.form == "unified")
    _check_names(names, revisions, cached)
    _check_output(output, form.kind, names)
    compare: Compare = partial(_compared, nested=nested, breaking=breaking, run=run, **options)
    try:
        if revisions is None:
            same = form.write(compare(open_whole(names[0]), open_whole(names[1])), output, names)
        else:
            from miltext.review.revisions import revisions as between

            with between(Path.cwd(), revisions, cached) as review:  # its files exist until all is written
                same = form.write(review.difference(names, compare, breaking=breaking), output, names)
    except MiltextError as error:
        show_failure(error)
        sys.exit(FAILED)
    sys.exit({True: 0, False: WRONG, None: FAILED}[same])


class _Run(NamedTuple):
    """The inputs on which both models are run, and the function."""

    given: InputChoices
    function: str

    def numbers(self, found: Difference, old: Model, new: Model) -> Difference:
        """Return a difference with the numbers of two models, or with the reason why they cannot be compared; for two
        pipelines, with the numbers of each model that differs.
        """
        from miltext.cli.compared_numbers import compared_numbers
        from miltext.evaluation.comparing.runners import compared_subject

        if found.same:
            return found
        if old.is_pipeline and new.is_pipeline:
            return self._numbers_inside(found, old, new)
        try:
            first, second = compared_subject(old, None), compared_subject(new, None)
            return found.with_numbers(compared_numbers(first, second, self.given, function=self.function))
        except MiltextError as failure:
            if failure.path in self.given.read:
                raise
            return found.with_numbers(failure)

    def _numbers_inside(self, found: Difference, old: Model, new: Model) -> Difference:
        from miltext.diffing.numbers import UNKNOWN, DiffNumbers

        if self.given.read or self.given.shapes or self.given.resize:
            problem = "the given inputs are those of one model in the pipeline: --model selects it"
            return replace(found, numbers=DiffNumbers(UNKNOWN, problem))
        models = [
            replace(each, difference=self.numbers(each.difference, *each.sides(old, new)))
            if each.difference is not None
            else each
            for each in found.models
        ]
        return replace(found, models=tuple(models))


def _check_numbers(run: _Run | None, given: InputChoices, function: str | None, is_without: bool) -> None:
    """Raise UsageError for options of numbers without numbers, and for forms that have none."""
    chosen = given.read or given.seed is not None or given.shapes or given.resize or function is not None
    if run is None and chosen:
        raise click.UsageError("inputs and --function are for running the models: add --numbers")
    if run is not None and is_without:
        raise click.UsageError("--numbers is in no unified diff, and not in --breaking: leave out one of them")


def _compared(
    old: Model,
    new: Model,
    *,
    nested: str | None,
    breaking: bool,
    run: _Run | None,
    build_info: bool,
    ignore_weights: bool,
) -> Difference:
    """Return the difference of two models, or of models inside them; with `breaking`, only the breaking changes."""
    from miltext.diffing import diff
    from miltext.diffing.breaking import breaking as breaking_changes

    old, new = old.at(nested), new.at(nested)
    if breaking:
        return breaking_changes(old, new)
    with weights_bar("comparing weights", new) as progress:
        found = diff(old, new, build_info=build_info, ignore_weights=ignore_weights, progress=progress.add)
    return found if run is None else run.numbers(found, old, new)


def _check_output(output: str, kind: str, names: tuple[str, ...]) -> None:
    """Refuse an output that is an input model, or a file of another kind, before the comparison."""
    if output != "-":
        from miltext.models.outputs import check_output

        check_output(output, kind, *names or ("-",))


def _check_names(names: tuple[str, ...], revisions: str | None, cached: bool) -> None:
    """Raise UsageError for paths that cannot be compared with each other."""
    if revisions is not None:
        if "-" in names:
            raise click.UsageError("standard input is in no revision: name a path, or leave out --git")
        return
    if cached:
        raise click.UsageError("--cached is the index of git: add --git HEAD")
    if len(names) != 2:
        few = "name two models, or compare one between revisions: --git HEAD MODEL"
        raise click.UsageError(few if len(names) < 2 else "only two models are compared: leave out all but two")
    if names[0] == names[1] == "-":
        raise click.UsageError("standard input can be only one model: name the other")


_KINDS = {"text": "difference", "json": "json", "unified": "diff", "markdown": "comment", "html": "html"}
"""The kinds of outputs, by the formats."""


def _width(output: str) -> int | None:
    """Return the columns of the terminal that the output goes to; None for any other output."""
    if output != "-" or not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns


class DiffForm(NamedTuple):
    """The output form of a difference: the options, whose help describes each."""

    form: str | None
    draft: bool
    limit: int | None
    stat: bool
    full: bool
    consequences: bool

    @property
    def kind(self) -> str:
        """The kind of the output, in the words of `miltext.models.outputs`."""
        return _KINDS[self.form or "text"]

    def by_ending(self, output: str) -> DiffForm:
        """Return the form with the format of an output's ending, unless an option chose a format."""
        if self.form is not None:
            return self
        kind = None if self.stat else kind_of_name(output)
        chosen = next((form for form, each in _KINDS.items() if each == kind), "text")
        if chosen == JSON:
            note_json(click.get_current_context())
        return self._replace(form=chosen)

    def refuse_unclear(self) -> None:
        """Refuse options that cannot be combined. Raise UsageError."""
        if self.stat and self.form != "text":
            raise click.UsageError("--stat cannot be combined with --format: leave out one of them")
        if self.draft and self.form != "unified":
            raise click.UsageError("--draft selects the lines of a unified diff: add --format unified")
        if self.limit is not None and self.form != "markdown":
            raise click.UsageError("--limit is the length of a comment: add --format markdown")

    def write(self, difference: Difference, output: str, names: tuple[str, ...]) -> bool | None:
        """Write a difference in this form, and return whether the models are the same; None if unknown."""
        write_text(output, [self.text(difference, output)], self.kind, *names)
        return difference.same

    def text(self, difference: Difference, output: str) -> str:
        """Return a difference in this form; in colours only on a terminal."""
        if self.form == "json":
            return json_text(difference.to_json())
        if self.form == "unified":
            return difference.to_unified(draft=self.draft)
        if self.form == "markdown":
            from miltext.diffing.report import LIMIT

            limit = LIMIT if self.limit is None else self.limit
            comment = difference.to_markdown(full=self.full, consequences=self.consequences, limit=limit)
            return of_command(comment) if difference.same else comment
        if self.form == "html":
            return difference.to_html()
        if self.stat:
            return difference.to_stat(width=_width(output), color=output == "-" and colored(sys.stdout))
        from miltext.diffing.report import Shown, report
        from miltext.diffing.text import render_text

        color = output == "-" and colored(sys.stdout)
        shown = Shown(self.full, self.consequences, ("--full", "--consequences"))
        text = render_text(report(difference, shown), color)
        return of_command(text) if difference.same else text  # a text of differences contains names of the models
