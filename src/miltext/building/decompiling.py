"""Decompiling: from a compiled model to the Model message that Apple's compiler read, without the compiler's additions.

The compiler adds `coremlc-*` entries in buildInfo, FlexibleShapeInformation, and empty metadata where the package has
none (`miltext.compiled.coremldata`); a comparison of bundles with their packages showed this. The compiler loses the
order of a function's inputs, which the description keeps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.new_model import Added, NewModel, refusing_depth, rename_files
from miltext.building.storing import named_files
from miltext.descriptions.program_descriptions import own_head
from miltext.diagnostics import codes
from miltext.files.contents import pipeline_of, stages
from miltext.files.refusals import refusal
from miltext.printing.flexible_shapes import ATTRIBUTE, read_information
from miltext.schema.proto import Model as Spec
from miltext.schema.proto import Program, Value
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.stamps import BUILD_INFO
from miltext.weight_files.model_weights import BlobFolder

if TYPE_CHECKING:
    from miltext.descriptions.sizes import Sizes
    from miltext.models.model import Model
    from miltext.schema.proto import DictionaryValue, ModelDescription

COMPILERS_ENTRY = "coremlc-"


def strip(program: Program) -> Program:
    """Remove the additions of Apple's compiler from a Program; return the Program itself."""
    if BUILD_INFO in program.attributes:
        pairs = program.attributes[BUILD_INFO].immediateValue.dictionary.values
        for pair in compilers_entries(program):
            pairs.remove(pair)
        if not pairs:
            del program.attributes[BUILD_INFO]
    take_shapes(program)
    return program


def take_shapes(program: Program) -> dict[str, Value]:
    """Remove the FlexibleShapeInformation of functions from a Program, and return it by their names."""
    shapes = deepcopy(shapes_in(program))
    for name in shapes:
        del program.functions[name].attributes[ATTRIBUTE]
    return shapes


def shapes_in(program: Program) -> dict[str, Value]:
    """Return the FlexibleShapeInformation of functions by their names."""
    functions = sorted(program.functions.items())
    return {name: each.attributes[ATTRIBUTE] for name, each in functions if ATTRIBUTE in each.attributes}


def compilers_entries(program: Program) -> list[DictionaryValue.KeyValuePair]:
    """Return the entries of buildInfo that Apple's compiler added."""
    info = program.attributes[BUILD_INFO] if BUILD_INFO in program.attributes else Value()
    keys = ((pair, pair.key.immediateValue.tensor.strings.values) for pair in info.immediateValue.dictionary.values)
    return [pair for pair, key in keys if key and key[0].startswith(COMPILERS_ENTRY)]


def _added(program: Program, first: Program) -> Added:
    """Return the compiler's additions to a program, or to its original program `first`, if any.

    Shapes are left out if their inputs were renamed, because their keys may depend on the names.
    """
    shapes = shapes_in(first)
    for name, attribute in shapes_in(program).items():
        if name not in shapes or read_information(attribute).keys() == read_information(shapes[name]).keys():
            shapes[name] = attribute
    return deepcopy(Added(compilers_entries(program) or compilers_entries(first), shapes))


class Decompiling(NamedTuple):
    """Decompiling of bundles, with replacements: `programs`, `folders` of weights, and `sizes` of inputs for a program
    without a description.
    """

    programs: Mapping[Model, Program]
    folders: Mapping[Model, BlobFolder]
    sizes: Mapping[str, Sizes]

    def model(self, bundle: Model, prefix: str = "") -> NewModel:
        """Return the model of a bundle.

        In a compiled pipeline each bundle has its own weights; in the result all weights are in one folder, and
        `prefix` makes their names unique, as coremltools does. Raise ModelError (MIL254, MIL423) for any other kind of
        model, and the errors of reading a bundle.
        """
        if bundle.type == PROGRAM:
            return self._program(bundle, prefix)
        if bundle.models and pipeline_of(Spec(), bundle.type) is not None:
            return self._pipeline(bundle, prefix)
        if bundle.spec is not None:
            return NewModel(deepcopy(bundle.spec), warnings=list(bundle.warnings))
        message = f"this compiled model is of the kind `{bundle.type}`: only an ML Program can be decompiled"
        raise refusal(codes.COMPILED_NOT_ML_PROGRAM, message, bundle.name)

    def _program(self, bundle: Model, prefix: str) -> NewModel:
        program = self.programs.get(bundle) or bundle.program
        added = _added(program, bundle.program)
        described, version = _described(bundle), bundle.specification_version
        spec = own_head(program, self.sizes, description=described, version=version)
        spec.mlProgram.CopyFrom(program)
        folder = self.folders.get(bundle) or BlobFolder(bundle.model_path)
        files = _move_weights(strip(spec.mlProgram), folder, prefix)
        return NewModel(spec, files, warnings=list(bundle.warnings), added=[added])

    def _pipeline(self, bundle: Model, prefix: str) -> NewModel:
        made = NewModel(Spec(specificationVersion=bundle.specification_version or 0, description=_described(bundle)))
        made.warnings += bundle.warnings
        pipeline = pipeline_of(made.spec, bundle.type)
        assert pipeline is not None
        pipeline.names.extend(bundle.pipeline_names)
        for index, model in enumerate(bundle.models):
            inner = self.model(model, f"{prefix}{index}-")
            with refusing_depth(bundle.name):
                pipeline.models.append(inner.spec)
            made.files.update(inner.files)
            made.warnings += inner.warnings
            made.added += inner.added
        return made


def _described(bundle: Model) -> ModelDescription | None:
    """Return the description of a bundle without the empty metadata that the compiler adds; None without one."""
    if bundle.description is None or bundle.description.metadata.ByteSize():
        return bundle.description
    description = deepcopy(bundle.description)
    description.ClearField("metadata")
    return description


def order_inputs(spec: Spec) -> None:
    """Sort the inputs of each function of a model, and of its inner models, in the order of its description."""
    if spec.WhichOneof("Type") == PROGRAM:
        order_as_described(spec.mlProgram, spec.description)
    for model in stages(spec):
        order_inputs(model)


def order_as_described(program: Program, description: ModelDescription, but: Collection[str] = ()) -> None:
    """Sort the inputs of each function of a program, except functions in `but`, in the order of a description; inputs
    without an entry come last.
    """
    described = {function.name: function for function in description.functions}
    for name in program.functions.keys() - {*but}:
        features = described.get(name, description)
        order = {entry.name: index for index, entry in enumerate((*features.input, *features.state))}
        program.functions[name].inputs.sort(key=lambda value: order.get(value.name, len(order)))


def _move_weights(program: Program, folder: BlobFolder, prefix: str) -> dict[str, Path]:
    """Check the weight files of a bundle's program, and return them under names with the prefix; a name that has the
    prefix stays.
    """
    found, missing = named_files(program, folder)
    for failure in missing.values():
        raise failure
    folder.close()
    names: dict[str, str] = {}
    for name in sorted(found, key=lambda name: not PurePosixPath(name).name.startswith(prefix)):
        new = PurePosixPath(name)
        while not new.name.startswith(prefix) or str(new) in names.values():
            new = new.with_name(prefix + new.name)
        names[name] = str(new)
    rename_files(program, names)
    return {names[name]: path for name, path in found.items()}
