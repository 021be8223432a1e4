"""What a weight in a text holds: its record in the file beside the document, summed up as far as that is quick."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from miltext.diagnostics import MiltextError

MOST_BYTES = 1 << 24
"""How much of a weight is read for its summary; a multiple of every element's size."""


def describe_weight(spelled: str, folder: Path | None) -> str | None:
    """Return a value of a text in words, if it is one in a weight file; `folder` is what `@model_path` stands for, if
    any.
    """
    from miltext.models.model_weights import BlobFolder
    from miltext.parsing.parser import parse_value

    if "BLOBFILE" not in spelled:
        return None
    try:
        value = parse_value(spelled)
    except MiltextError:
        return None
    if value.WhichOneof("value") != "blobFileValue":
        return None
    if folder is None:
        return "What the weight holds is known once the text is saved beside its weight files."
    files = BlobFolder(folder)
    try:
        blob = files.blob(value)
        summary = _summary(blob.path, blob.offset, blob.path.stat().st_mtime_ns)
    except (MiltextError, OSError) as failure:
        said = failure.diagnostics[0].message if isinstance(failure, MiltextError) else str(failure)
        return f"The weight cannot be read: {said}"
    finally:
        files.close()
    return f"{blob.count:,} elements of {blob.dtype.name}, {blob.size:,} bytes{summary}"


@lru_cache(maxsize=256)
def _summary(path: Path, offset: int, _changed: int) -> str:
    """Least, greatest and mean value of a record, in words, as of a time; of a long one, those of its beginning."""
    from miltext.models.weights import BlobFile, statistics

    with BlobFile(path) as file:
        blob = file.blob(offset)
        is_long = blob.size > MOST_BYTES
        if is_long:
            blob = replace(blob, size=MOST_BYTES, padding_bits=0, data=blob.data[:MOST_BYTES])
        found = statistics(blob)
    if found is None:
        return ""
    numbers = f"min {found.minimum:.6g}, max {found.maximum:.6g}, mean {found.mean:.6g}"
    return f"; of the first {blob.count:,}, {numbers}" if is_long else f"; {numbers}"
