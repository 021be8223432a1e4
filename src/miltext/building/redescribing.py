"""Application of a description in TOML to a built model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.descriptions.contradictions import contradictions, version_contradictions
from miltext.descriptions.labels import NoFit, replace_labels
from miltext.descriptions.model_texts import text_of
from miltext.descriptions.parts import beside_kinds
from miltext.descriptions.program_descriptions import known_version, required_version
from miltext.descriptions.reading import read_description, refuse
from miltext.descriptions.surroundings import head_of
from miltext.descriptions.words import LABELS, STAGES, UNSPELLED
from miltext.diagnostics import Note, codes, warning
from miltext.files.contents import kind_of_model, pipeline_of, stages
from miltext.files.refusals import refusal
from miltext.pipelines.faults import faults
from miltext.schema.function_io import interfaces
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.wire import wire_of
from miltext.toml.reading import Mistake

if TYPE_CHECKING:
    from miltext.building.new_model import NewModel
    from miltext.descriptions.surroundings import Surroundings
    from miltext.diagnostics import ModelError
    from miltext.pipelines.faults import Fault
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import Model as Spec
    from miltext.toml.reading import Keys


class Edited(NamedTuple):
    """The model with the edited program, and its described functions `before` the edit; none without a description."""

    spec: Spec
    before: Mapping[str, Interface]


def redescribe(new: NewModel, path: str | os.PathLike[str], edited: Edited | None, *, check: bool) -> None:
    """Give a model the description in a file before it is written; equal parts stay unchanged.

    A changed description, and the description of the model with the `edited` program, must be valid for Core ML and fit
    the program; but former mistakes may stay. Raise ModelError: MIL250 for an unreadable file, MIL452 and MIL470 to
    MIL479 for mistakes in it, at their places. Refuse a description that breaks connections in a pipeline; without
    `check`, only warn of it.
    """
    before = {fault.identity for fault in faults(new.spec)}
    text = text_of(Path(path))
    around = read_description(text, os.fspath(path))
    refuse([*_redescribed(new.spec, around, edited)], text, os.fspath(path))
    for fault in [each for each in faults(new.spec) if each.identity not in before]:
        if check:
            raise _refused(fault, text, path)
        new.warnings.append(warning(fault.code, fault.message))


def _refused(fault: Fault, text: str, path: str | os.PathLike[str]) -> ModelError:
    """Return the error of a fault due to a description, at the model with the unmatched input."""
    at: Keys = tuple(each for step in fault.where.split("/") if step for each in (STAGES, int(step)))
    made = refusal(fault.code, fault.message, path, Note("`miltext rename` changes a name in all models at once"))
    made.diagnostics = [made.diagnostics[0]._replace(span=Mistake(fault.code, fault.message, at).diagnostic(text).span)]
    made.text = text
    return made


def _redescribed(spec: Spec, around: Surroundings, edited: Edited | None) -> Iterator[Mistake]:
    """Give a model and its inner models their new descriptions, and yield the mismatches."""
    kind, models = kind_of_model(spec), [*stages(spec)]
    if around.kind not in (None, kind):
        yield Mistake(
            codes.DESCRIPTION_OF_NOTHING,
            f'this model is of the kind "{kind}", not "{around.kind}"',
            (*around.at, "kind"),
        )
    if len(models) != len(around.stages):
        there, said = len(models), len(around.stages)
        message = f"the model has {there} stage{'s' * (there != 1)}, and the description {said} `[[model]]`"
        yield Mistake(codes.DESCRIPTION_OF_NOTHING, message, (*around.at, "model") if said else around.at)
        return
    for stage, inner in zip(models, around.stages, strict=True):
        yield from _redescribed(stage, inner, edited)
    is_edited = edited is not None and spec is edited.spec
    is_described = is_edited or wire_of(around.head) != wire_of(head_of(spec))
    before = edited.before if edited is not None and is_edited else interfaces(spec.mlProgram)
    known = {mistake.message for mistake in _wrong(spec, before, around.at)}
    _rename_stages(spec, kind, around)
    yield from _relabelled(spec, kind, around)
    if is_described:
        yield from _beside(spec, around)
        _describe(spec, around.head)
    found = _wrong(spec, interfaces(spec.mlProgram), around.at)
    yield from (mistake for mistake in found if mistake.message not in known)
    if is_described:
        yield from _versioned(spec, kind, around)


def _wrong(spec: Spec, functions: Mapping[str, Interface], at: Keys) -> Iterator[Mistake]:
    """Yield the mistakes in the description of a model whose program has these functions."""
    for found in contradictions(spec, kind_of_model(spec) or "", functions):
        if found.severity != "note" or found.code == codes.INPUT_WITHOUT_RANGE:
            yield found.mistake(at)


def _beside(spec: Spec, around: Surroundings) -> Iterator[Mistake]:
    """Add the fields that the schema lacks to a model; keep different existing fields, and yield a mistake for them."""
    own, said = beside_kinds(spec), beside_kinds(around.head)
    if not own:
        spec.MergeFromString(said)
    elif said not in (b"", own):
        message = f"`{UNSPELLED}` has other fields than the model, which cannot be changed: keep it unchanged"
        yield Mistake(codes.DESCRIPTION_OF_NOTHING, message, (*around.at, UNSPELLED))


def _describe(spec: Spec, head: Spec) -> None:
    """Replace the head of a model."""
    spec.isUpdatable = head.isUpdatable
    spec.specificationVersion = head.specificationVersion or spec.specificationVersion
    spec.ClearField("description")
    if head.HasField("description"):
        spec.description.CopyFrom(head.description)


def _versioned(spec: Spec, kind: str | None, around: Surroundings) -> Iterator[Mistake]:
    """Give a model the least possible specification version if the description has none; yield a mistake if the version
    is too small.
    """
    said = around.head.specificationVersion
    if kind == PROGRAM:
        needed = (required_version if said else known_version)(spec.mlProgram, spec.description)
    else:
        needed = max((stage.specificationVersion for stage in stages(spec)), default=0)
    if not said:
        spec.specificationVersion = needed or spec.specificationVersion
    elif kind == PROGRAM:
        yield from (
            found.mistake(around.at) for found in version_contradictions(said, needed) if found.severity == "error"
        )


def _rename_stages(spec: Spec, kind: str | None, around: Surroundings) -> None:
    """Give the stages of a pipeline other names; an unnamed stage before a named one gets an empty name."""
    pipeline = pipeline_of(spec, kind)
    if pipeline is None:
        return
    before = [name or None for name in [*pipeline.names, *[""] * len(pipeline.models)][: len(pipeline.models)]]
    after = [stage.name or None for stage in around.stages]
    if before != after:
        while after and after[-1] is None:
            after.pop()
        pipeline.names[:] = [name or "" for name in after]


def _relabelled(spec: Spec, kind: str | None, around: Surroundings) -> Iterator[Mistake]:
    """Give classifiers other labels, and yield mistakes for impossible labels."""
    functions = spec.mlProgram.functions if kind == PROGRAM else {}
    for name, labels in around.labels.items():
        only = next(iter(functions)) if len(functions) == 1 else ""
        wanted, at = name or only, around.at_function(name)
        try:
            if wanted not in functions:
                raise NoFit("has labels, but the model has no such function")
            replace_labels(functions[wanted], labels)
        except NoFit as failure:
            yield Mistake(codes.MISFIT_LABELS, f"`{LABELS}` {failure}", (*at, LABELS))
