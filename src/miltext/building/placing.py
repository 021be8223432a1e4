"""Places in the program's text for building errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.editing import own_bodies
from miltext.building.filling import blame
from miltext.diagnostics import MiltextError, ModelError, Note
from miltext.files.refusals import BlamedPart
from miltext.parsing.parser import parse_tree
from miltext.syntax.phrases import functions, inputs, name_in, name_token, opset, returned, string_of
from miltext.syntax.tree import walk

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.syntax.tree import Node


def placed(failure: ModelError, source: Model) -> MiltextError:
    """Return an error about the program of a source, with the place in its text, or its name if it is not a text."""
    subject = failure.about
    text = None if "program" in vars(source) else source.text  # a program that was read before may have changed
    if not isinstance(subject, BlamedPart) or text is None:
        failure.path = failure.path or source.name
        return failure
    if subject.kind == "array":
        return blame(text, source.name, subject.name, failure)
    phrase = next(_phrases(parse_tree(text).root, subject), None)
    if phrase is None:
        return failure
    found = failure.diagnostics[0]
    files = [Note(f"the file is {failure.path}")] if failure.path and Path(failure.path).is_file() else []
    made = found._replace(span=phrase.span, notes=(*files, *found.notes))
    return type(failure)([made], text=text, path=source.name)


def _phrases(root: Node, subject: BlamedPart) -> Iterator[Node]:
    if subject.kind == "weight":
        blobs = (phrase for phrase in walk(root) if phrase.name == "blob_path")
        tokens = (token for blob in blobs for token in blob.children if token.name == "STRING")
        return (token for token in tokens if string_of(token) == subject.name)
    own = [function for function in functions(root) if name_in(function) == subject.function]
    return (phrase for function in own for phrase in _in_function(function, subject))


def _in_function(function: Node, subject: BlamedPart) -> Iterator[Node]:
    if subject.kind == "opset":
        yield from filter(None, (opset(function), name_token(function)))
    elif subject.kind == "output":
        tokens = (token for _, body in own_bodies(function)[:1] for token in returned(body))
        yield from (token for token in tokens if name_in(token) == subject.name)
    else:
        yield from (value for value in inputs(function) if name_in(value) == subject.name)
