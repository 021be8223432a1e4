"""Models in Core ML's `Model` message: the `.mlmodel`, alone or inside an `.mlpackage`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.containers.opened import OpenedModel
from miltext.diagnostics import codes
from miltext.files.contents import kind_of_model, parse_spec, pipeline_of, read_file
from miltext.files.refusals import refusal
from miltext.models.manifest import model_file
from miltext.schema.function_io import interfaces
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.schema.proto import Model as Spec
    from miltext.schema.proto import ModelDescription, Program


def open_package(folder: Path, name: str) -> SpecModel:
    """Return the model of a package, with the texts of its overlays in the description. Raise ModelError: MIL255 for
    its manifest, and the errors of reading an `.mlmodel`.
    """
    from miltext.models.overlays import read_overlays

    path = model_file(folder)
    spec = parse_spec(read_file(path), str(path))
    model = SpecModel("mlpackage", name, folder, path.parent, spec)
    model.overlays = read_overlays(folder, spec.description)
    model.warnings += model.overlays.problems
    if model.overlays.whole != model.overlays.own:
        spec.description.CopyFrom(model.overlays.whole)
    return model


class SpecModel(OpenedModel):
    """A model with a Model message."""

    def __init__(
        self, kind: str, name: str, path: Path | None, model_path: Path | None, spec: Spec, pipeline_name: str = ""
    ) -> None:
        super().__init__(kind, name, path, model_path, pipeline_name)
        kind_of_spec = kind_of_model(spec)
        if kind_of_spec is None:
            raise refusal(codes.NOT_A_MODEL, "this Model is empty: none of the fields of its Type is set", name)
        self._spec = spec
        self.type = kind_of_spec

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

    @property
    def pipeline_names(self) -> Sequence[str]:
        pipeline = pipeline_of(self._spec, self.type)
        return pipeline.names if pipeline is not None else ()

    @cached_property
    def models(self) -> Sequence[OpenedModel]:
        pipeline = pipeline_of(self._spec, self.type)
        if pipeline is None:
            return ()
        for index, spec in enumerate(pipeline.models):
            if kind_of_model(spec) is None:
                message = f"the model {index} of this pipeline is empty: none of the fields of its Type is set"
                raise refusal(codes.NOT_A_MODEL, message, self.name)
        names = [*self.pipeline_names, *[""] * len(pipeline.models)]
        return [
            SpecModel(self.kind, self.name, self.path, self.model_path, spec, name)
            for spec, name in zip(pipeline.models, names)  # noqa: B905 - a pipeline need not name its models
        ]
