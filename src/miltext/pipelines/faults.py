"""The faults in the connections of a pipeline: a feature without a source, or used as another type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import codes
from miltext.files.contents import pipeline_of, stages
from miltext.pipelines.connections import (
    OUTER,
    WHOLE,
    agree,
    connections,
    given,
    is_described,
    is_pipeline,
    taken,
)
from miltext.pipelines.type_words import type_words
from miltext.schema.features import features
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.pipelines.connections import Connection, PipelinePlace


class Fault(NamedTuple):
    """A fault: its code, its message, and the path of the model with the unmatched input.

    `identity` is independent of the names of stages.
    """

    code: str
    message: str
    identity: tuple[object, ...]
    where: str


def faults(spec: Spec, place: PipelinePlace = WHOLE) -> Iterator[Fault]:
    """Yield the faults in the connections of a pipeline and of its inner ones; nothing for any other model.

    If a pipeline describes nothing, its inputs are unknown.
    """
    for connection in connections(spec) if is_pipeline(spec) else ():
        yield from _of_connection(spec, connection, place)
    for index, model in enumerate(stages(spec)):
        yield from faults(model, place.inside(spec, index))


def faults_in(model: Model) -> Iterator[Fault]:
    """Yield the faults in the connections of an opened model, if it is a pipeline with all of its models."""
    if model.is_pipeline and model.is_whole:
        yield from faults(message_of(model))


def message_of(model: Model) -> Spec:
    """Return the Model message of a model; for a compiled model, a message with its known inputs and outputs."""
    if model.spec is not None:
        return model.spec
    made = Spec(description=model.description, specificationVersion=model.specification_version)
    if model.type == PROGRAM and model.description is None:
        made.mlProgram.CopyFrom(model.program)
    pipeline = pipeline_of(made, model.type)
    if pipeline is not None:
        pipeline.models.extend(map(message_of, model.models))
        pipeline.names.extend(each.pipeline_name for each in model.models)
    return made


def _of_connection(spec: Spec, connection: Connection, place: PipelinePlace) -> Iterator[Fault]:
    name, giver = connection.name, connection.giver
    for taker in connection.takers:
        where = place.path if taker == OUTER else place.inside(spec, taker).path
        does = f"{place} gives" if taker == OUTER else f"{place.inside(spec, taker)} takes"
        if giver is None:
            if is_described(spec) and _is_needed(spec, name, taker):
                yield Fault(
                    codes.PIPELINE_CONNECTION_LOST,
                    f"no model outputs `{name}`, which {does}",
                    (place.path, name, taker),
                    where,
                )
            continue
        there = (taken(spec) if giver == OUTER else given(stages(spec)[giver]))[name]
        entry = (given(spec) if taker == OUTER else taken(stages(spec)[taker]))[name]
        if there is not None and entry is not None and not agree(there.type, entry.type):
            first = f"{place} takes" if giver == OUTER else f"{place.inside(spec, giver)} gives"
            types = type_words(there.type), type_words(entry.type)
            message = f"{first} `{name}` as {types[0]}, but {does} {types[1]}"
            yield Fault(codes.PIPELINE_TYPE_CLASH, message, (place.path, name, giver, taker, *types), where)


def _is_needed(spec: Spec, name: str, taker: int) -> bool:
    """Whether a user needs the feature: not for a pure training input.

    An optional input needs a source, too: `PipelineValidator.cpp` of coremltools refuses any other.
    """
    if taker == OUTER:
        return True
    listed = features(stages(spec)[taker].description)
    return any(entry.name == name for entry in (*listed.input, *listed.state))
