"""`miltext weights`: a model's weights, listed or saved as arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.many_models import Manner, ManyModels, models_argument
from miltext.cli.progress import Progress
from miltext.cli.streams import STATUSES, load_model, nested_option, tell, write_json, write_text
from miltext.diagnostics.wording import listed

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record
    from miltext.weight_files.model_weights import Weight, Weights

EPILOG = """\b
Examples:
  miltext weights Model.mlpackage
  miltext weights Model.mlpackage --save weights     # weights/conv_1_weight.npy, ...
  miltext weights Model.mlpackage --format json | jq '.weights[].digest'
"""

LISTED = 3
"""The number of constants named in a note."""

HEADINGS = ("name", "type", "shape", "bytes", "offset", "digest")


@click.command("weights", cls=ManyModels, manner=Manner(alone={"save": "--save"}), epilog=EPILOG + STATUSES)
@models_argument
@nested_option()
@format_option
@click.option("--save", metavar="DIR", help="Also write each weight as a .npy file in DIR.")
def command(model: str, nested: str | None, save: str | None) -> None:
    """List MODEL's weights: name, type, shape, bytes, offset in the weight file, and SHA-256 of type and data.

    Constants in the program of fewer than 10 elements are settings, and not listed. A draft is completed first. The
    offset of a weight in the program itself, or in an array file, is `-`. Saved bf16 and fp8 arrays contain bit
    patterns, and each element of a sub-byte type is one byte.
    """
    from miltext.drafting.programs import array_files, completed
    from miltext.models.outputs import check_place
    from miltext.weight_files.model_weights import misfits

    source = load_model(model, nested)
    whole, arrays = completed(source), array_files(source)
    weights = whole.weights
    if save is not None:
        check_place(save, model)
    entries = weights.entries
    with Progress("reading weights", lambda: sum(weight.size for weight in entries.values())) as progress:
        records = [_record(weights, name, weight, progress, arrays) for name, weight in entries.items()]
    if not asks_json():
        write_text("-", [f"{line}\n" for line in _table(records)])
    left = [*misfits(whole.program)]
    if left:
        some = listed(left, "and", LISTED)
        tell(f"miltext: not listed: {some}, whose numbers do not fill their types; `miltext check` reports them")
    files = {} if save is None else save_arrays(weights, Path(save))
    if asks_json():
        write_json({"weights": [{**each, "saved": files.get(each["name"])} for each in records]})


def _record(weights: Weights, name: str, weight: Weight, progress: Progress, arrays: Mapping[str, str]) -> Record:
    """Return the facts about a weight; without `file` and `offset` if it is in the program itself, and without `offset`
    if it is in an array file, by its name in `arrays`.
    """
    blob = None if name in arrays else weight.blob
    return {
        "name": name,
        "dtype": weight.dtype.name,
        "shape": list(weight.shape),
        "bytes": weight.size,
        "file": arrays.get(name, blob and blob.fileName),
        "offset": blob and blob.offset,
        "digest": weights.digest(weight, progress.add),
    }


def _table(records: Sequence[Record]) -> list[str]:
    """Return the lines of a table."""
    rows = [HEADINGS, *map(_row, records)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(record: Record) -> tuple[str, ...]:
    offset = "-" if record["offset"] is None else str(record["offset"])
    shape = "x".join(map(str, record["shape"])) or "scalar"
    return record["name"], record["dtype"], shape, str(record["bytes"]), offset, record["digest"]


def save_arrays(weights: Weights, folder: Path) -> dict[str, str]:
    """Write each weight as `NAME.npy`, all or none; return the files by names.

    Characters not allowed in file names are written as `%2F` and the like.
    """
    import numpy as np

    from miltext.arrays.npy import npy_pieces
    from miltext.files.staging import Staging
    from miltext.files.writing import write_new
    from miltext.models.outputs import check_output

    entries = weights.entries
    files = {name: folder / f"{file_stem(name)}.npy" for name in entries}
    with (
        Progress("writing arrays", lambda: sum(weight.elements for weight in entries.values())) as progress,
        Staging(replace=True, parents=True) as staging,
    ):
        for file in files.values():
            check_output(str(file), "npy", "-")
        for name, weight in entries.items():
            chunks = weights.tensor(weight.value).chunks()
            pieces = npy_pieces(np.dtype(weight.dtype.numpy), weight.shape, chunks, progress.add)
            write_new(staging.place(files[name]), pieces)
        staging.commit()
    return {name: str(path) for name, path in files.items()}


def file_stem(name: str) -> str:
    """Return the file name for a weight's name, valid on any system and different for every name."""
    made = re.sub(r"[^A-Za-z0-9_@.-]|^\.", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name)
    return made or "%"
