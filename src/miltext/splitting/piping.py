"""One pipeline of the parts of a model, which share the weight files of the model as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from miltext.building.build import prepare
from miltext.building.choices import NO_CHOICES, WriteOptions
from miltext.building.originals import remade
from miltext.building.writing import work, write_model
from miltext.diagnostics import codes
from miltext.drafting.judging import judge
from miltext.extraction.extracting import part_choices
from miltext.files.refusals import refusal
from miltext.pipelines.faults import faults
from miltext.schema.features import PREDICTIONS
from miltext.schema.function_io import SIDES
from miltext.schema.proto import Model as Spec

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.building.new_model import NewModel
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.schema.proto import ModelDescription
    from miltext.splitting.parting import PlannedPart
    from miltext.splitting.planning import PlannedSplit


def write_pipeline(source: Model, planned: PlannedSplit, output: Path, options: WriteOptions) -> list[Diagnostic]:
    """Write a pipeline of planned parts as a package; return the warnings, each once.

    Raise as `miltext.build` does, and MIL456 for a type that two parts describe differently.
    """
    found: dict[Diagnostic, None] = {}
    stages: list[Spec] = []
    whole = remade(source, {}, source, NO_CHOICES)
    for part in planned.parts:
        new, warnings = _stage(source, part, planned, output, options)
        found.update(dict.fromkeys(warnings))
        stages.append(new.spec)
        whole.files.update(new.files)
    whole.spec = _pipeline(whole.spec.description, planned, stages)
    for fault in faults(whole.spec):
        raise refusal(fault.code, fault.message, source.name)
    if options.expect:
        options.expect(lambda: work(whole, output))
    write_model(whole, output, options.force, options.progress)
    return [*found]


def _stage(
    source: Model, part: PlannedPart, planned: PlannedSplit, output: Path, options: WriteOptions
) -> tuple[NewModel, list[Diagnostic]]:
    """Return a part as a model whose values refer to the weights of the whole, and the warnings."""
    reported: list[Diagnostic] = []
    choices = part_choices(source, part.planner, options, planned.ranges_of(part), reported, planned.entries)
    choices = replace(choices, prune_weights=False, expect=None)
    new = prepare(source, output, choices)
    judged = judge(new, source, output, choices)
    return new, [*reported, *judged, *(each for each in new.warnings if each.code != codes.UNUSED_WEIGHTS)]


def _pipeline(description: ModelDescription, planned: PlannedSplit, stages: list[Spec]) -> Spec:
    """Return the message of a pipeline, with the description of the whole; a classifier stays one."""
    made = Spec(description=description, specificationVersion=max(each.specificationVersion for each in stages))
    _describe_function(made.description, planned.parts[0].shown.function)
    is_classifier = bool(made.description.predictedFeatureName and stages[-1].description.predictedFeatureName)
    pipeline = made.pipelineClassifier.pipeline if is_classifier else made.pipeline
    pipeline.models.extend(stages)
    pipeline.names.extend(each.shown.name.rpartition(".")[0] for each in planned.parts)
    return made


def _describe_function(description: ModelDescription, function: str) -> None:
    """Make a description that lists functions describe one of them alone."""
    for each in description.functions:
        if each.name == function:
            for side in SIDES:
                getattr(description, side).extend(getattr(each, side))
            for prediction in PREDICTIONS:
                setattr(description, prediction, getattr(each, prediction))
    description.ClearField("functions")
    description.ClearField("defaultFunctionName")
