"""Models as Core ML's `Model` message has them: the `.mlmodel`, alone or inside an `.mlpackage`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.unknown_fields import UnknownFieldSet

from miltext.diagnostics import refusing
from miltext.models.model import Model
from miltext.models.refusals import refusal
from miltext.schema.function_io import interfaces
from miltext.schema.proto import Int64FeatureType, ModelDescription, Program
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import MODEL_KINDS, PROGRAM

if TYPE_CHECKING:
    from miltext.schema.proto import Message


class SpecModel(Model):
    """A model whose Model message is at hand."""

    def __init__(
        self, kind: str, name: str, path: Path | None, model_path: Path | None, spec: Spec, pipeline_name: str = ""
    ) -> None:
        super().__init__(kind, name, path, model_path, pipeline_name)
        kind_of_spec = kind_of_model(spec)
        if kind_of_spec is None:
            raise refusal("MIL253", "this Model is empty: none of the fields of its Type is set", name)
        self._spec = spec
        self._type: str = kind_of_spec

    @property
    def type(self) -> str:
        return self._type

    @property
    def spec(self) -> Spec:
        return self._spec

    @cached_property
    def program(self) -> Program:
        if self.type != PROGRAM:
            raise self._no_program()
        self.interfaces = interfaces(self._spec.mlProgram)
        return self._spec.mlProgram

    @property
    def specification_version(self) -> int | None:
        return self._spec.specificationVersion or None

    @property
    def description(self) -> ModelDescription | None:
        return self._spec.description if self._spec.HasField("description") else None

    @cached_property
    def models(self) -> Sequence[Model]:
        if self.type == "pipeline":
            pipeline = self._spec.pipeline
        elif self.type in ("pipelineClassifier", "pipelineRegressor"):
            pipeline = getattr(self._spec, self.type).pipeline
        else:
            return ()
        names = [*pipeline.names, *[""] * len(pipeline.models)]
        return [
            SpecModel(self.kind, self.name, self.path, self.model_path, spec, name)
            for spec, name in zip(pipeline.models, names)  # noqa: B905 - a pipeline need not name its models
        ]


def parse_spec(data: bytes, name: str) -> Spec:
    """Return the Model message in bytes. Raise ModelError (MIL253) when they are not one."""
    if not data:
        raise refusal("MIL253", "the file is empty", name)
    message = "these bytes are not a Core ML model: they are damaged, cut short, or something else"
    with refusing(lambda _: refusal("MIL253", message, name)):
        return Spec.FromString(data)


def specification_version(number: int) -> int:
    """Return the number, if a Model can have it for its specificationVersion. Raise ValueError."""
    return Spec(specificationVersion=number).specificationVersion


def kind_of_model(spec: Spec) -> str | None:
    """Return the kind of model that a Model message holds, by the name of its field; None where it holds none."""
    return spec.WhichOneof("Type") or _undeclared_kind(spec)


def is_spec(data: bytes) -> bool:
    """Whether bytes are a Model rather than a Program: a Model has a field of its Type, and a Program has none."""
    try:
        fields = Int64FeatureType.FromString(data)  # a message without fields takes any as unknown ones
    except Exception:  # noqa: BLE001 - what is no message at all is no Model
        return False
    return _undeclared_kind(fields) is not None


def _undeclared_kind(message: Message) -> str | None:
    """Return the kind of model that a message's unknown fields tell of."""
    fields = UnknownFieldSet(message)
    numbers = [fields[index].field_number for index in range(len(fields))]
    return next((MODEL_KINDS[number] for number in numbers if number in MODEL_KINDS), None)
