"""`miltext link`: one model of several."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.declared import declared
from miltext.cli.progress import Progress
from miltext.cli.streams import open_whole, show, weights_option, write_json, write_text
from miltext.cli.writing_verbs import given_weights, model_output
from miltext.linking.options import LinkOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from miltext.cli.habits import Chosen
    from miltext.models.model import Model

EPILOG = """\b
Examples:
  miltext link Encoder.mlpackage Decoder.mlpackage -o Whole.mlpackage
  miltext link e=Encoder.mlpackage d=Decoder.mlpackage --bind e.hidden=d.states -o Whole.mlpackage
  miltext link A.mlpackage B.mlpackage C.mlpackage --apart mask --keep C.logits -o Whole.mlpackage
  miltext link Half.mlpackage Full.mlpackage --cast -o Whole.mlpackage
  miltext link prefill=A.mlpackage decode=B.mlpackage --functions -o Both.mlpackage
\b
Exit status: 0 the model is written, warnings or not; 1 the models do not fit, and nothing is written; 2 usage, files.
"""


@click.command("link", epilog=EPILOG)
@click.argument("models", nargs=-1, required=True, metavar="[NAME=]MODEL...")
@model_output
@click.option(
    "--bind",
    "bindings",
    multiple=True,
    metavar="A.Y=B.X",
    help="The output Y of model A is the input X of B; or two inputs, or two states, are one. May be repeated.",
)
@click.option("--apart", multiple=True, metavar="NAME", help="Inputs of this name mean different values.")
@click.option(
    "--keep",
    multiple=True,
    metavar="[MODEL.]NAME",
    help="An output of the whole, in this order.  [all that no input takes]",
)
@declared(LinkOptions, "cast", "functions")
@click.option(
    "--function",
    "chosen",
    multiple=True,
    metavar="[MODEL=]NAME",
    help="The function of a model, or of all models.  [the default one]",
)
@weights_option
@declared(LinkOptions, "ranges")
@format_option
@declared(LinkOptions, "no_loss", "force", "check")
def command(
    models: tuple[str, ...],
    output: str,
    bindings: tuple[str, ...],
    apart: tuple[str, ...],
    keep: tuple[str, ...],
    chosen: tuple[str, ...],
    weights: tuple[str, ...],
    ranges: tuple[str, ...],
    **choices: Chosen,
) -> None:
    """Write one ML Program of several: outputs of earlier models become inputs of later ones.

    An input takes the last output of its name of an earlier MODEL. Otherwise it is one with the input of its name of an
    earlier MODEL, if types and descriptions are equal. Outputs that no input takes are the outputs of the whole. States
    of one name stay apart. A name that two models have gets the name of its MODEL before it, or a number inside.

    The name of a MODEL is NAME, or else that of its file without the ending; its place, from 0 on, is one, too. An
    input of any size gets the sizes of its output, and the types that follow are inferred. The opset is the newest of
    the models. All weights are in one file, equal ones once.

    With --functions, each MODEL becomes a function of its name, and nothing is bound. The first is the default.
    """
    if choices["functions"] and (bindings or apart or keep or choices["cast"]):
        raise click.UsageError("--functions cannot be combined with --bind, --apart, --keep or --cast: leave these out")
    from miltext.descriptions.sizes import read_sizes
    from miltext.linking.linking import link

    named = _named(models)
    with Progress("writing weights") as bar:
        choices |= {"progress": bar.add, "expect": bar.expect, "ranges": read_sizes(ranges)}
        choices |= {"bind": _bound(bindings, [*named]), "apart": apart, "keep": keep}
        choices |= {"function": _functions(chosen), "weights": given_weights(weights)}
        made = link(named, output, **choices)
    show(made.warnings, None, output)
    if asks_json():
        write_json({"output": output, **made.to_json()})
    else:
        write_text("-", [made.to_text()])


def _named(words: Sequence[str]) -> dict[str, Model]:
    """Return the models by name; a file may have a `=` in its name."""
    from miltext.linking.parts import named_models

    split = [("", "", word) if os.path.lexists(word) else word.rpartition("=") for word in words]
    if nameless := next((path for name, sign, path in split if sign and not name), None):
        raise click.UsageError(f"={nameless} has no name before the =: write NAME={nameless}, or {nameless} alone")
    return named_models([(name, open_whole(path)) for name, _, path in split])


def _bound(words: Iterable[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the bound inputs by their outputs."""
    from miltext.linking.bindings import split_binding

    found: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        source, target = split_binding(word, names)
        if not target:
            raise click.UsageError(f"--bind must be OUTPUT=INPUT, each with its model, as in a.y=b.x, not {word}")
        found[source].append(target)
    return dict(found)


def _functions(words: Sequence[str]) -> str | dict[str, str] | None:
    """Return the functions by model, or the one of all models."""
    if len(words) == 1 and "=" not in words[0]:
        return words[0]
    pairs = [word.rpartition("=") for word in words]
    if any(not sign for _, sign, _ in pairs):
        raise click.UsageError("--function must be one name, or MODEL=NAME for each model")
    return {model: name for model, _, name in pairs} or None
