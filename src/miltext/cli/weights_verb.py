"""`miltext weights`: a model's weights, listed or saved as arrays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.progress import Progress
from miltext.cli.streams import STATUSES, load_model, model_argument, nested_option, write_text

if TYPE_CHECKING:
    from miltext.models.model_weights import Weight, Weights

EPILOG = """\b
Examples:
  miltext weights Model.mlpackage
  miltext weights Model.mlpackage --save weights     # weights/conv_1_weight.npy, ...
"""

HEADINGS = ("name", "type", "shape", "bytes", "offset", "digest")


@click.command("weights", epilog=EPILOG + STATUSES)
@model_argument
@nested_option()
@click.option("--save", metavar="DIR", help="Also write each as a .npy file in DIR.")
def command(model: str, nested: str | None, save: str | None) -> None:
    """List MODEL's weights: name, type, shape, bytes, offset in the weight file, and SHA-256 of type and data.

    The offset of a weight in the program itself is `-`. Saved bf16 and fp8 arrays hold bit patterns, and elements of
    sub-byte types take a byte each.
    """
    from miltext.models.outputs import check_place

    weights = load_model(model, nested).weights
    if save is not None:
        check_place(save, model)
    entries = weights.entries
    with Progress("reading weights", lambda: sum(weight.size for weight in entries.values())) as progress:
        rows = [HEADINGS, *(_row(weights, name, weight, progress) for name, weight in entries.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    write_text("-", [f"{line}\n" for line in lines])
    if save is not None:
        save_arrays(weights, Path(save))


def _row(weights: Weights, name: str, weight: Weight, progress: Progress) -> tuple[str, ...]:
    offset = "-" if weight.blob is None else str(weight.blob.offset)
    shape = "x".join(map(str, weight.shape)) or "scalar"
    return name, weight.dtype.name, shape, str(weight.size), offset, weights.digest(weight, progress.add)


def save_arrays(weights: Weights, folder: Path) -> None:
    """Write each weight as `NAME.npy`, all of them or none.

    Characters that are not allowed in file names are written as `%2F` and the like.
    """
    from miltext.models.files import write_new
    from miltext.models.model_weights import npy_pieces
    from miltext.models.staging import Staging

    entries = weights.entries
    with (
        Progress("writing arrays", lambda: sum(weight.elements for weight in entries.values())) as progress,
        Staging(replace=True, parents=True) as staging,
    ):
        for name, weight in entries.items():
            write_new(staging.place(folder / f"{file_stem(name)}.npy"), npy_pieces(weights, weight, progress.add))
        staging.commit()


def file_stem(name: str) -> str:
    """Return the file name for a weight's name, valid on any system and different for every name."""
    made = re.sub(r"[^A-Za-z0-9_@.-]|^\.", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name)
    return made or "%"
