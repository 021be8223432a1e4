"""The connections between the models of a pipeline.

Features are connected by name. An input of a model gets the last earlier output of that name, otherwise the pipeline's
input. The pipeline's outputs are found in the same way at the end. Sources: coremltools,
`mlmodel/src/Validation/PipelineValidator.cpp`; for agreeing types, `mlmodel/src/Comparison.cpp`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.files.contents import pipeline_of, stages
from miltext.pipelines.inner_names import GIVEN, TAKEN, inner_names
from miltext.schema.features import features
from miltext.schema.proto import Function
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.walk import own_block
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from miltext.schema.proto import ArrayFeatureType, FeatureDescription, FeatureType
    from miltext.schema.proto import Model as Spec

Entries: TypeAlias = "dict[str, FeatureDescription | None]"
"""The description of each feature, by its name; None for a feature that occurs only inside a model."""

OUTER = -1
"""The index of the pipeline itself, beside the indices of its models: its inputs come first, and its outputs last."""


@dataclass(eq=False)
class Connection:
    """A feature in a pipeline: the index of the model that outputs it (None without one), and the indices of
    its users.
    """

    name: str
    giver: int | None
    takers: list[int] = field(default_factory=list)


class PipelinePlace(NamedTuple):
    """The place of a model in its pipelines, if any, and its name in its pipeline, for errors."""

    path: str = ""
    name: str = ""

    def inside(self, spec: Spec, index: int) -> PipelinePlace:
        """Return the place of a model in the pipeline at this place."""
        pipeline = pipeline_of(spec, spec.WhichOneof("Type"))
        names = pipeline.names if pipeline else ()
        return PipelinePlace(f"{self.path}/{index}".lstrip("/"), names[index] if index < len(names) else "")

    def __str__(self) -> str:
        if not self.path:
            return self.name or "the pipeline"
        return f"model {self.path} {quote(self.name)}" if self.name else f"model {self.path}"


WHOLE = PipelinePlace()
"""The place of the outermost pipeline."""


def places(way: Sequence[Spec]) -> list[tuple[int, PipelinePlace]]:
    """Return the index in its pipeline and the place of each model in a sequence of nested models, except for the
    first, the outermost pipeline.
    """
    found, place = [], WHOLE
    for spec, inner in pairwise(way):
        index = next(index for index, model in enumerate(stages(spec)) if model is inner)
        place = place.inside(spec, index)
        found.append((index, place))
    return found


def is_pipeline(spec: Spec) -> bool:
    """Return whether a model is a pipeline, with any number of models."""
    return pipeline_of(spec, spec.WhichOneof("Type")) is not None


def taken(spec: Spec) -> Entries:
    """Return the inputs of a model, its states, and its training inputs."""
    listed = features(spec.description)
    entries = _by_name([*listed.input, *listed.state, *spec.description.trainingInput])
    inside = [*inner_names(spec, TAKEN), *(value.name for value in _undescribed(spec).inputs)]
    return entries | {name: None for name in inside if name not in entries}


def given(spec: Spec) -> Entries:
    """Return the outputs of a model."""
    entries = _by_name(features(spec.description).output)
    block = own_block(_undescribed(spec))
    inside = [*inner_names(spec, GIVEN), *(block.outputs if block else ())]
    return entries | {name: None for name in inside if name not in entries}


def is_described(spec: Spec) -> bool:
    """Return whether the description lists any feature."""
    listed = features(spec.description)
    return bool(listed.input or listed.state or listed.output)


def _undescribed(spec: Spec) -> Function:
    """Return the default function of an ML Program with an empty description; an empty one for any other model."""
    if spec.WhichOneof("Type") != PROGRAM or is_described(spec):
        return Function()
    functions, default = spec.mlProgram.functions, spec.description.defaultFunctionName
    name = default if default in functions else min(functions, default=None)
    return Function() if name is None else functions[name]


def _by_name(entries: Iterable[FeatureDescription]) -> Entries:
    found: Entries = {}
    for entry in entries:
        found.setdefault(entry.name, entry)
    return found


def connections(spec: Spec) -> list[Connection]:
    """Return the connections of a pipeline in the order of their sources; a feature without a source is at its first
    user.
    """
    found: list[Connection] = []
    there: dict[str, Connection] = {}

    def give(giver: int | None, names: Iterable[str]) -> None:
        for name in names:
            there[name] = Connection(name, giver)
            found.append(there[name])

    def take(taker: int, names: Entries) -> None:
        give(None, [name for name in names if name not in there])
        for name in names:
            there[name].takers.append(taker)

    give(OUTER, taken(spec))
    for place, model in enumerate(stages(spec)):
        take(place, taken(model))
        give(place, given(model))
    take(OUTER, given(spec))
    return found


def agree(one: FeatureType, other: FeatureType) -> bool:
    """Return whether Core ML accepts a value of one type as the other: sizes of flexible shapes are not compared.

    An array without a described shape, such as an output of flexible shape, agrees only with another. The rules are
    those of `isEquivalent` in coremltools' `mlmodel/src/Comparison.cpp`.
    """
    kind = one.WhichOneof("Type")
    if kind != other.WhichOneof("Type"):
        return False
    if kind == "multiArrayType":
        return _arrays_agree(one.multiArrayType, other.multiArrayType)
    if kind == "imageType":
        sizes = [(each.imageType.width, each.imageType.height, each.imageType.colorSpace) for each in (one, other)]
        return sizes[0] == sizes[1]
    if kind == "dictionaryType":
        return one.dictionaryType.WhichOneof("KeyType") == other.dictionaryType.WhichOneof("KeyType")
    if kind == "sequenceType":
        return one.sequenceType.WhichOneof("Type") == other.sequenceType.WhichOneof("Type")
    if kind == "stateType":
        return _arrays_agree(one.stateType.arrayType, other.stateType.arrayType)
    return True


def _arrays_agree(one: ArrayFeatureType, other: ArrayFeatureType) -> bool:
    is_flexible = one.WhichOneof("ShapeFlexibility") or other.WhichOneof("ShapeFlexibility")
    have_sizes = _rank(one) == _rank(other) if is_flexible else list(one.shape) == list(other.shape)
    return one.dataType == other.dataType and have_sizes


def _rank(array: ArrayFeatureType) -> int:
    flexibility = array.WhichOneof("ShapeFlexibility")
    if flexibility == "shapeRange":
        return len(array.shapeRange.sizeRanges)
    if flexibility == "enumeratedShapes" and array.enumeratedShapes.shapes:
        return len(array.enumeratedShapes.shapes[0].shape)
    return len(array.shape)
