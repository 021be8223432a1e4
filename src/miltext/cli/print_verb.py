"""`miltext print`: a model's program as MIL text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from miltext.cli.progress import weights_bar
from miltext.cli.streams import (
    OptionalNumbers,
    compiled_text,
    load_model,
    model_argument,
    nested_option,
    output_option,
    show,
    show_strict_findings,
    write_text,
)
from miltext.diagnostics import PrintError, error, warning
from miltext.printing.printing import pieces
from miltext.printing.tensors import Style

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.models.refusals import WeightsError
    from miltext.schema.proto import Program

EPILOG = """\b
Examples:
  miltext print Model.mlpackage
  miltext print Model.mlmodelc --dialect 1.0 -o model.mil
  miltext print Model.mlpackage --elide 16 | less
  miltext print Model.mlpackage --annotate                  # what the weights are
  miltext print Model.mlpackage --as-coremlc | sed -n 7p    # what `model.mil:7:12` speaks of
  miltext print Model.mlpackage --compact | less
  miltext print Model.mlpackage --draft --drop-names | less # what people would write
  miltext print Model.mlpackage --html -o model.html
  git show HEAD:model.mlmodel | miltext print
"""


_WITH_DRAFT = "--draft can be combined only with --drop-names, --dialect, --floats, --elide and --inline-weights"


@click.command("print", cls=OptionalNumbers, epilog=EPILOG)
@model_argument
@output_option("Write to FILE instead of standard output.")
@click.option(
    "--dialect", type=click.Choice(["1.0", "1.3"]), default="1.3", show_default=True, help="The version of MIL text."
)
@click.option(
    "--floats",
    type=click.Choice(["hex", "decimal"]),
    help="How floats are written: hex, or decimal with --compact and --draft.",
)
@click.option("--elide", type=click.IntRange(min=0), metavar="N", help="Leave out literals of more than N elements.")
@click.option(
    "--compact", is_flag=True, help="For reading: constants in their place of use, weights by digests; not lossless."
)
@click.option("--draft", is_flag=True, help="Leave out what `miltext infer` gives back: types, and names by place.")
@click.option(
    "--drop-names", is_flag=True, help="With --draft: fold in what is used once; infers to a Program of other names."
)
@click.option("--html", is_flag=True, help="A page of its own: linked values, folding blocks, a find box.")
@click.option("--as-coremlc", is_flag=True, help="Print what Apple's compiler would write as model.mil.")
@click.option(
    "--strict", is_flag=True, help="Refuse what Apple's syntax cannot say, and warn about unproven constructs."
)
@click.option("--verify-roundtrip", is_flag=True, help="Prove that the text reads back as the same Program.")
@click.option(
    "--inline-weights",
    type=click.IntRange(min=0),
    is_flag=False,
    flag_value=sys.maxsize,
    metavar="MAX",
    help="Write the values of weights into the text, of those with no more than MAX elements if it is given.",
)
@click.option("--annotate", is_flag=True, help="End each weight's line with a comment: digest, min, max and mean.")
@nested_option()
def command(
    model: str,
    output: str,
    nested: str | None,
    compact: bool,
    draft: bool,
    drop_names: bool,
    html: bool,
    as_coremlc: bool,
    verify_roundtrip: bool,
    inline_weights: int | None,
    annotate: bool,
    **choices: Any,
) -> None:
    """Print MODEL's program as MIL text that reads back as the same Program.

    MODEL is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb; `-` or nothing, in a pipe, is standard input.
    """
    loaded = load_model(model, nested)
    choices["floats"] = choices["floats"] or ("decimal" if compact or draft else "hex")
    style = Style(**choices)
    if draft or drop_names:
        if not draft or compact or html or as_coremlc or verify_roundtrip or annotate or style.strict:
            raise click.UsageError(_WITH_DRAFT if draft else "--drop-names says how --draft writes: add --draft")
        write_text(output, [_draft(loaded, inline_weights, style, drop_names)], "mil", model)
        return
    if compact or html:
        if as_coremlc or verify_roundtrip or annotate or inline_weights is not None or style.strict:
            raise click.UsageError("--compact and --html can be combined only with --dialect, --floats and --elide")
        write_text(output, _for_reading(loaded, compact, html, style), "html" if html else "mil", model)
        return
    program = loaded.program if inline_weights is None else _with_weights(loaded, inline_weights)
    if as_coremlc:
        printed: Iterable[str] = [_compiled(loaded, program, style, annotate)]
    else:
        printed = _annotated(loaded, program, style) if annotate else pieces(program, style)
    if not (verify_roundtrip or style.strict):
        write_text(output, printed, "mil", model)
        return
    write_text(output, [_shown_to_hold("".join(printed), program, style, verify_roundtrip)], "mil", model)


def _with_weights(model: Model, most: int) -> Program:
    """Return the model's program with the values of weights of at most that many elements in it."""
    from miltext.models.model_weights import BlobFolder
    from miltext.models.weight_printing import inline_weights

    return inline_weights(model.program, BlobFolder(model.model_path), most)


def _annotated(model: Model, program: Program, style: Style) -> list[str]:
    """Return the text with what the weights hold, whole before any is written: a bar and a pager share the terminal."""
    from miltext.models.model_weights import BlobFolder
    from miltext.models.weight_printing import annotated_pieces

    with weights_bar("reading weights", model, passes=2) as progress:
        return list(annotated_pieces(program, BlobFolder(model.model_path, progress.add), style))


def _for_reading(model: Model, compact: bool, html: bool, style: Style) -> Iterable[str]:
    """Return the compact text, or a page of that or of the usual one."""
    made = _compact(model, style) if compact else pieces(model.program, style)
    if not html:
        return made
    from miltext.printing.html_page import page

    return [page("".join(made), model.name)]


def _compact(model: Model, style: Style) -> Iterable[str]:
    """Return the compact text, with one warning if there are weights that cannot be read."""
    from miltext.models.compact import ELIDE, compact_pieces

    style = style if style.elide is not None else style._replace(elide=ELIDE)
    unread: list[WeightsError] = []
    with weights_bar("reading weights", model) as progress:
        made = list(compact_pieces(model, style, on_unread=unread.append, progress=progress.add))
    if unread:
        message = f"weights are shown by their places: {unread[0].diagnostics[0].message}"
        show([warning("MIL302", message)], None, model.name)
    return made


def _draft(model: Model, inline_weights: int | None, style: Style, drop_names: bool) -> str:
    """Return the draft, and show why there is none."""
    from miltext.drafting.writing import to_draft

    def tell(found: Diagnostic) -> None:
        show([found], None, model.name)

    program = model.program if inline_weights is None else _with_weights(model, inline_weights)
    dialect, floats, elide, _ = style
    return to_draft(program, drop_names=drop_names, dialect=dialect, floats=floats, elide=elide, on_warning=tell)


def _compiled(model: Model, program: Program, style: Style, annotate: bool) -> str:
    if annotate or style != Style(strict=style.strict):
        message = (
            "--as-coremlc cannot be combined with --dialect, --floats, --elide or --annotate: the compiler decides"
        )
        raise click.UsageError(message)
    return compiled_text(model, program)


def _shown_to_hold(text: str, program: Program, style: Style, verify_roundtrip: bool) -> str:
    """Return the text, of which what is asked for was shown."""
    if style.strict:
        show_strict_findings(text)
    if verify_roundtrip:
        _prove(text, program)
    return text


def _prove(text: str, program: Program) -> None:
    """Prove that the text reads back as the same Program, to the bit."""
    from miltext.parsing.parser import parse

    if parse(text).SerializeToString(deterministic=True) != program.SerializeToString(deterministic=True):
        raise PrintError([error("MIL205", "the text reads back as another Program; please report this as a bug")])
