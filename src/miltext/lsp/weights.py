"""The contents of a weight in a text: its record in a file beside the document, with a summary of the part that can be
read quickly; for an array, the facts in its header.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError
from miltext.diagnostics.option_words import of_command

if TYPE_CHECKING:
    from miltext.parsing.lowering.arrays import ArrayReference
    from miltext.syntax.tree import Node


def describe_weight(spelled: str, folder: Path | None) -> str | None:
    """Return a description of a value of a text, if it is in a weight file; `folder` stands for `@model_path`, if
    any.
    """
    from miltext.parsing.parser import parse_value
    from miltext.weight_files.model_weights import BlobFolder

    if "BLOBFILE" not in spelled:
        return None
    try:
        value = parse_value(spelled)
    except MiltextError:
        return None
    if value.WhichOneof("value") != "blobFileValue":
        return None
    if folder is None:
        return "Save the text beside its weight files to see the contents of the weight."
    files = BlobFolder(folder)
    try:
        blob = files.blob(value)
        summary = _summary(blob.path, blob.offset, blob.path.stat().st_mtime_ns)
    except (MiltextError, OSError) as failure:
        reason = failure.diagnostics[0].message if isinstance(failure, MiltextError) else str(failure)
        return of_command(f"The weight cannot be read: {reason}")
    finally:
        files.close()
    return f"{blob.count:,} elements of {blob.dtype.name}, {blob.size:,} bytes{summary}"


@lru_cache(maxsize=256)
def _summary(path: Path, offset: int, _changed: int) -> str:
    """Least, greatest and mean value of a record, in words, at a time; for a long record, of its beginning."""
    from miltext.weight_files.blob_storage import BlobFile
    from miltext.weight_files.statistics import MOST_BYTES, statistics

    with BlobFile(path) as file:
        blob = file.blob(offset)
        found = statistics(blob, most=MOST_BYTES * 8 // blob.dtype.bits)
    if found is None:
        return ""
    numbers = f"min {found.minimum:.6g}, max {found.maximum:.6g}, mean {found.mean:.6g}"
    return f"; {numbers}" if found.elements == blob.count else f"; of the first {found.elements:,}, {numbers}"


def array_in(phrase: Node) -> ArrayReference | None:
    """Return the array that a phrase names; None if a string in it is invalid."""
    from miltext.parsing.lowering import LoweringError
    from miltext.parsing.lowering.values import ArrayFile

    children = [child.token for child in phrase.children]
    try:
        return ArrayFile([None, *children] if phrase.absent else children).reference
    except LoweringError:
        return None


def describe_array(reference: ArrayReference | None, folder: Path | None) -> Iterator[str]:
    """Yield the facts in the header of an array's file, in words; `folder` is the file's folder, if known."""
    from miltext.arrays.opening import open_array

    if reference is None:
        return
    if folder is None:
        yield "Save the text beside the file to see the type and the sizes of the array."
        return
    try:
        opened = open_array(reference, folder)
    except MiltextError as failure:
        yield of_command(failure.diagnostics[0].message)
        return
    header = opened.header
    sizes = ", ".join(map(str, opened.shape))
    yield f"`{reference.file}`: {header.dtype.name}, [{sizes}]; {header.number:,} elements, {opened.size:,} bytes"


def describe_record(text: str, record: Node, around: Node, folder: Path | None) -> str:
    """Return the long form of a record, and its contents if its type is there; `around` is the phrase around it."""
    from miltext.parsing.lowering.blobs import blob_text

    _, _, path, _, offset, _ = (child.token or "" for child in record.children)
    written = blob_text(path, offset)
    typed = text[around.start : record.start] + written + ")" if around.name == "value" else ""
    return "\n\n".join(filter(None, [f"short for `{written}`", describe_weight(typed, folder)]))
