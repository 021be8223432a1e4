"""Comparison of two pipelines: the parts around their models, and each model with its partner."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from miltext.diffing.difference import Difference, ModelDifference
from miltext.diffing.edits import (
    Edits,
    ModelAdded,
    ModelEdit,
    ModelNameEdit,
    ModelPlaceEdit,
    ModelRemoved,
    PipelineNamesEdit,
)
from miltext.diffing.programs import DiffSide, How, changes_around, compare_programs
from miltext.diffing.structure import Change
from miltext.models.model import Stage
from miltext.schema.proto.kinds import PROGRAM
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.models.model import Model

Pair: TypeAlias = "tuple[Stage | None, Stage | None]"


def compare_pipelines(old: Model, new: Model, how: How, above: tuple[str, str] = ("", "")) -> Difference:
    """Return the differences of two pipelines; `above` are their paths in the pipelines around them, as in `1/`."""
    found = [(pair, _compared(pair, how)) for pair in paired(_stages(old, above[0]), _stages(new, above[1]))]
    inner = [each for _, each in found if each is not None]
    models = [_model(pair, each) for pair, each in found if each is None or each.same is False]
    notes = tuple(note for each in inner for note in each.notes)
    changes = (*_extra_names(old, new), *changes_around(old, new, how))
    if not (changes or models):
        changes = (*_empty_names(old, new),)
    complete = all(each.complete for each in inner)
    return Difference(old.name, new.name, notes, changes, complete=complete, models=tuple(models))


def _stages(pipeline: Model, above: str) -> list[Stage]:
    return [Stage(f"{above}{index}", each) for index, each in enumerate(pipeline.models)]


def _extra_names(old: Model, new: Model) -> Iterator[Change]:
    """Yield the differences in the extra names of pipelines, which belong to no model."""
    was, now = [[*map(quote, each.pipeline_names[len(each.models) :])] for each in (old, new)]
    if was != now:
        edits = Edits(PipelineNamesEdit(tuple(new.pipeline_names[len(new.models) :]), extra=True))
        yield Change("name", "of no model", ", ".join(was) or None, ", ".join(now) or None, edits=edits)


def paired(old: Sequence[Stage], new: Sequence[Stage]) -> list[Pair]:
    """Return the models of two pipelines in pairs: by unique names, and the others by position.

    Only models of the same kind are paired. The order is the new pipeline's; a removed model keeps its place.
    """
    partners: dict[int, int] = {}
    named = [dict(_names(side)) for side in (old, new)]
    for name, index in named[1].items():
        if name in named[0]:
            partners[index] = named[0][name]
    for index in range(min(len(old), len(new))):
        if index not in partners and index not in partners.values():
            partners[index] = index
    partners = {b: a for b, a in partners.items() if old[a].model.type == new[b].model.type}
    gone: list[tuple[int, Pair]] = [(a, (old[a], None)) for a in range(len(old)) if a not in partners.values()]
    here: list[tuple[int, Pair]] = [(b, (old[partners[b]] if b in partners else None, new[b])) for b in range(len(new))]
    return [pair for _, pair in sorted([*gone, *here], key=lambda each: each[0])]


class OfStage(Protocol):
    """A result about the model of a stage."""

    @property
    def stage(self) -> Stage: ...


_Found = TypeVar("_Found", bound=OfStage)


def paired_findings(old: Sequence[_Found], new: Sequence[_Found]) -> Iterator[tuple[_Found | None, _Found | None]]:
    """Yield the results about two models, in the pairs of their stages."""
    by_place = [{each.stage.place: each for each in side} for side in (old, new)]
    for stages in paired([each.stage for each in old], [each.stage for each in new]):
        was, now = (places[stage.place] if stage else None for places, stage in zip(by_place, stages, strict=True))
        yield was, now


def _names(side: Sequence[Stage]) -> Iterator[tuple[str, int]]:
    counts = Counter(stage.model.pipeline_name for stage in side)
    for index, stage in enumerate(side):
        name = stage.model.pipeline_name
        if name and counts[name] == 1:
            yield name, index


def _empty_names(old: Model, new: Model) -> Iterator[Change]:
    """Yield a change where only one pipeline has empty names."""
    was, now = [f"({', '.join(map(quote, each.pipeline_names))})" for each in (old, new)]
    if was != now:
        yield Change("names", "", was, now, edits=Edits(PipelineNamesEdit(tuple(new.pipeline_names), extra=False)))


def _compared(pair: Pair, how: How) -> Difference | None:
    """Return the differences of two models of the same kind; None for a missing model."""
    old, new = pair
    if old is None or new is None:
        return None
    found = _inside(old, new, how)
    return replace(found, changes=(*_places(old, new), *found.changes))


def _inside(old: Stage, new: Stage, how: How) -> Difference:
    a, b = old.model, new.model
    if a.type == PROGRAM:
        return compare_programs(DiffSide(old.name, a, a), DiffSide(new.name, b, b), how)
    if a.is_pipeline:
        return compare_pipelines(a, b, how, (f"{old.place}/", f"{new.place}/"))
    return compare_others(old, new, how)


def compare_others(old: Stage, new: Stage, how: How) -> Difference:
    """Return the differences of two models of other kinds than ML Programs and pipelines: by their messages or, if both
    are compiled, by files.
    """
    a, b = old.model, new.model
    changes = changes_around(a, b, how)
    complete = (a.spec is not None and b.spec is not None) or (a.is_compiled and b.is_compiled)
    notes = [] if complete else [f"{new.name}: the contents of a `{b.type}` model are not compared with {a.kind}"]
    return Difference(old.name, new.name, tuple(notes), tuple(changes), complete=complete)


def _places(old: Stage, new: Stage) -> Iterator[Change]:
    """Yield the changes of two models' positions: their names in the pipeline, and their places."""
    was, now = [quote(each.model.pipeline_name) if each.model.pipeline_name else None for each in (old, new)]
    if was != now:
        yield Change("name", "", was, now, edits=Edits(ModelNameEdit(new.model.pipeline_name)))
    if old.place != new.place:
        yield Change("place", "", old.place, new.place, edits=Edits(ModelPlaceEdit(_index(new))))


def _index(stage: Stage) -> int:
    """Return the index of a model in its own pipeline."""
    return int(stage.place.rpartition("/")[2])


def _model(pair: Pair, inner: Difference | None) -> ModelDifference:
    stage = pair[1] or pair[0]
    assert stage is not None
    status = "changed" if inner is not None else "added" if pair[1] else "removed"
    name, index = stage.model.pipeline_name, _index(stage)
    edit = ModelEdit(_index(pair[0])) if pair[0] and pair[1] else ModelRemoved(index)
    edits = Edits(ModelAdded(stage.model, index) if pair[0] is None else edit)
    # Parts that could not be compared are reported once, for the whole pipeline.
    difference = replace(inner, notes=()) if inner else None
    return ModelDifference(stage.place, name, stage.model.type, status, difference, edits=edits)
