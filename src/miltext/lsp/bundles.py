"""The findings around a text inside a compiled model: in its other files, and in the other models of a pipeline."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.contract.files import FileFindings
from miltext.checking.contract.whole import bundle_files, whole_findings
from miltext.checking.findings import elsewhere
from miltext.checking.verifier import examine
from miltext.containers.bundle import BundleModel, open_bundle
from miltext.diagnostics import MiltextError
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Stage

BUNDLE = ".mlmodelc"


class Surroundings(NamedTuple):
    """The compiled model whose text a document is, None for any other document, and the findings around the text."""

    model: BundleModel | None
    diagnostics: list[Diagnostic]


@with_room
def surroundings(path: str | None, text: str) -> Surroundings:
    """Return the findings of `check` around the text of a document: in the files of the compiled model that contains
    it, without the findings in the text itself.

    The files are read anew each time, of weight files only the records. A finding has a place if it is in the text;
    otherwise its message names the file.
    """
    folder = _bundle_around(path)
    if path is None or folder is None:
        return Surroundings(None, [])
    try:
        whole = open_bundle(folder, str(folder))
        programs = whole.programs()
        own = next((each.model for each in programs if each.model.name == path), None)
        if not isinstance(own, BundleModel):
            return Surroundings(None, [])
        own.text = text
        found = [*whole_findings(whole), *(each for stage in programs for each in _of_stage(stage, own))]
    except MiltextError as failure:
        found, own = [_refused(failure, str(folder))], None
    return Surroundings(own, [shown for each in found for shown in _shown(each, folder, path, text)])


def _bundle_around(path: str | None) -> Path | None:
    """Return the outermost compiled model around a path."""
    around = [each for each in Path(path).parents if each.suffix.lower() == BUNDLE] if path is not None else []
    return around[-1] if around else None


def _of_stage(stage: Stage, own: BundleModel) -> Iterator[FileFindings]:
    """Yield the findings in the files of a model in a pipeline, and those in its program, if it is not the `own`."""
    if stage.place:
        yield from bundle_files(stage.model)
    if stage.model is not own:
        try:
            found, text = examine(stage.model)
        except MiltextError as failure:
            yield _refused(failure, stage.model.name)
        else:
            yield FileFindings(stage.model.name, found, text)


def _refused(failure: MiltextError, name: str) -> FileFindings:
    return FileFindings(failure.path or name, failure.diagnostics, failure.text)


def _shown(found: FileFindings, folder: Path, path: str, text: str) -> Iterator[Diagnostic]:
    """Yield the findings in a file as findings of the text at a path: a finding in another file names that file."""
    for each in found.diagnostics:
        if found.path == path:
            yield each if found.text == text else each._replace(span=None, suggestion=None)
            continue
        place = os.path.relpath(found.path, folder) if found.path != str(folder) else folder.name
        yield elsewhere(each, found.text, place)
