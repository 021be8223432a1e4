"""A compiled model turned back: the Model message that Apple's compiler had, less what the compiler added.

What the compiler adds was found by comparing bundles with the packages they were made of: `coremlc-*` entries in
buildInfo, and FlexibleShapeInformation. What it loses is the order of a function's inputs, which the description has.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from miltext.models.building.description import describe, known_version
from miltext.models.building.draft import nested
from miltext.models.building.refusals import refusal, refusing_depth
from miltext.models.building.storing import named_files
from miltext.models.model_weights import BlobFolder
from miltext.models.weight_paths import MODEL_PATH
from miltext.printing.coremlc import BUILD_INFO
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.proto import Model as Spec
from miltext.schema.proto import ModelDescription, Program
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.walk import values

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model

COMPILERS_ENTRY = "coremlc-"
PIPELINES = ("pipeline", "pipelineClassifier", "pipelineRegressor")


class Recovered(NamedTuple):
    """A Model message, and the weight files that it names by their path below `@model_path`."""

    spec: Spec
    files: dict[str, Path]
    warnings: list[Diagnostic]


def strip(program: Program) -> Program:
    """Take out of a Program what Apple's compiler added; the Program itself is returned."""
    if BUILD_INFO in program.attributes:
        pairs = program.attributes[BUILD_INFO].immediateValue.dictionary.values
        for index in reversed(range(len(pairs))):
            key = pairs[index].key.immediateValue.tensor.strings.values
            if key and key[0].startswith(COMPILERS_ENTRY):
                del pairs[index]
        if not pairs:
            del program.attributes[BUILD_INFO]
    for name in program.functions:
        program.functions[name].attributes.pop(ATTRIBUTE, None)
    return program


def recover(bundle: Model, programs: dict[int, Program], prefix: str = "") -> Recovered:
    """Return the model of a bundle; `programs` has those that take the place of a bundle's own, by the `id` of its
    Model.

    In a pipeline each bundle has weights of its own; here all have one folder, and `prefix` tells their files apart,
    as coremltools does. Raise ModelError (MIL254, MIL423) for what is no ML Program, and as reading a bundle does.
    """
    if bundle.type in PIPELINES and bundle.models:
        return _recover_pipeline(bundle, programs, prefix)
    if bundle.type != PROGRAM and bundle.spec is not None:
        spec = Spec()
        spec.CopyFrom(bundle.spec)
        return Recovered(spec, {}, list(bundle.warnings))
    if bundle.type != PROGRAM:
        message = f"this compiled model is of the kind `{bundle.type}`: only an ML Program can be turned back"
        raise refusal("MIL423", message, bundle.name)
    program = Program()
    program.CopyFrom(programs.get(id(bundle), bundle.program))
    strip(program)
    warnings = list(bundle.warnings)
    description = ModelDescription()
    known = bundle.description
    if known is not None:
        description.CopyFrom(known)
    else:
        description, guesses = describe(program)
        warnings += guesses
    files = _move_weights(program, BlobFolder(bundle.model_path), prefix)
    version = bundle.specification_version or known_version(program, description)
    spec = Spec(specificationVersion=version, description=description, mlProgram=program)
    return Recovered(spec, files, [*warnings, *[found for found in bundle.warnings if found not in warnings]])


def _recover_pipeline(bundle: Model, programs: dict[int, Program], prefix: str) -> Recovered:
    spec = Spec(specificationVersion=bundle.specification_version or 0)
    if bundle.description is not None:
        spec.description.CopyFrom(bundle.description)
    pipeline = spec.pipeline if bundle.type == "pipeline" else getattr(spec, bundle.type).pipeline
    files: dict[str, Path] = {}
    warnings: list[Diagnostic] = []
    for index, model in enumerate(bundle.models):
        inner = recover(model, programs, f"{prefix}{index}-")
        with refusing_depth(bundle.name):
            pipeline.models.append(inner.spec)
        pipeline.names.extend([model.pipeline_name] * bool(model.pipeline_name))
        files.update(inner.files)
        warnings += inner.warnings
    return Recovered(spec, files, [*bundle.warnings, *warnings])


def order_inputs(spec: Spec) -> None:
    """Put the inputs of each function of a model, or of those inside it, into the order of its description.

    What is not described comes last.
    """
    described = {function.name: function for function in spec.description.functions}
    functions = spec.mlProgram.functions if spec.WhichOneof("Type") == PROGRAM else {}
    for name in functions:
        features = described.get(name, spec.description)
        order = {entry.name: index for index, entry in enumerate((*features.input, *features.state))}
        functions[name].inputs.sort(key=lambda value: order.get(value.name, len(order)))
    for model in nested(spec):
        order_inputs(model)


def _move_weights(program: Program, folder: BlobFolder, prefix: str) -> dict[str, Path]:
    """Return the weight files that a bundle's program names, once they are checked, under names that have the
    prefix.
    """
    found, missing = named_files(program, folder)
    for failure in missing.values():
        raise failure
    names = {name: str(PurePosixPath(name).with_name(prefix + PurePosixPath(name).name)) for name in found}
    for held in values(program):
        name = held.value.blobFileValue.fileName.partition("/")[2]
        if name in names:
            held.value.blobFileValue.fileName = f"{MODEL_PATH}/{names[name]}"
    folder.close()
    return {names[name]: path for name, path in found.items()}
