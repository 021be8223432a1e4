"""The model that a text imports: the signature of its function, and its file if it is a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError
from miltext.diagnostics.option_words import of_command
from miltext.schema.types import spelled
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.checking.imported_functions import Types
    from miltext.lsp.documents import View
    from miltext.parsing.lowering.imports import ImportReference
    from miltext.syntax.tree import Node


def import_in(phrase: Node) -> ImportReference | None:
    """Return the reference that a phrase spells; None if a string in it is invalid."""
    from miltext.parsing.lowering import LoweringError
    from miltext.parsing.lowering.imports import reference_of

    try:
        return reference_of([child.token for child in phrase.children])
    except LoweringError:
        return None


def describe_import(phrase: Node, view: View) -> str | None:
    """Return the signature of the function that a phrase names, or why it cannot be read."""
    from miltext.checking.verifier import beside

    reference = import_in(phrase)
    if reference is None:
        return None
    imports = beside(view.text, view.document.folder).imports
    if imports is None:
        return "Save the text beside the model to see the inputs and outputs of the function."
    try:
        found = imports.function(reference)
    except MiltextError as failure:
        return of_command(failure.diagnostics[0].message)
    head = f"{name_text(found.name)}({_listed(found.inputs)}) -> ({_listed(found.outputs)})"
    return f"```mil\n{head}\n```"


def _listed(values: Types) -> str:
    return ", ".join(f"{spelled(kind)} {name_text(name)}" for name, kind in values.items())


def imported_text(phrase: Node, folder: Path | None) -> Path | None:
    """Return the path of the text that a phrase imports; None for a model of another kind, and for a missing file."""
    from miltext.arrays.problems import ArrayProblem
    from miltext.arrays.regular_files import find

    reference = import_in(phrase)
    if reference is None or folder is None or not reference.file.lower().endswith(".mil"):
        return None
    try:
        path = find(folder, reference.file)
    except ArrayProblem:
        return None
    return path if path.is_file() else None
