"""Two models or programs compared by structure: `diff` tells what is different, as a person would say it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.comparing import Comparison
from miltext.diffing.descriptions import compare_models
from miltext.diffing.difference import Difference
from miltext.diffing.spelling import Spelling
from miltext.diffing.structure import WeightDifference
from miltext.diffing.unified import Texts
from miltext.diffing.values import Values
from miltext.models.model import Model
from miltext.models.opening import load
from miltext.models.pairing.contents import Contents
from miltext.models.pairing.graph import Graph, Keys
from miltext.models.pairing.pairing import pair_functions
from miltext.printing.coremlc import BUILD_INFO
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.schema.proto import Message, Program

__all__ = ["Difference", "diff"]


def diff(
    old: str | os.PathLike[str] | Model | Message,
    new: str | os.PathLike[str] | Model | Message,
    *,
    build_info: bool = False,
    ignore_weights: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Difference:
    """Return what is different between two models: each the path of one, a Model, or a Program.

    Operations are matched by structure: a value that goes by another name, independent operations in another order, and
    weights of another content are told as that. Weights are compared by content; where a file of them cannot be read,
    or a Program is given, of which nobody knows the folder, by file name and offset, and the Difference has a note. If
    then no difference is found, whether the two are the same cannot be told, unless both are one file, or neither has
    a weight file and `ignore_weights` says that this is enough. Of two Models, their specification versions and
    descriptions are compared too. What says which tools made a model, and when, is left out unless asked for with
    `build_info`: the program's attribute `buildInfo`, and coremltools' entries in the metadata. `progress` is told how
    many bytes of weights were compared. Raise ModelError and ParseError for what cannot be read, and PrintError for a
    Program with fields that the schema lacks.
    """
    a, b = _side(old, "old"), _side(new, "new")
    keys = Keys()
    graphs = Graph(a.program, keys, Contents(keys, a.model_path)), Graph(b.program, keys, Contents(keys, b.model_path))
    pairs = pair_functions(*graphs)
    values = Values(graphs[0].contents, graphs[1].contents, Spelling(), progress)
    comparison = Comparison(*graphs, values)
    changes = comparison.program(None if build_info else BUILD_INFO)
    if a.model and b.model:
        changes = compare_models(a.model, b.model, build_info) + changes
    functions = [function for function in map(comparison.function, pairs) if not function.same]
    weights = WeightDifference(tuple(comparison.weights), values.equal, values.unread)
    notes = [note for side, graph in zip((a, b), graphs, strict=True) for note in _notes(side, graph)]
    same_attributes = not any(change.kind == "attribute" for change in changes)
    texts = Texts(*graphs, pairs, comparison.different, same_attributes)
    excused = ignore_weights and not any(graph.contents.has_files for graph in graphs)
    complete = old is new or a.is_at(b) or excused or not any(graph.contents.unread for graph in graphs)
    return Difference(a.name, b.name, tuple(notes), tuple(changes), tuple(functions), weights, complete, texts.lines)


def _notes(side: _Side, graph: Graph) -> Iterator[str]:
    """Yield a note for each reason why weights could not be read."""
    reasons: dict[str, list[str]] = {}
    for what, why in graph.contents.unread.items():
        reasons.setdefault(why, []).append(what)
    for why, places in reasons.items():
        yield f"{side.name}: {', '.join(places)}: {why}; weights there are compared by file name and offset"


class _Side(NamedTuple):
    name: str
    program: Program
    model_path: Path | None
    model: Model | None

    @property
    def place(self) -> tuple[str, str] | None:
        """The file or folder that was read, and that which `@model_path` means; None if one is not known."""
        path = self.model.path if self.model else None
        return (os.path.realpath(path), os.path.realpath(self.model_path)) if path and self.model_path else None

    def is_at(self, other: _Side) -> bool:
        """Whether both sides are the same file or folder."""
        return self.place is not None and self.place == other.place


def _side(source: str | os.PathLike[str] | Model | Message, name: str) -> _Side:
    if isinstance(source, (str, os.PathLike)):
        source = load(source)
    if isinstance(source, Model):
        return _Side(source.name, own_copy(source.program), source.model_path, source)
    return _Side(name, own_copy(source), None, None)
