"""Models as programs of coremltools."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miltext.diagnostics import ModelError, codes, error
from miltext.pymil.installed import require_coremltools
from miltext.weight_files.model_weights import blob_values

if TYPE_CHECKING:
    from miltext.models.model import Model


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
    coremltools = require_coremltools()
    from coremltools.converters.mil.frontend.milproto.load import load

    from miltext.descriptions.program_descriptions import own_head

    spec = coremltools.proto.Model_pb2.Model()
    if model.spec is not None:
        spec.ParseFromString(model.spec.SerializeToString())
    else:
        spec.ParseFromString(own_head(model.program, version=model.specification_version).SerializeToString())
        spec.mlProgram.ParseFromString(model.program.SerializeToString())
    return spec, partial(load, spec, spec.specificationVersion, str(_weights_folder(model)))


def _weights_folder(model: Model) -> Path:
    """Return the folder of the weight files; coremltools accepts only one."""
    names = {held.value.blobFileValue.fileName for held in blob_values(model.program)}
    folders = {name.rpartition("/")[0].partition("/")[2] for name in names}
    if len(folders) > 1:
        message = f"coremltools takes weights from one folder, and they are in {', '.join(sorted(folders))}"
        raise ModelError([error(codes.WEIGHTS_IN_SEVERAL_FOLDERS, message)], path=model.name)
    return (model.model_path or Path.cwd()) / next(iter(folders), "")
