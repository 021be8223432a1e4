"""Missing and damaged weights of a compiled model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.compiled.coremldata import TEXT
from miltext.diagnostics import Note, codes, error
from miltext.files.refusals import WeightsError
from miltext.weights.model_weights import BlobFolder, blob_values
from miltext.weights.paths import suspicion

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.diagnostics import Diagnostic
    from miltext.schema.proto import Program


def weight_findings(program: Program, folder: Path | None) -> Iterator[tuple[str, Diagnostic]]:
    """Yield the first fault of each weight file named in a program, with the file's path in the folder.

    A name that no weight file may have comes with the path of the program.
    """
    opened = BlobFolder(folder)
    faulty: set[str] = set()
    for held in blob_values(program):
        name = held.value.blobFileValue.fileName
        if name in faulty:
            continue
        try:
            opened.blob(held.value)
        except WeightsError as failure:
            faulty.add(name)
            yield TEXT if suspicion(name) else name.partition("/")[2], _told(failure, held.name)
    opened.close()


def _told(failure: WeightsError, value: str) -> Diagnostic:
    """Return the finding: an error, but a note where git-lfs has the file."""
    said = failure.diagnostics[0]
    code = (
        codes.MISSING_COMPILED_WEIGHTS
        if said.code in (codes.MISSING_WEIGHT_FILE, codes.LFS_POINTER_OF_WEIGHTS)
        else codes.DAMAGED_COMPILED_WEIGHTS
    )
    made = error(code, f"{said.message} (`{value}`)", None, *said.notes)
    if said.code == codes.MISSING_WEIGHT_FILE:
        missing, way = codes.MISSING_COMPILED_WEIGHTS, codes.TABLE[said.code].way_out
        way = f"{way}; `--ignore {missing}` checks a copy that is kept without its weights"
        made = made._replace(notes=(Note(way),))
    return made._replace(severity="note") if said.code == codes.LFS_POINTER_OF_WEIGHTS else made
