"""Converting a model: its program's values from fp32 to fp16, or back, in one step."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.choices import BuildChoices, WriteOptions
from miltext.building.given_weights import given_folder
from miltext.containers.sources import Source, model_of
from miltext.conversion.contents import Contents, ConvertedConstant
from miltext.conversion.known import Precisions
from miltext.conversion.programs import convert_program
from miltext.conversion.report import record, render_text
from miltext.diagnostics import codes
from miltext.diagnostics.wording import tally
from miltext.drafting.building import build_as_chosen
from miltext.drafting.programs import with_imported
from miltext.files.writing import WITH_DESCRIPTION
from miltext.syntax.keywords import option, taking
from miltext.weight_files.usage import used_sizes

if TYPE_CHECKING:
    from miltext.building.given_weights import GivenWeights
    from miltext.conversion.programs import Border
    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.dynamic import Record
    from miltext.files.writing import Progress
    from miltext.models.model import Model
    from miltext.schema.proto import FunctionDescription, ModelDescription, Program
    from miltext.schema.tensors import InType
    from miltext.weight_files.model_weights import BlobFolder

PRECISIONS = {"fp16": Precisions("fp32", "fp16"), "fp32": Precisions("fp16", "fp32")}
"""The data type to remove, by the data type that replaces it."""


@dataclass(repr=False)
class Conversion:
    """The result of a conversion: converted constants, warnings, and bytes of weights before and after.

    The bytes count the values in weight files, each record once.
    """

    to: str
    changes: list[ConvertedConstant] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    before: int = 0
    after: int = 0

    def __repr__(self) -> str:
        return f"<Conversion to {self.to}: {tally(len(self.changes), 'constant')}, {self.before} -> {self.after} bytes>"

    def to_text(self, *, full: bool = False) -> str:
        """Return the losses as a table for people: the rows with the largest errors, or all of them."""
        return render_text(self, full=full)

    def to_json(self) -> Record:
        """Return the conversion as plain data."""
        return record(self)

    @property
    def largest(self) -> ConvertedConstant | None:
        """The change with the largest error; None if nothing was lost."""
        found = max(self.changes, key=lambda change: change.loss.absolute, default=None)
        return found if found and found.loss.absolute else None


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(WriteOptions):
    """The options of `miltext.convert_weights`, which describes them."""

    io: bool = option(False, "Convert inputs, outputs and states, too, except images, and update the description.")
    reading: Progress | None = None


@dataclass(frozen=True)
class _ConvertRequest(ConvertOptions):
    source: Source
    to: str
    output: str | os.PathLike[str]
    options: ConvertOptions | None = field(default=None, kw_only=True)


@taking(_ConvertRequest)
def convert_weights(request: _ConvertRequest) -> Conversion:
    """Write a model with its weights and types converted `to` "fp16" or "fp32"; return the changes and losses.

    All fp32 (fp16) values inside the program become fp16 (fp32). Its inputs, outputs and states stay as they are, with
    casts beside them. A draft is completed first.

    Args:
        source: MIL text, a path, a Program or a Model.
        to: `"fp16"` or `"fp32"`.
        output: An `.mlpackage`, `.mlmodel` or `.mlmodelc`.
        io: Whether inputs, outputs and states are converted, too, except images; their description follows.
        model: The model in a pipeline.
        reading: A function that gets the number of bytes of weights read to measure their loss.
        weights, ranges, no_loss, force, check, on_change, progress, expect: As in `miltext.build`.
        options: A `ConvertOptions`, in place of these keywords.

    Returns:
        The converted constants with their losses, the warnings, and the bytes of weights before and after.

    Raises:
        ValueError: Another `to`.
        ModelError: MIL438 for a value that cannot be converted, MIL439 for fp16 inputs or outputs that the opset does
            not allow; and the errors of `miltext.build`.

    Example:
        done = miltext.convert_weights("Model.mlpackage", "fp32", "Out.mlpackage")
    """
    if request.to not in PRECISIONS:
        raise ValueError(f"weights are converted to fp16 or fp32, not to {request.to!r}")
    made = Conversion(request.to)
    made.warnings += _written(request, made)
    return made


def _written(request: _ConvertRequest, made: Conversion) -> list[Diagnostic]:
    """Write the converted model, record the changes, and return the warnings of the build."""
    whole = with_imported(model_of(request.source))
    source = whole.select(request.model)
    folder = partial(_folder, source, request.weights, request.reading)
    choices = BuildChoices.of(
        request,
        original=whole if whole.kind in WITH_DESCRIPTION else None,
        prune_weights=True,
        edit=partial(_convert, made, folder, _border(source, request.io)),
    )
    reported = build_as_chosen(source, Path(request.output), choices)
    return [each for each in reported if each.code != codes.UNUSED_WEIGHTS or each.notes]


def _folder(source: Model, weights: GivenWeights | None, reading: Progress | None, program: Program) -> BlobFolder:
    """Return the folder of the weight files that a program names."""
    folder = given_folder(source, weights, program)
    folder.progress = reading
    return folder


def _convert(
    made: Conversion,
    folder: Callable[[Program], BlobFolder],
    border: Border,
    program: Program,
    arrays: dict[str, InType],
) -> dict[str, InType]:
    """Convert a program, and record the changes; return the arrays to store."""
    contents = Contents(PRECISIONS[made.to], folder(program), arrays)
    made.before = _stored(program)
    made.warnings += convert_program(program, contents, border)
    made.changes += contents.changes
    made.after = _stored(program)
    return contents.arrays


def _border(source: Model, io: bool) -> Border:
    """Return the inputs, outputs and states to convert: none, or all except those described as images.

    In coremltools 9.0, images are fp32, or fp16 with colours that state it (`ImageType` in `converters/mil`).
    """
    description = source.description
    if not io or description is None:
        return lambda *_: io
    own = {each.name: _images(each) for each in description.functions}
    images = _images(description)
    return lambda function, name: name not in own.get(function, images)


def _images(described: ModelDescription | FunctionDescription) -> set[str]:
    return {each.name for each in (*described.input, *described.output) if each.type.HasField("imageType")}


def _stored(program: Program) -> int:
    """Return the number of bytes of a program's values in weight files."""
    return sum(sum(sizes.values()) for sizes in used_sizes([program]).values())
