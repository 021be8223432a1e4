"""Missing and damaged weight files of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.contract.files import FileFindings
from miltext.diagnostics import Note, codes, error
from miltext.files.refusals import WeightsError
from miltext.weights.model_weights import BlobFolder, blob_values
from miltext.weights.paths import suspicion

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model


def weight_findings(model: Model) -> list[FileFindings]:
    """Return the first fault of each weight file that the program of a model names, at the file.

    A name that no weight file may have is reported at the program. Raise MiltextError for an unreadable program.
    """
    opened = BlobFolder(model.model_path)
    faulty: set[str] = set()
    found: list[FileFindings] = []
    for held in blob_values(model.program):
        name = held.value.blobFileValue.fileName
        if name in faulty:
            continue
        try:
            opened.blob(held.value)
        except WeightsError as failure:
            faulty.add(name)
            found.append(FileFindings(_path(model, name), [_diagnostic(failure, held.name)], None))
    opened.close()
    return found


def _path(model: Model, name: str) -> str:
    """Return the path of the file that a fileName means."""
    if suspicion(name) or model.model_path is None:
        return model.name
    return str(model.model_path / name.partition("/")[2])


def _diagnostic(failure: WeightsError, value: str) -> Diagnostic:
    """Return the finding of a weight file that the `value` names."""
    reason = failure.diagnostics[0]
    absent = (codes.MISSING_WEIGHT_FILE, codes.LFS_POINTER_OF_WEIGHTS)
    code = codes.MISSING_WEIGHTS if reason.code in absent else codes.DAMAGED_WEIGHTS
    made = error(code, f"{reason.message} (`{value}`)", None, *reason.notes)
    if reason.code == codes.MISSING_WEIGHT_FILE:
        way = f"{codes.TABLE[reason.code].way_out}; `--ignore {code}` checks a copy that is kept without its weights"
        made = made._replace(notes=(Note(way),))
    return made
