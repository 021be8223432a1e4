"""The models of a pipeline with the edits of a difference, in their new order, with their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.applying.entries import EntryTable
from miltext.applying.refusing import lacking, other_model
from miltext.diffing.edits import (
    ModelAdded,
    ModelEdit,
    ModelNameEdit,
    ModelPlaceEdit,
    ModelRemoved,
    PipelineNamesEdit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.diffing.difference import Difference, ModelDifference
    from miltext.models.model import Model


class EditedStage(NamedTuple):
    """A model of the new pipeline: an old one with its difference, if any, or an added one; and its index and name."""

    at: int
    name: str
    model: Model | None
    difference: Difference | None = None
    added: Model | None = None


def edited_stages(difference: Difference, pipeline: Model) -> tuple[list[EditedStage], list[str]]:
    """Return the models of a pipeline with edits, and all names. Raise ModelError for another pipeline."""
    old = [EditedStage(index, each.pipeline_name, each) for index, each in enumerate(pipeline.models)]
    left = dict(enumerate(old))
    added: list[EditedStage] = []
    for each in difference.models:
        table = EntryTable(each.edits.walk())
        new = table.of(ModelAdded)
        if new:
            added.append(EditedStage(new[0].at, each.name, None, added=new[0].new))
            continue
        places = [edit.at for edit in table.of(ModelEdit)] + [edit.at for edit in table.of(ModelRemoved)]
        if not places:
            raise lacking("one was not made by `miltext.diff`, and has only its text", pipeline.name)
        stage = _stage(old, places[0], each, pipeline.name)
        if table.of(ModelRemoved):
            del left[places[0]]
        else:
            left[places[0]] = _edited(stage, each)
    stages = sorted([*left.values(), *added], key=lambda stage: stage.at)
    return stages, _names(difference, pipeline, stages)


def _stage(old: Sequence[EditedStage], at: int, each: ModelDifference, name: str) -> EditedStage:
    """Return the old model of a difference, if it can be that one."""
    model = old[at].model if at < len(old) else None
    if model is None or model.type != each.type:
        raise other_model(f"it has no model {at} of the kind `{each.type}`", name)
    return old[at]


def _edited(stage: EditedStage, found: ModelDifference) -> EditedStage:
    assert found.difference is not None, "both pipelines have the model"
    table = EntryTable(edit for change in found.difference.changes for edit in change.edits.walk())
    for place in table.of(ModelPlaceEdit):
        stage = stage._replace(at=place.at)
    for name in table.of(ModelNameEdit):
        stage = stage._replace(name=name.name)
    return stage._replace(difference=found.difference)


def _names(difference: Difference, pipeline: Model, stages: Sequence[EditedStage]) -> list[str]:
    """Return the names of a pipeline: the names of its models, and others."""
    table = EntryTable(edit for change in difference.changes for edit in change.edits.walk())
    names = [stage.name for stage in stages]
    extra = list(pipeline.pipeline_names[len(pipeline.models) :])
    for edit in table.of(PipelineNamesEdit):
        if not edit.extra:
            return list(edit.names)
        extra = list(edit.names)
    if extra or len(pipeline.pipeline_names) == len(pipeline.models):
        return [*names, *extra]
    while names and not names[-1]:
        names.pop()
    return names
