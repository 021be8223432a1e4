"""Programs of coremltools as models."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miltext.diagnostics import codes, warning
from miltext.pymil.installed import require_coremltools

if TYPE_CHECKING:
    from miltext.descriptions.ranges import Range
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.schema.proto import ModelDescription, Program


def from_pymil(program: Any, *, ranges: Mapping[str, Range] | None = None) -> Model:
    """Return a coremltools `Program` as a model, exported as it is: no pass of coremltools' converter changes it.

    Its description is made from the types, and `ranges` of sizes as `miltext.build` takes them. The weights are in a
    temporary folder that lasts as long as the model; `model.save` keeps them. Raise ModelError: MIL480 without
    coremltools, MIL42x for types that a description cannot have; and coremltools' own errors.
    """
    from miltext.containers.spec import SpecModel
    from miltext.descriptions.program_descriptions import describe
    from miltext.descriptions.ranges import read_ranges
    from miltext.schema.proto import Model as Spec

    folder = tempfile.TemporaryDirectory(prefix="miltext-")
    own = export(program, Path(folder.name))
    version = _version_of(program)
    description = describe(own, read_ranges(ranges) if ranges else None)
    if program.default_function_name in {function.name for function in description.functions}:
        description.defaultFunctionName = program.default_function_name
    spec = Spec(specificationVersion=version, description=description, mlProgram=own)
    model = SpecModel("mlmodel", "<pymil>", None, Path(folder.name), spec)
    model.warnings += _unbounded(description)
    model.keeps = folder
    return model


def is_pymil(source: object) -> bool:
    """Return whether an object is a coremltools `Program`, without an import of coremltools."""
    return str(type(source).__module__).startswith("coremltools.converters.mil")  # classes of messages have none


def export(program: Any, folder: Path) -> Program:
    """Return the Program of a coremltools `Program`; its weights are in the `folder`, of `@model_path`, which is empty.

    Raise ModelError (MIL480) without coremltools; and coremltools' own errors.
    """
    require_coremltools()
    from coremltools.converters.mil.backend.mil.load import MILProtoExporter

    from miltext.schema.proto import Program

    weights = folder / "weights"
    weights.mkdir()
    made = MILProtoExporter(program, str(weights), _version_of(program)).export()
    return Program.FromString(made.SerializeToString())


def _version_of(program: Any) -> int:
    """Return the specification version that a coremltools `Program` needs."""
    return max(int(function.opset_version) for function in program.functions.values())


def _unbounded(description: ModelDescription) -> Iterator[Diagnostic]:
    """Yield a warning for each input that may have any size, which coremltools' converter refuses in ML Programs."""
    for inputs in (description.input, *[function.input for function in description.functions]):
        for entry in inputs:
            if any(size.upperBound < 0 for size in entry.type.multiArrayType.shapeRange.sizeRanges):
                message = f"the sizes of the input `{entry.name}` for its `?` are unknown: give them as `ranges`"
                yield warning(codes.INPUT_WITHOUT_RANGE, message)
