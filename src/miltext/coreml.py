"""Between miltext and coremltools: a model as a pymil program, and a pymil program as a model.

coremltools is an extra of miltext, `coremltools`; nothing else of miltext imports it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miltext.diagnostics import ModelError, Note, codes, error, warning
from miltext.diagnostics.home import install
from miltext.weight_files.model_weights import blob_values

if TYPE_CHECKING:
    from miltext.descriptions.ranges import Range
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.schema.proto import ModelDescription


def to_pymil(model: Model) -> Any:
    """Return the program of a model as coremltools' `Program`, its weights loaded.

    For a `.mil`, its opsets determine the specification version. Raise ModelError as `loader_of` does, and coremltools'
    own errors: its loader refuses unknown operations.
    """
    spec, load = loader_of(model)
    program = load()
    default = spec.description.defaultFunctionName
    if default in program.functions:
        program.default_function_name = default
    return program


def loader_of(model: Model) -> tuple[Any, Callable[[], Any]]:
    """Return coremltools' Model message of a model, and a function that reads it with coremltools' loader.

    Raise ModelError: MIL480 without coremltools, MIL481 where the weights are in more than one folder.
    """
    coremltools = _coremltools()
    from coremltools.converters.mil.frontend.milproto.load import load

    from miltext.descriptions.program_descriptions import own_head

    spec = coremltools.proto.Model_pb2.Model()
    if model.spec is not None:
        spec.ParseFromString(model.spec.SerializeToString())
    else:
        spec.ParseFromString(own_head(model.program, version=model.specification_version).SerializeToString())
        spec.mlProgram.ParseFromString(model.program.SerializeToString())
    return spec, partial(load, spec, spec.specificationVersion, str(_weights_folder(model)))


def from_pymil(program: Any, *, ranges: Mapping[str, Range] | None = None) -> Model:
    """Return a coremltools `Program` as a model, exported as it is: no pass of coremltools' converter changes it.

    Its description is made from the types, and `ranges` of sizes as `miltext.build` takes them. The weights are in a
    temporary folder that lasts as long as the model; `model.save` keeps them. Raise ModelError: MIL480 without
    coremltools, MIL42x for types that a description cannot have; and coremltools' own errors.
    """
    _coremltools()
    from coremltools.converters.mil.backend.mil.load import MILProtoExporter

    from miltext.containers.spec import SpecModel
    from miltext.descriptions.program_descriptions import describe
    from miltext.descriptions.ranges import read_ranges
    from miltext.schema.proto import Model as Spec
    from miltext.schema.proto import Program

    folder = tempfile.TemporaryDirectory(prefix="miltext-")
    weights = Path(folder.name) / "weights"
    weights.mkdir()
    version = max(int(function.opset_version) for function in program.functions.values())
    exported = MILProtoExporter(program, str(weights), version).export()
    own = Program.FromString(exported.SerializeToString())
    description = describe(own, read_ranges(ranges) if ranges else None)
    if program.default_function_name in {function.name for function in description.functions}:
        description.defaultFunctionName = program.default_function_name
    spec = Spec(specificationVersion=version, description=description, mlProgram=own)
    model = SpecModel("mlmodel", "<pymil>", None, Path(folder.name), spec)
    model.warnings += _unbounded(description)
    model.keeps = folder
    return model


def _unbounded(description: ModelDescription) -> Iterator[Diagnostic]:
    """Yield a warning for each input that may have any size, which coremltools' converter refuses in ML Programs."""
    for inputs in (description.input, *[function.input for function in description.functions]):
        for entry in inputs:
            if any(size.upperBound < 0 for size in entry.type.multiArrayType.shapeRange.sizeRanges):
                message = f"the sizes of the input `{entry.name}` for its `?` are unknown: give them as `ranges`"
                yield warning(codes.INPUT_WITHOUT_RANGE, message)


def _coremltools() -> Any:
    try:
        import coremltools
    except ImportError as failure:
        way = Note(f"install it: {install('coremltools')}")
        raise ModelError(
            [error(codes.NO_COREMLTOOLS, "coremltools is not installed, and this needs it", None, way)]
        ) from failure
    return coremltools


def _weights_folder(model: Model) -> Path:
    """Return the folder of the weight files; coremltools accepts only one."""
    names = {held.value.blobFileValue.fileName for held in blob_values(model.program)}
    folders = {name.rpartition("/")[0].partition("/")[2] for name in names}
    if len(folders) > 1:
        message = f"coremltools takes weights from one folder, and they are in {', '.join(sorted(folders))}"
        raise ModelError([error(codes.WEIGHTS_IN_SEVERAL_FOLDERS, message)], path=model.name)
    return (model.model_path or Path.cwd()) / next(iter(folders), "")
