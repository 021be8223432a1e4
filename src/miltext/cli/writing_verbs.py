"""The verbs that write a model: `miltext build`, and `miltext rename` and `miltext expose`, for one edit each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.building.choices import BuildOptions, WriteOptions
from miltext.cli.as_json import asks_json, format_option
from miltext.cli.declared import declared
from miltext.cli.habits import quiet
from miltext.cli.progress import Progress
from miltext.cli.streams import (
    STATUSES,
    OptionalNumbers,
    colored,
    existing,
    model_argument,
    nested_option,
    open_whole,
    output_in_folder,
    show,
    write_json,
)

if TYPE_CHECKING:
    from miltext.building.given_weights import GivenWeights
    from miltext.cli.habits import Chosen
    from miltext.descriptions.changes import DescriptionChange
    from miltext.diagnostics.dynamic import Record
    from miltext.drafting.edits import EditOptions, Written
    from miltext.models.model import Model
    from miltext.printing.coremlc import Versions

BUILD_EPILOG = """\b
Examples:
  miltext print Model.mlpackage --elide 64 -o model.mil     # then edit model.mil
  miltext build model.mil --from Model.mlpackage -o New.mlpackage
  miltext build model.mil --from Model.mlpackage -o Model.mlpackage --force
  miltext build program.mil -o New.mlpackage                # from text alone
  miltext build draft.mil -o New.mlpackage                  # omitted types are inferred
  miltext build draft.mil --description draft.toml -o New.mlpackage
  miltext build Model.mlpackage --description model.toml -o New.mlpackage
  miltext build Compiled.mlmodelc -o Recovered.mlpackage
  miltext build Model.mlpackage -o Model.mlmodelc           # compiled, as Apple's compiler writes it
  miltext build model.mil --from Model.mlpackage --no-loss -o New.mlpackage
  miltext build model.mil --from Model.mlpackage --range image=1,3,64..512,64..512 -o New.mlpackage
  miltext build odd.mil --no-check -o Odd.mlpackage         # to see Core ML's own error
  miltext build cut.mil --from Model.mlpackage --prune-weights -o Small.mlpackage
  miltext build both.mil --from A.mlpackage --weights b.bin=B.mlpackage -o AB.mlpackage
  miltext build part.mil --from Pipeline.mlpackage --model 1 -o New.mlpackage
"""

RENAME_EPILOG = """\b
Examples:
  miltext rename Model.mlpackage var_42 logits -o New.mlpackage
  miltext rename Model.mlpackage x image -o Model.mlpackage --force
  miltext rename model.mil x image -o model.mil --force       # comments kept
  miltext rename Pipeline.mlpackage x image -o New.mlpackage  # in all of its models
"""

EXPOSE_EPILOG = """\b
Examples:
  miltext expose Model.mlpackage conv_3 relu_3 -o Probed.mlpackage
  miltext expose Model.mlpackage hidden --function decode -o Probed.mlpackage
  miltext expose Pipeline.mlpackage relu_3 --model 0 -o Probed.mlpackage     # an output of the pipeline, too
"""


model_output = click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    callback=output_in_folder,
    help="The .mlpackage, .mlmodel or .mlmodelc to write.",
)
function_option = click.option("--function", metavar="NAME", help="The function to edit.")


@click.command("build", cls=OptionalNumbers, epilog=BUILD_EPILOG + STATUSES)
@model_argument
@model_output
@click.option("--from", "original", metavar="MODEL", help="The model with the description, metadata and weights.")
@nested_option(
    "With --from, the model in its pipelines whose program is replaced: 1, 1/0, or a name.  [the only ML Program]"
)
@click.option(
    "--weights",
    multiple=True,
    metavar="DIR|NAME=FILE",
    help="The place of weight files, for a text without --from or for files that the model of --from lacks: a folder "
    "or model, or a file for a name in the text; may be repeated.  [a text's folder]",
)
@declared(BuildOptions, "externalize", "description", "prune_weights", "ranges")
@format_option
@click.option(
    "--coremlc-version",
    metavar="VERSION",
    help="In an .mlmodelc, the version of Apple's compiler to state.  [MODEL's, or the newest]",
)
@click.option("--coremlc-mil-version", metavar="VERSION", help="In an .mlmodelc, the version of its MIL component.")
@declared(BuildOptions, "allow_unproven", "no_loss", "force", "check")
def build(
    model: str,
    output: str,
    original: str | None,
    nested: str | None,
    weights: tuple[str, ...],
    ranges: tuple[str, ...],
    coremlc_version: str | None,
    coremlc_mil_version: str | None,
    **choices: Chosen,
) -> None:
    """Write MODEL, usually an edited text, as an .mlpackage, .mlmodel or .mlmodelc.

    With --from, the description, the metadata and the weights are those of that model; --description replaces the
    description. A compiled .mlmodelc becomes a package. A program without a model gets a description made from its
    types. A draft is completed first, as by `miltext infer`.

    An .mlmodelc is written as Apple's compiler writes it; constructs that no known output of the compiler contains are
    refused.

    Changes of the description are shown, with the signs of `miltext diff`.

    All findings of `miltext check` are reported, and nothing is written after an error. An error that the original, or
    a model written unchanged, already has is only a warning.
    """
    if original is None and nested is not None:
        raise click.UsageError("--model chooses a model in the pipeline of --from: add --from MODEL")
    from miltext.descriptions.sizes import read_sizes

    choices["ranges"] = read_sizes(ranges)
    choices["versions"] = _versions(coremlc_mil_version, coremlc_version)
    whole, kept = open_whole(model), None if original is None else open_whole(original)
    write_model(whole, output, original=kept, model=nested, weights=given_weights(weights), **choices)


def _versions(component: str | None, compiler: str | None) -> Versions | None:
    """Return the versions of Apple's compiler in the options."""
    from miltext.printing.coremlc import Versions

    return None if component is compiler is None else Versions(component, compiler)


def given_weights(words: Sequence[str]) -> GivenWeights | None:
    """Return the weights given as `DIR` or `NAME=FILE`; a folder may have a `=` in its name."""
    given: list[str | dict[str, str]] = []
    for word in words:
        name, is_file, file = word.partition("=")
        given.append({name: file} if is_file and not os.path.isdir(word) else existing(word))
    return given or None


# ---- one edit


def edit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of verbs for one edit."""
    own = declared(WriteOptions, "no_loss", "force", "check")
    for option in (own, format_option, nested_option(), function_option, model_output):
        command = option(command)
    return command


@click.command("rename", epilog=RENAME_EPILOG + STATUSES)
@click.argument("model", metavar="MODEL")
@click.argument("old")
@click.argument("new")
@edit_options
def rename(
    model: str, old: str, new: str, output: str, function: str | None, nested: str | None, **how: Chosen
) -> None:
    """Write MODEL with the value OLD renamed to NEW, at its definition and all uses, also in inner blocks and the
    description.

    Without --function, the value is renamed in every function that has it. OUT may also be a .mil. In a pipeline, OLD
    is an input or output of the pipeline, or a value between its models: the name changes in the pipeline and all of
    its models. An invalid NEW, such as `a b` or a reserved word, is refused in an ML Program: other models, such as
    neural networks, allow any names.
    """
    from miltext.drafting.edits import is_of_pipeline, renamed

    whole = open_whole(model)
    if function is not None and is_of_pipeline(whole, nested):
        raise click.UsageError("--function is for an ML Program: choose one in the pipeline with --model")
    write_edit(output, partial(renamed, whole, old, new), function=function, model=nested, **how)


@click.command("expose", epilog=EXPOSE_EPILOG + STATUSES)
@click.argument("model", metavar="MODEL")
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@edit_options
def expose(
    model: str, values: tuple[str, ...], output: str, function: str | None, nested: str | None, **how: bool
) -> None:
    """Write MODEL with each VALUE as an additional output, also in its description. OUT may also be a .mil.

    An output of a model in a pipeline becomes an output of the pipeline, unless a later model has an input of that
    name.
    """
    from miltext.drafting.edits import exposed

    write_edit(output, partial(exposed, open_whole(model), values), function=function, model=nested, **how)


def write_edit(output: str, write: Callable[[Path, EditOptions], Written], **choices: Chosen) -> None:
    """Write an edited model, and show a bar, its warnings and the changes to its description.

    The `choices` are those of `miltext.rename`.
    """
    from miltext.drafting.edits import EditOptions

    with reporting(output) as callbacks:
        written = write(Path(output), EditOptions(**callbacks, **choices))
        show(written.warnings, written.source.text, written.source.name)


# ---- the model


def write_model(source: Model, output: str, *, original: Model | None = None, **choices: Chosen) -> None:
    """Build a model, and show a bar, its warnings and the changes to its description.

    The `choices` are as in `miltext.build`.
    """
    from miltext.drafting.building import build

    with reporting(output) as callbacks:
        warnings = build(source, output, original=original, **callbacks, **choices)
        show(warnings, source.text, source.name)


@contextmanager
def reporting(output: str) -> Iterator[Record]:
    """Show a bar while a model is written, then the changes to its description; yield the callbacks for both."""
    changes: list[DescriptionChange] = []
    with Progress("writing weights") as bar:
        yield {"progress": bar.add, "expect": bar.expect, "on_change": changes.append}
    tell_written(output, changes)


def require_one_end(output: str, dry_run: bool, what: str, end: str = "model") -> None:
    """Raise UsageError unless a verb writes an output, an `end`, or shows its effect; `what` is the effect in words."""
    if output and dry_run:
        raise click.UsageError("--dry-run writes nothing: leave out either --dry-run or -o")
    if not output and not dry_run:
        raise click.UsageError(f"name the {end} to write with -o, or see {what} with --dry-run")


def tell_written(output: str, changes: Sequence[DescriptionChange], facts: Record | None = None) -> None:
    """Report the result: in JSON the whole record, with further `facts`; else the changes to the description."""
    if asks_json():
        write_json({"output": output, "changes": [_record(each) for each in changes], **(facts or {})})
    else:
        show_changes(changes)


def _record(change: DescriptionChange) -> Record:
    names = ("sign", "kind", "name", "old_name", "function", "model", "text")
    return {**{name: getattr(change, name) for name in names}, "details": [each._asdict() for each in change.details]}


def show_changes(changes: Sequence[DescriptionChange]) -> None:
    """Show on standard error the changes to a description, as `miltext diff` shows changes."""
    if changes and not quiet():
        from miltext.diffing.entries import ReportEntry
        from miltext.diffing.text import written

        lines = [ReportEntry(change.sign, (change.text,)) for change in changes]
        click.echo(written(lines, colored(sys.stderr)), nl=False, err=True, color=True)
