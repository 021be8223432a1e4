"""Checks before compiling: the errors that prevent it, the facts that a compiled model cannot hold, and its unproven
parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from miltext.building.new_model import ml_programs
from miltext.compiled.coremldata import FILE_NAME, FORM_VERSIONS, WHOLE_STAGES
from miltext.compiled.doubts import Doubt, unseen
from miltext.diagnostics import Note, codes, warning
from miltext.files.contents import kind_of_model, pipeline_of, stages, unknown_fields
from miltext.files.refusals import refusal
from miltext.printing.coremlc import unproven_shapes
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.proto.kinds import MODEL_KINDS, PROGRAM

if TYPE_CHECKING:
    from miltext.building.choices import BuildChoices
    from miltext.building.new_model import NewModel
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.schema.proto import Message
    from miltext.schema.proto import Model as Spec

COMPILED = ("mlProgram", "pipeline")
"""The kinds of models that can be compiled here."""


def refuse_kinds(model: Model) -> None:
    """Refuse a model of a kind with an unknown compiled form, before it is converted (MIL440)."""
    if model.type not in COMPILED:
        message = f"a model of the kind `{model.type}` cannot be compiled here: its compiled form is not known"
        raise refusal(codes.UNCOMPILABLE_MODEL, message, model.name)
    for stage in model.models:
        if stage.type not in MODEL_KINDS.values():
            stage.select(None)  # raises the reason why its kind is unknown
        if stage.type not in (PROGRAM, *WHOLE_STAGES):
            message = f"the pipeline has a stage of the kind `{stage.type}`, whose compiled form is not known"
            raise refusal(codes.UNCOMPILABLE_MODEL, message, model.name)
    if model.is_pipeline and not model.models:
        raise refusal(codes.UNCOMPILABLE_MODEL, "the pipeline has no models", model.name)


def refuse(new: NewModel, choices: BuildChoices) -> None:
    """Refuse a model that cannot be compiled with these choices: MIL440, MIL441, MIL454, MIL215, MIL302."""
    wheres = ["", *(f" of the model {index}" for index in range(len(stages(new.spec))))]
    for each, where in zip((new.spec, *stages(new.spec)), wheres, strict=True):
        if (version := each.specificationVersion) < 1:
            message = f"the specification version{where} is {version}, but models have those from 1 on"
            raise refusal(codes.UNCOMPILABLE_MODEL, message)
    if not all(program.functions for program in ml_programs(new.spec)):
        raise refusal(codes.UNCOMPILABLE_MODEL, "the program has no functions")
    for failure in new.missing.values():
        failure.path = None  # only a package has such a name: the folder of an .mlmodel may have any name
        raise failure
    if choices.versions is not None:
        choices.versions.entries()
    refused = [doubt for doubt in _doubts(new.spec) if doubt.is_refused]
    if refused and not choices.allow_unproven:
        message = f"no known output of Apple's compiler contains {'; '.join(_distinct(refused))}"
        raise refusal(codes.UNPROVEN_PART_REFUSED, message)
    if choices.no_loss and (lost := unheld_of(new)):
        raise refusal(codes.DESCRIPTION_LOSS, f"a compiled model does not have this: {', '.join(lost)}")


def warnings_of(new: NewModel, shown: Sequence[Doubt]) -> Iterator[Diagnostic]:
    """Yield warnings about lost facts of a model, and about unproven parts; `shown` are the doubts about its
    `metadata.json`.
    """
    if lost := unheld_of(new):
        yield warning(codes.NO_COMPILED_PART, f"a compiled model does not have this, and it is lost: {', '.join(lost)}")
    if doubts := [*_doubts(new.spec), *_overlaid(new), *shown]:
        parts = [Note(what) for what in _distinct(doubts)]
        message = "parts of the compiled model are unproven, as no known output of Apple's compiler contains them"
        yield warning(codes.UNPROVEN_PART, message, None, *parts)


def _doubts(spec: Spec) -> Iterator[Doubt]:
    """Yield the doubts about the files that Core ML reads."""
    for each in (spec, *stages(spec)):
        version, kind = each.specificationVersion, kind_of_model(each)
        if kind == PROGRAM:
            if version not in FORM_VERSIONS:
                yield Doubt(f"the {FILE_NAME} of specification version {version}", is_refused=True)
            for what in unproven_shapes(each.mlProgram, each.description):
                yield Doubt(what, is_refused=True)
        if kind not in WHOLE_STAGES:
            yield from unseen(each)


def _overlaid(new: NewModel) -> Iterator[Doubt]:
    """Yield the doubt about texts of overlays that differ from the texts of the model."""
    if new.overlays is not None and new.overlays.whole != new.overlays.own:
        yield Doubt("the texts of overlays that differ from the model's own")


def _distinct(doubts: Iterable[Doubt]) -> list[str]:
    return sorted({str(doubt) for doubt in doubts})


# ---- parts that no file of a compiled model contains


_HELD = ("specificationVersion", "description")
"""The fields of a Model in `coremldata.bin`, in addition to the fields of its Type.

A program becomes a text, which refuses unknown fields; a pipeline is kept as its models and their names.
"""


def unheld_of(new: NewModel) -> list[str]:
    """Return the lost parts of a model to write, including its functions' own shapes."""
    is_piped = bool(new.spec.pipeline.models)
    shapes = [
        f"`{ATTRIBUTE}` of `{name}`{f' of the model {index}' if is_piped else ''}, which is made from the description"
        for index, functions in enumerate(new.own_shapes)
        for name in functions
    ]
    return [*unheld(new.spec), *shapes]


def unheld(spec: Spec, where: str = "") -> Iterator[str]:
    """Yield the lost parts of a model, and of its inner ones, each by name; `where` names the inner model."""
    kind = kind_of_model(spec)
    if kind in WHOLE_STAGES:
        return
    for field, _ in spec.ListFields():
        if field.name not in (*_HELD, kind):
            yield f"`{field.name}`{where}"
    yield from _unknown(spec, where)
    pipeline = pipeline_of(spec, kind)
    if pipeline is not None:
        yield from _unknown(pipeline, where)
        for index, stage in enumerate(pipeline.models):
            yield from unheld(stage, f" of the model {index}")


def _unknown(message: Message, where: str) -> Iterator[str]:
    return (f"the unknown field {number} of {message.DESCRIPTOR.name}{where}" for number in unknown_fields(message))
