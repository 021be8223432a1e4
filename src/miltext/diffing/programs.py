"""Comparison of two programs, or models with a program, by structure, with the parts around them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.comparing import ProgramComparison
from miltext.diffing.described import marked
from miltext.diffing.descriptions import compare_models
from miltext.diffing.difference import Difference
from miltext.diffing.lining_up import Texts
from miltext.diffing.structure import DiffSummary
from miltext.diffing.summary import summarize
from miltext.diffing.values import Values
from miltext.pairing.contents import Keys, ProgramContents
from miltext.pairing.keyed import KeyedGraph
from miltext.pairing.pairing import pair_functions
from miltext.schema.stamps import BUILD_INFO
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from miltext.diffing.structure import Change
    from miltext.models.model import Model
    from miltext.schema.proto import Message, ModelDescription, Program

SOURCES = ("mlpackage", "mlmodel")
"""The kinds of models from which compiled ones are made."""


class How(NamedTuple):
    """The options of `miltext.diff`, which describes each."""

    build_info: bool = False
    ignore_weights: bool = False
    progress: Callable[[int], object] | None = None


class DiffSide(NamedTuple):
    """One side: its name, and the model or the Program itself."""

    name: str
    source: Model | Message
    model: Model | None


class _Read(NamedTuple):
    name: str
    graph: KeyedGraph
    model: Model | None


def compare_programs(old: DiffSide, new: DiffSide, how: How) -> Difference:
    """Return the differences between two ML Programs, and between the parts around them."""
    with gc_paused:
        return _compared(old, new, how)


def _compared(old: DiffSide, new: DiffSide, how: How) -> Difference:
    keys = Keys()
    a, b = _read(old, keys, new), _read(new, keys, old)
    pairs = pair_functions(a.graph, b.graph)
    values = Values(a.graph.contents, b.graph.contents, how.progress)
    comparison = ProgramComparison(a.graph, b.graph, pairs, values)
    changes = comparison.program(None if how.build_info else BUILD_INFO)
    same_attributes = not any(change.kind == "attribute" for change in changes)
    if a.model and b.model:
        changes = [*marked(changes_around(a.model, b.model, how), pairs), *changes]
    functions = [function for function in map(comparison.function, pairs) if not function.same]
    texts = Texts(a.graph, b.graph, pairs, comparison.different, same_attributes)
    contents = a.graph.contents, b.graph.contents
    excused = how.ignore_weights and not any(each.has_files for each in contents)
    is_one = old.source is new.source or _are_one(a.model, b.model)
    complete = is_one or excused or not any(each.unread for each in contents)
    notes, weights = (*_notes(a), *_notes(b)), comparison.weights()
    found = tuple(changes), tuple(functions), weights
    differs = any(found[:2]) or weights.changed
    summary = summarize(comparison, pairs, functions, changes, (a.model, b.model)) if differs else DiffSummary()
    return Difference(a.name, b.name, notes, *found, complete, summary=summary, _texts=texts)


def changes_around(old: Model, new: Model, how: How) -> list[Change]:
    """Return the changes of the parts that both models have around their programs."""
    changes = [*compare_models(old, new, how.build_info)]
    if old.is_compiled and new.is_compiled:
        from miltext.diffing.bundles import compare_bundles

        changes += compare_bundles(old, new, how.build_info)
    if old.overlays is not None and new.overlays is not None:
        from miltext.diffing.packages import compare_packages

        changes += compare_packages(old, new)
    return changes


def _read(side: DiffSide, keys: Keys, other: DiffSide) -> _Read:
    program = own_copy(side.model.program if side.model else side.source)  # type: ignore[arg-type]
    if side.model and side.model.is_compiled and other.model and other.model.kind in SOURCES:
        _as_source(program, side.model.description, other.model.program)
    model = side.model
    contents = ProgramContents(keys, model.model_path, model.keeps) if model else ProgramContents(keys, None)
    graph = KeyedGraph(program, keys, contents)
    return _Read(side.name, graph, side.model)


def _as_source(program: Program, description: ModelDescription | None, other: Program) -> None:
    """Undo the changes of the compiler in each program: flexible shapes, and the order of inputs if the other program
    has a different order.
    """
    from miltext.building.decompiling import order_as_described, take_shapes

    take_shapes(program)
    if description is not None:
        order_as_described(
            program, description, [name for name in other.functions if _order(program, name) == _order(other, name)]
        )


def _order(program: Program, function: str) -> list[str] | None:
    """Return the names of a function's inputs; None without the function."""
    return [value.name for value in program.functions[function].inputs] if function in program.functions else None


def _are_one(old: Model | None, new: Model | None) -> bool:
    """Return whether two models are the same file or folder, and `@model_path` means the same folder in both."""
    paths = [path for model in (old, new) if model for path in (model.path, model.model_path) if path]
    real = [os.path.realpath(path) for path in paths]
    return len(real) == 4 and real[:2] == real[2:]


def _notes(side: _Read) -> Iterator[str]:
    """Yield a note for each reason why weights could not be read."""
    reasons: dict[str, list[str]] = {}
    for what, why in side.graph.contents.unread.items():
        reasons.setdefault(why, []).append(what)
    for why, places in reasons.items():
        yield f"{side.name}: {', '.join(places)}: {why}; weights there are compared by file name and offset"
