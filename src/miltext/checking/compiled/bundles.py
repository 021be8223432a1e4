"""Contradictions in the files of a compiled model between its description and its stated facts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.compiling.other_files import other_files
from miltext.checking.compiled.analytics import source_findings, table_findings
from miltext.checking.compiled.json_places import places
from miltext.checking.compiled.layouts import layout_findings, name_findings, unknown_fields
from miltext.checking.compiled.metadata import unlike
from miltext.checking.contract.files import FileFindings
from miltext.compiled.analytics import FILE_NAME as ANALYTICS
from miltext.compiled.analytics import counts
from miltext.compiled.coremldata import FILE_NAME, NAMES, layout, parse_names
from miltext.compiled.metadata_json import FILE_NAME as METADATA
from miltext.compiled.stated import MOST, stated
from miltext.containers.bundle import BundleModel
from miltext.containers.opening import is_bundle
from miltext.diagnostics import Diagnostic, MiltextError, ModelError, codes, error, warning
from miltext.diagnostics.wording import listed
from miltext.files.contents import pipeline_of, read_inside
from miltext.files.refusals import refusal
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.compiled.coremldata import CoremlData
    from miltext.compiled.stated import CompiledFacts, CompiledSource
    from miltext.models.model import Model


STAGE = re.compile(r"model\d+")
"""The form of the folder names of a pipeline's models."""

_MOST_NAMED = 10
"""The number of unknown files named in a note."""


Told = tuple[str, "Diagnostic"]
"""The findings of a file, by its path in the folder; findings of the folder itself have an empty path."""


@with_room
def bundle_findings(bundle: Model, source: CompiledSource | None = None) -> list[FileFindings]:
    """Return the contradictions in a compiled model, or in a stage of one, file by file.

    For a pipeline, this covers the files around its ML Programs. Its analytics should name the `source`, if known. An
    unreadable program has no findings here.
    """
    assert isinstance(bundle, BundleModel)
    check = _Check(bundle, source)
    by_file: dict[str, list[Diagnostic]] = {}
    for name, told in check.findings():
        by_file.setdefault(name, []).append(told)
    found = [FileFindings(str(bundle.folder / name), told, check.text(name)) for name, told in by_file.items()]
    for stage in bundle.models if bundle.is_pipeline else ():
        found += bundle_findings(stage) if stage.type != PROGRAM else []
    return found


@dataclass
class _Check:
    """A check of one folder."""

    bundle: BundleModel
    source: CompiledSource | None

    def findings(self) -> Iterator[Told]:
        yield from self._description()
        yield from self._metadata()
        yield from self._analytics()
        if self.bundle.is_pipeline:
            yield from self._pipeline()
        if not self._is_stage:
            yield from self._other_files()

    def text(self, name: str) -> str | None:
        """Return the text to which places in a file refer."""
        return self._metadata_text if name == METADATA else None

    # ---- the files present

    @cached_property
    def _is_stage(self) -> bool:
        """Whether it is inside a pipeline, by which it was opened or not: then less is in its folder."""
        folder = Path(os.path.abspath(self.bundle.folder))
        return folder != Path(os.path.abspath(self.bundle.path or folder)) or (
            STAGE.fullmatch(folder.name) is not None and is_bundle(folder.parent)
        )

    @cached_property
    def _spec(self) -> Spec | None:
        """The Model message with all known fields; None without a description, a program, or a model of a pipeline."""
        with suppress(MiltextError):
            return _message(self.bundle) if self.bundle.is_whole else None
        return None

    @cached_property
    def _read(self) -> CompiledFacts:
        return stated(self.bundle.folder)

    @cached_property
    def _metadata_text(self) -> str | None:
        with suppress(ModelError):
            data = read_inside(self.bundle.folder, METADATA, MOST)
            return data.decode(json.detect_encoding(data), "replace")
        return None

    def _is_there(self, name: str) -> bool:
        return os.path.lexists(self.bundle.folder / name)

    # ---- file by file

    def _description(self) -> Iterator[Told]:
        stored = self.bundle.stored
        if isinstance(stored, ModelError):
            failure = stored if self._is_there(FILE_NAME) else _missing(FILE_NAME, "Core ML needs it")
            yield FILE_NAME, _unread(codes.UNUSUAL_COMPILED_DESCRIPTION, failure, error)
            return
        found = self._layout(self.bundle)
        if found is None:
            return
        stages = [None if stage.is_pipeline else self._layout(stage) for stage in self.bundle.models]
        is_counted = stored.models in (None, len(stages))
        functions = len(stored.description.functions)
        for told in (*layout_findings(found, functions, stages if is_counted else [None]), *unknown_fields(found)):
            yield FILE_NAME, told

    @staticmethod
    def _layout(model: Model) -> CoremlData | None:
        """Return the layout of a model's `coremldata.bin`; None for an unreadable one."""
        assert isinstance(model, BundleModel)
        with suppress(ModelError):
            return layout(read_inside(model.folder, FILE_NAME), model.folder / FILE_NAME)
        return None

    def _metadata(self) -> Iterator[Told]:
        if METADATA in self._read.problems:
            yield METADATA, _unread(codes.MISFIT_METADATA, self._read.problems[METADATA], warning)
        elif self._is_there(METADATA):
            found = [*unlike(self._read.metadata, self._spec)] if self._spec is not None else []
            spans = places(self._metadata_text or "") if found else {}
            for each in found:
                yield METADATA, warning(codes.MISFIT_METADATA, each.message, spans.get((0, *each.way)))
        elif not self._is_stage:
            yield METADATA, _unread(codes.MISFIT_METADATA, _missing(METADATA, "Xcode shows its contents"), warning)

    def _analytics(self) -> Iterator[Told]:
        if self.bundle.type != PROGRAM and not self.bundle.is_pipeline:
            return
        if ANALYTICS in self._read.problems:
            yield ANALYTICS, _unread(codes.MISFIT_ANALYTICS, self._read.problems[ANALYTICS], warning)
        elif not self._is_there(ANALYTICS):
            yield (
                ANALYTICS,
                _unread(codes.MISFIT_ANALYTICS, _missing(ANALYTICS, "the compiler always writes it"), warning),
            )
        else:
            tables = self._read.analytics
            known = [*map(counts, self._counts)] if self.bundle.is_pipeline else [counts(None)]
            expected = next((each for each in known if each.items() <= tables.items()), known[0])
            for told in table_findings(tables, expected, self._is_stage):
                yield ANALYTICS, told
            for told in source_findings(tables, self.source):
                yield ANALYTICS, told

    # ---- the folder

    def _pipeline(self) -> Iterator[Told]:
        count, counted = self._counts[0], self._counts[-1]
        if count != counted and (count or self._is_stage):  # the reader reports a whole model without any
            there = f"there is `model{counted}`" if count > counted else f"`model{count}` is not a folder there"
            message = f"{FILE_NAME} counts {counted} model{'s' * (counted != 1)} of the pipeline, but {there}"
            yield FILE_NAME, error(codes.MISFIT_COMPILED_PIPELINE, message)
        for name in self._folders_beyond:
            message = f"`{name}` is not one of the pipeline's models, whose folders are numbered from 0 without a gap"
            yield name, warning(codes.MISFIT_COMPILED_PIPELINE, message)
        if self._is_there(NAMES):
            yield from ((NAMES, told) for told in self._names())

    @cached_property
    def _counts(self) -> list[int]:
        """The number of models in a pipeline by its folders, and, if it differs, the number by its `coremldata.bin`."""
        stored, count = self.bundle.stored, len(self.bundle.models)
        counted = None if isinstance(stored, ModelError) else stored.models
        return [count] if counted in (None, count) else [count, counted]

    @cached_property
    def _folders_beyond(self) -> list[str]:
        """Names that look like the folder of a pipeline's model without being one."""
        known = {f"model{index}" for index in range(len(self.bundle.models))}
        with suppress(OSError):
            names = os.listdir(self.bundle.folder) if self.bundle.is_pipeline else []
            return sorted(each for each in names if STAGE.fullmatch(each) and each not in known)
        return []

    def _names(self) -> Iterator[Diagnostic]:
        folder = self.bundle.folder
        try:
            data = read_inside(folder, NAMES, MOST)
            yield from name_findings(parse_names(data, folder / NAMES), data, self._counts)
        except ModelError as failure:
            yield _unread(codes.MISFIT_COMPILED_PIPELINE, failure, warning)

    def _other_files(self) -> Iterator[Told]:
        names: list[str] = []
        with suppress(MiltextError, OSError):
            names = [name for name in other_files(self.bundle) if name.split("/")[0] not in self._folders_beyond]
        if names:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            message = f"this is not a known part of a compiled model: {listed(names[:_MOST_NAMED], 'and')}{more}"
            yield "", Diagnostic("note", codes.UNKNOWN_COMPILED_FILE, message)


def _message(bundle: Model) -> Spec | None:
    """Return the Model message of a compiled model with all known fields. Raise MiltextError."""
    if bundle.spec is not None or bundle.description is None:
        return bundle.spec
    made = Spec(specificationVersion=bundle.specification_version or 0, description=bundle.description)
    if bundle.type == PROGRAM:
        made.mlProgram.CopyFrom(bundle.program)
        return made
    pipeline = pipeline_of(made, bundle.type)
    if pipeline is None:
        return None
    pipeline.SetInParent()
    for model in bundle.models:
        inner = _message(model)
        if inner is None:
            return None
        pipeline.models.append(inner)
    return made


def _missing(name: str, why: str) -> ModelError:
    return refusal(codes.UNREADABLE_COMPILED_DESCRIPTION, f"{name} is missing: {why}")


def _unread(code: str, failure: ModelError, tell: Callable[..., Diagnostic]) -> Diagnostic:
    """Return the diagnostic of an unreadable file; a note if git-lfs has it."""
    said = failure.diagnostics[0]
    made = tell(code, said.message, None, *said.notes)
    return made._replace(severity="note") if said.code == codes.LFS_POINTER_OF_MODEL else made
