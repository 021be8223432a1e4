"""What a compiled model holds of a package: both sides of a comparison, less what docs/compiled-models.md excepts."""

from __future__ import annotations

from pathlib import Path

from miltext.containers.opening import open_model
from miltext.schema.proto import Model
from miltext.schema.stamps import BUILD_INFO
from miltext.schema.walk import values


def normal(spec: Model) -> Model:
    """A model less what a bundle does not hold."""
    spec = Model.FromString(spec.SerializeToString())
    spec.description.metadata.SetInParent()
    for function in spec.mlProgram.functions.values():
        function.inputs.sort(key=lambda value: value.name)
    if BUILD_INFO in spec.mlProgram.attributes:
        pairs = spec.mlProgram.attributes[BUILD_INFO].immediateValue.dictionary.values
        pairs.sort(key=lambda pair: pair.key.SerializeToString())
    for held in values(spec.mlProgram):
        held.value.docString = ""
    for stage in spec.pipeline.models:
        stage.CopyFrom(normal(stage))
    return spec


def in_files(path: Path) -> list[dict[str, bytes]]:
    """The weights of each ML Program of a model, by name, as bytes."""
    models = [each.model.weights for each in open_model(path).programs()]
    return [{weight.name: each[weight.name].tobytes() for weight in each.in_files()} for each in models]
