"""`miltext print`: a model's program as MIL text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from miltext.cli.streams import load_model, model_argument, output_option, show, show_strict_findings, write_text
from miltext.diagnostics import PrintError, error
from miltext.printing import pieces

if TYPE_CHECKING:
    from miltext.models import Model
    from miltext.proto import Program

EPILOG = """\b
Examples:
  miltext print Model.mlpackage
  miltext print Model.mlmodelc --dialect 1.0 -o model.mil
  miltext print Model.mlpackage --elide 16 | less
  miltext print Model.mlpackage --as-coremlc | sed -n 7p    # what `model.mil:7:12` speaks of
  git show HEAD:model.mlmodel | miltext print
"""


@click.command("print", epilog=EPILOG)
@model_argument
@output_option("Write to FILE instead of standard output.")
@click.option(
    "--dialect", type=click.Choice(["1.0", "1.3"]), default="1.3", show_default=True, help="The version of MIL text."
)
@click.option(
    "--floats", type=click.Choice(["hex", "decimal"]), default="hex", show_default=True, help="How floats are written."
)
@click.option("--elide", type=click.IntRange(min=0), metavar="N", help="Leave out literals of more than N elements.")
@click.option("--as-coremlc", is_flag=True, help="Print what Apple's compiler would write as model.mil.")
@click.option("--strict", is_flag=True, help="Refuse what Apple's syntax cannot say, and warn of what is unproven.")
@click.option("--verify-roundtrip", is_flag=True, help="Prove that the text reads back as the same Program.")
@click.option("--model", "nested", metavar="PATH", help="A model inside a pipeline, by index or name: 1, 1/0.")
def command(
    model: str, output: str, nested: str | None, as_coremlc: bool, verify_roundtrip: bool, **style: Any
) -> None:
    """Print MODEL's program as MIL text that reads back as the same Program.

    MODEL is a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb; `-` or nothing, in a pipe, is standard input.
    """
    loaded = load_model(model, nested)
    if as_coremlc:
        style = _as_coremlc(loaded, style)
    if not (verify_roundtrip or style["strict"]):
        write_text(output, pieces(loaded.program, **style))
        return
    text = "".join(pieces(loaded.program, **style))
    if style["strict"]:
        show_strict_findings(text)
    if verify_roundtrip:
        _prove(text, loaded.program)
    write_text(output, [text])


def _as_coremlc(model: Model, style: dict[str, Any]) -> dict[str, Any]:
    """The arguments for what Apple's compiler would write."""
    if (style["dialect"], style["floats"], style["elide"]) != ("1.3", "hex", None):
        raise click.UsageError("--as-coremlc has no choice of --dialect, --floats or --elide: the compiler decides")
    version = model.specification_version
    known = {"description": model.description, **({"specification_version": version} if version else {})}
    return {**style, **known, "as_coremlc": True, "on_warning": lambda warning: show([warning], None, model.name)}


def _prove(text: str, program: Program) -> None:
    """Prove that the text reads back as the same Program, to the bit."""
    from miltext.parser import parse

    if parse(text).SerializeToString(deterministic=True) != program.SerializeToString(deterministic=True):
        raise PrintError([error("MIL205", "the text reads back as another Program; please report this as a bug")])
