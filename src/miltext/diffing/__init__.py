"""Two models or programs compared by structure: `diff` returns their differences as a person would describe them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.bundles import compare_bundles
from miltext.diffing.comparing import Comparison
from miltext.diffing.descriptions import compare_models
from miltext.diffing.difference import Difference
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
    from miltext.schema.proto import Message

__all__ = ["Difference", "diff"]


def diff(
    old: str | os.PathLike[str] | Model | Message,
    new: str | os.PathLike[str] | Model | Message,
    *,
    build_info: bool = False,
    ignore_weights: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Difference:
    """Return the differences between two models: each is the path of a model, a Model, or a Program.

    Operations are matched by structure, so that a renamed value, independent operations in another order, and weights
    with other contents are reported as such. Weights are compared by content. Where a weight file cannot be read, or
    for a Program, whose folder is not known, file name and offset are compared instead, and the Difference has a note.
    If no difference is found then, whether the two are the same is unknown, unless both are one file, or neither has a
    weight file and `ignore_weights` is set. Of two Models, the specification versions and descriptions are compared
    too; of two compiled ones, also their analytics, `metadata.json` and other files. Facts about the tools that made a
    model, and when, are compared only with `build_info`: the program's attribute `buildInfo`, and coremltools' entries
    in the metadata. `progress` gets the number of bytes of each weight compared.
    Raise ModelError and ParseError for what cannot be read, and PrintError for a Program with fields that the schema
    lacks.
    """
    keys = Keys()
    a, b = _side(old, "old", keys), _side(new, "new", keys)
    pairs = pair_functions(a.graph, b.graph)
    values = Values(a.graph.contents, b.graph.contents, progress)
    comparison = Comparison(a.graph, b.graph, values)
    changes = comparison.program(None if build_info else BUILD_INFO)
    same_attributes = not any(change.kind == "attribute" for change in changes)
    if a.model and b.model:
        changes = [
            *compare_models(a.model, b.model, build_info),
            *compare_bundles(a.model, b.model, build_info),
            *changes,
        ]
    functions = [function for function in map(comparison.function, pairs) if not function.same]
    texts = Texts(a.graph, b.graph, pairs, comparison.different, same_attributes)
    contents = a.graph.contents, b.graph.contents
    excused = ignore_weights and not any(each.has_files for each in contents)
    complete = old is new or _are_one(a.model, b.model) or excused or not any(each.unread for each in contents)
    notes, weights = (*_notes(a), *_notes(b)), values.weights()
    found = tuple(changes), tuple(functions), weights
    return Difference(a.name, b.name, notes, *found, complete, texts.lines, texts.drafts)


class _Side(NamedTuple):
    name: str
    graph: Graph
    model: Model | None


def _side(source: str | os.PathLike[str] | Model | Message, name: str, keys: Keys) -> _Side:
    if isinstance(source, (str, os.PathLike)):
        source = load(source)
    model = source if isinstance(source, Model) else None
    program = own_copy(source.program if isinstance(source, Model) else source)
    graph = Graph(program, keys, Contents(keys, model.model_path if model else None))
    return _Side(model.name if model else name, graph, model)


def _are_one(old: Model | None, new: Model | None) -> bool:
    """Whether two models are the same file or folder, and `@model_path` means the same folder in both."""
    paths = [path for model in (old, new) if model for path in (model.path, model.model_path) if path]
    real = [os.path.realpath(path) for path in paths]
    return len(real) == 4 and real[:2] == real[2:]


def _notes(side: _Side) -> Iterator[str]:
    """Yield a note for each reason why weights could not be read."""
    reasons: dict[str, list[str]] = {}
    for what, why in side.graph.contents.unread.items():
        reasons.setdefault(why, []).append(what)
    for why, places in reasons.items():
        yield f"{side.name}: {', '.join(places)}: {why}; weights there are compared by file name and offset"
