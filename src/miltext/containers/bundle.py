"""The `.mlmodelc`: the folder that Apple's compiler writes, with the program as text and no Model message."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.compiled import coremldata, metadata_json
from miltext.compiled.coremldata import TEXT, CoreMLData, parse_coremldata, parse_names
from miltext.compiled.metadata_json import MetadataFacts, MetadataJson
from miltext.containers.opened import OpenedModel
from miltext.diagnostics import ModelError, codes, warning
from miltext.files.contents import decode, parse_text, read_inside
from miltext.files.refusals import refusal
from miltext.schema.function_io import interfaces
from miltext.schema.paths import LIMIT
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.schema.proto import Model as Spec
    from miltext.schema.proto import ModelDescription, Program

SIGNS = {"model0": "pipeline", "model.espresso.net": "neuralNetwork"}
"""Files and folders of other bundles than ML Programs, and the type of model that each indicates."""

DEEPEST = LIMIT // 2
"""The greatest depth of nested pipelines; each is two nested messages in the original Model."""

UNKNOWN = "unknown"
"""The type of a stage whose files do not indicate one; the rest of its pipeline is still read."""


def open_bundle(folder: Path, name: str) -> BundleModel:
    """Return the model of a bundle. Raise ModelError: MIL255 for a folder of unknown contents."""
    model = BundleModel(folder, name, folder)
    if model.type == UNKNOWN:
        model.select(None)  # raises the reason
    return model


class BundleModel(OpenedModel):
    """A compiled model; its text is read, and then parsed, at the first use."""

    def __init__(self, folder: Path, name: str, path: Path | None, pipeline_name: str = "") -> None:
        super().__init__("mlmodelc", name, path, folder, pipeline_name)
        self.folder = folder
        self.type = self._find_type()
        if self.type == PROGRAM:
            self.name = str(folder / TEXT)

    @cached_property
    def text(self) -> str | None:
        return decode(read_inside(self.folder, TEXT), self.name) if self.type == PROGRAM else None

    @cached_property
    def program(self) -> Program:
        if self.text is None:
            raise self._no_program()
        program = parse_text(self.text, self.name)
        self.interfaces = interfaces(program)
        return program

    @property
    def spec(self) -> Spec | None:
        return self._record.spec if self._record else None

    @property
    def specification_version(self) -> int | None:
        return self._record.specification_version if self._record else None

    @property
    def description(self) -> ModelDescription | None:
        return self._record.description if self._record else None

    @cached_property
    def stored(self) -> CoreMLData | ModelError:
        """The contents of `coremldata.bin`, or the error of reading it."""
        name = coremldata.FILE_NAME
        try:
            return parse_coremldata(read_inside(self.folder, name), self.folder / name)
        except ModelError as failure:
            return failure

    @property
    def is_described(self) -> bool:
        """Whether `coremldata.bin`, which Core ML itself reads, can be read."""
        return isinstance(self.stored, CoreMLData)

    @cached_property
    def models(self) -> Sequence[OpenedModel]:
        if len(self.folder.relative_to(self.path or self.folder).parts) >= DEEPEST:
            raise refusal(codes.INCONSISTENT_PACKAGE, "pipelines are nested more deeply than in any model", self.name)
        folders = list(takewhile(_is_folder, (self.folder / f"model{index}" for index in count())))
        names = [*self.pipeline_names, *[""] * len(folders)]
        return [BundleModel(each, str(each), self.path, name) for each, name in zip(folders, names)]  # noqa: B905

    @property
    def is_whole(self) -> bool:
        if not self.is_pipeline:
            return self.type != UNKNOWN
        counted = self.stored.models if isinstance(self.stored, CoreMLData) else None
        return counted in (None, len(self.models)) and all(each.is_whole for each in self.models)

    def _find_type(self) -> str:
        if self._has(TEXT):
            return PROGRAM
        if isinstance(self.stored, CoreMLData):
            return self.stored.type
        return next((kind for sign, kind in SIGNS.items() if self._has(sign)), UNKNOWN)

    def _no_program(self) -> ModelError:
        if self.models:
            return super()._no_program()
        if self.type == UNKNOWN:
            failure = self.stored
            why = f", and {failure.diagnostics[0].message}" if isinstance(failure, ModelError) else ""
            return refusal(codes.INCONSISTENT_PACKAGE, f"the compiled model has no {TEXT}{why}", self.name)
        if self.is_pipeline:
            return refusal(
                codes.INCONSISTENT_PACKAGE, "the pipeline has no models: its folder has no folder `model0`", self.name
            )
        message = f"this compiled model is of the kind `{self.type}`, not an ML Program, and has no {TEXT}"
        return refusal(codes.NOT_AN_ML_PROGRAM, message, self.name)

    def _has(self, name: str) -> bool:
        return os.path.exists(self.folder / name)

    @property
    def pipeline_names(self) -> list[str]:
        return self._names or []  # without names, the models have only their order

    @property
    def is_named(self) -> bool:
        """Whether the names of a pipeline's models can be read; true without names."""
        return self._names is not None or not self._has(coremldata.NAMES)

    @cached_property
    def _names(self) -> list[str] | None:
        """The pipeline's names for its models; None if they are missing or unreadable."""
        with suppress(ModelError):
            return parse_names(read_inside(self.folder, coremldata.NAMES), self.folder / coremldata.NAMES)
        return None

    def _read_metadata(self) -> MetadataJson | None:
        name = metadata_json.FILE_NAME
        return MetadataJson(read_inside(self.folder, name), self.folder / name) if self._has(name) else None

    @cached_property
    def _record(self) -> CoreMLData | None:
        """The bundle's facts about the model: from `coremldata.bin`, or from `metadata.json` if the former is
        unreadable.
        """
        if self.type == UNKNOWN:
            return None
        if not self._has(coremldata.FILE_NAME):
            return self._record_of_metadata(f"{coremldata.FILE_NAME} is missing")
        data = self.stored
        if isinstance(data, CoreMLData):
            self._cross_check(data)
            return data
        record = self._record_of_metadata(data.diagnostics[0].message)
        if record is None:
            raise data
        return record

    def _record_of_metadata(self, why: str) -> CoreMLData | None:
        metadata = self._read_metadata()
        if metadata is None:
            return None
        record = CoreMLData(self.type, metadata.facts.specification_version, metadata.description())
        self._warn(f"{why}; the description is from {metadata_json.FILE_NAME}, which has less")
        return record

    def _cross_check(self, data: CoreMLData) -> None:
        """Warn if `metadata.json` disagrees with `coremldata.bin`, the file that Core ML itself reads."""
        try:
            metadata = self._read_metadata()
        except ModelError as failure:
            self._warn(failure.diagnostics[0].message)
            return
        if metadata and metadata.facts != _facts(data):
            self._warn(f"{metadata_json.FILE_NAME} disagrees with {coremldata.FILE_NAME}, which takes precedence")

    def _warn(self, message: str) -> None:
        self.warnings.append(warning(codes.UNUSUAL_COMPILED_DESCRIPTION, message))


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder. A link is not accepted, as it may lead in circles."""
    return os.path.isdir(path) and not os.path.islink(path)


def _facts(data: CoreMLData) -> MetadataFacts:
    """Return the expected facts of `metadata.json`: for several functions, the features of the default one."""
    description = data.description
    default = [function for function in description.functions if function.name == description.defaultFunctionName]
    features = default[0] if default else description
    inputs, outputs = [[each.name for each in side] for side in (features.input, features.output)]
    return MetadataFacts(data.specification_version, inputs, outputs)
