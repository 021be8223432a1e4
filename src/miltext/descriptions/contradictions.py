"""All contradictions in the description of a model, by itself and with its program: the front door of the rules.

Severities and sources are explained in `miltext.descriptions.contract`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from miltext.descriptions.contract import Contradiction, ProgramPlace
from miltext.descriptions.mismatches import alone, mismatches
from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION
from miltext.descriptions.words import FUNCTIONS, SIDES, STAGES
from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.files.contents import kind_of_model, pipeline_of, stages
from miltext.printing.flexible_shapes import flexible
from miltext.schema.features import LABEL_ELEMENTS, PREDICTIONS
from miltext.schema.opsets import OPSETS
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Fields
    from miltext.printing.flexible_shapes import Flexible
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import FeatureDescription, ModelDescription
    from miltext.schema.proto import Model as Spec
    from miltext.toml.reading import Keys


PREDICTED = dict(zip(PREDICTIONS, (tuple(f"{each}Type" for each in LABEL_ELEMENTS), ("dictionaryType",)), strict=True))
"""The types of the outputs in a classifier's fields."""

NEWEST = max(opset.specification for opset in OPSETS)
"""The newest known specification version."""


def contradictions(spec: Spec, kind: str, functions: Mapping[str, Interface]) -> Iterator[Contradiction]:
    """Yield the contradictions in the description of a model of a kind, and with the functions of its program, if any;
    without its inner models and its specification version.

    Only the head of the Model message is used, and the names of a pipeline's stages.
    """
    description = spec.description
    if kind == PROGRAM and functions:
        yield from mismatches(functions, description)
    else:
        yield from _entries(description, ())
    if kind == PROGRAM and spec.isUpdatable:  # IV, validateCanModelBeUpdatable
        fact = "an ML Program cannot be trained on a device"
        yield Contradiction(codes.DESCRIPTION_OF_OTHER_TYPE, "error", fact, "leave out `isUpdatable`", ("isUpdatable",))
    only = DEFAULT_FUNCTION if DEFAULT_FUNCTION in functions else next(iter(functions), "")
    yield from _described(description, kind, only, ())
    for index, function in enumerate(description.functions):
        yield from _described(function, kind, function.name, (FUNCTIONS, index))
    yield from _optional(description, kind)
    yield from _listed_functions(description, kind)
    yield from _stages(spec, kind)


def _entries(description: ModelDescription, keys: Keys) -> Iterator[Contradiction]:
    """Yield the contradictions in the entries of a model without a program, each by itself."""
    for side in SIDES:
        for index, entry in enumerate(getattr(description, side)):
            yield from alone(entry, side, (*keys, side, index), ProgramPlace(), is_typed=False)


# ---- a model, or a function


def _described(described: Fields, kind: str, function: str, keys: Keys) -> Iterator[Contradiction]:
    """Yield the contradictions between the entries of a model, or of a function."""
    place = ProgramPlace(function)
    outputs = {entry.name: entry for entry in described.output}
    for key, types in PREDICTED.items():
        predicted = getattr(described, key)
        if not predicted:
            continue
        if predicted not in outputs and kind != PROGRAM:  # IV, validateClassifierFeatureDescriptions
            fact = f"`{key}` names no output of the model: `{predicted}`"
            yield Contradiction(codes.DESCRIPTION_OF_NOTHING, "error", fact, "", (*keys, key), place)
        elif predicted in outputs and (kind == PROGRAM or kind.endswith("Classifier")):
            yield from _predicted(key, outputs[predicted], types, keys, place)
    label, probabilities = PREDICTIONS
    if kind == PROGRAM and getattr(described, probabilities) and not getattr(described, label):
        # Doubtful: IV, validateClassifierFeatureDescriptions, refuses it for classifiers, not for programs.
        fact = f"`{probabilities}` is stated without `{label}`"
        way = "name the output of the label, too, or leave both out"
        yield Contradiction(codes.DESCRIPTION_OF_NOTHING, "warning", fact, way, (*keys, probabilities), place)
    if kind == PROGRAM:
        yield from _mixed(described, keys, place)
        yield from _listed_alike(described, keys, place)


def _predicted(
    key: str, entry: FeatureDescription, types: tuple[str, ...], keys: Keys, place: ProgramPlace
) -> Iterator[Contradiction]:
    """Yield a classifier's field with an output of another type (RR, PROGRAM_CLASSIFIER_INCONSISTENT)."""
    found = entry.type.WhichOneof("Type")
    if found not in types and found is not None:
        wanted, is_ = (" or ".join(f'"{each.removesuffix("Type")}"' for each in some) for some in (types, (found,)))
        fact = f"`{key}` names `{entry.name}`, which has the type {is_}"
        way = f"name an output of the type {wanted}, or none"
        yield Contradiction(codes.DESCRIPTION_OF_OTHER_TYPE, "error", fact, way, (*keys, key), place)


def _flexible_inputs(described: Fields) -> list[tuple[int, str, Flexible]]:
    """Return the inputs of several sizes: the index, the name and the sizes of each."""
    sizes = ((index, entry.name, flexible(entry)) for index, entry in enumerate(described.input))
    return [(index, name, each) for index, name, each in sizes if each is not None]


def _mixed(described: Fields, keys: Keys, place: ProgramPlace) -> Iterator[Contradiction]:
    """Yield an input of ranges beside an input of listed sizes.

    Core ML refuses these at load: "A model doesn't allow a mixture of enumerated and range shape flexibility, but
    feature (…) uses the enumerated shape and feature (…) uses the range shape." (coremltools, issue 2548).
    """
    sizes = _flexible_inputs(described)
    listed = [name for _, name, each in sizes if each.shapes]
    ranged = [(index, name) for index, name, each in sizes if each.ranges]
    if listed and ranged:
        index, name = ranged[0]
        fact = f"the input `{name}` has ranges of sizes, and `{listed[0]}` has a list"
        at, value = (*keys, "input", index), place._replace(side="input", name=name)
        yield Contradiction(codes.DESCRIPTION_OF_OTHER_TYPE, "error", fact, "use one way for all inputs", at, value)


def _listed_alike(described: Fields, keys: Keys, place: ProgramPlace) -> Iterator[Contradiction]:
    """Yield an input that lists another number of sizes than the first input with a list.

    coremltools' guide to flexible inputs, and its `_validate_enumerated_shape_inputs`: several inputs of listed sizes
    need a list of as many sizes each. An answer of Core ML is not public.
    """
    counts = [(index, name, len(each.shapes)) for index, name, each in _flexible_inputs(described) if each.shapes]
    for index, name, count in counts[1:]:
        _, first, wanted = counts[0]
        if count != wanted:
            fact = f"the input `{name}` lists {count} sizes, and `{first}` lists {wanted}"
            at, value = (*keys, "input", index), place._replace(side="input", name=name)
            way = "list as many sizes for each input"
            yield Contradiction(codes.DESCRIPTION_OF_OTHER_TYPE, "warning", fact, way, at, value)


def _optional(description: ModelDescription, kind: str) -> Iterator[Contradiction]:
    """Yield an ML Program whose inputs are all optional (IV, validateOptionalNN, which looks at no functions)."""
    if kind == PROGRAM and description.input and all(entry.type.isOptional for entry in description.input):
        fact, way = "all inputs are optional", "at least one must not be"
        yield Contradiction(codes.DESCRIPTION_OF_OTHER_TYPE, "error", fact, way, ("input", 0, "isOptional"))


# ---- functions


def _listed_functions(description: ModelDescription, kind: str) -> Iterator[Contradiction]:
    """Yield the contradictions between functions and the fields outside (IV, validateMultiFunctionDescription)."""
    names, default = [function.name for function in description.functions], description.defaultFunctionName
    if not names and not default:
        return
    for key in (*SIDES, *PREDICTIONS):
        if getattr(description, key):
            is_list = key in SIDES
            said = f"a `[[{key}]]`" if is_list else f"`{key}`"
            way = f"write it as `[[function.{key}]]` below its function" if is_list else "write it below its function"
            at = (key, 0) if is_list else (key,)
            beside = f"`[[{FUNCTIONS}]]`" if names else "`defaultFunctionName`"
            fact = f"{said} is beside a {beside}"
            yield Contradiction(codes.DESCRIPTION_ENTRY_COUNT, "error", fact, way, at)
    if kind != PROGRAM:
        fact, way = "only an ML Program has functions", "leave them out"
        yield Contradiction(codes.DESCRIPTION_OF_NOTHING, "error", fact, way, (FUNCTIONS, 0) if names else ())
    if names and not default:
        fact, way = "the description lists functions, and does not name the default one", "add `defaultFunctionName`"
        yield Contradiction(codes.DESCRIPTION_ENTRY_COUNT, "error", fact, way, ("defaultFunctionName",), near=())
    elif default not in names:
        near = did_you_mean(nearest(default, names))
        fact = f"there is no function `{default}`{near}"
        yield Contradiction(codes.DESCRIPTION_OF_NOTHING, "error", fact, "", ("defaultFunctionName",))


# ---- specification versions


def version_contradictions(version: int, needed: int) -> Iterator[Contradiction]:
    """Yield a specification version below the model's need, or above the newest known version.

    Source: `Model.cpp`, validateGeneric, UNSUPPORTED_COMPATIBILITY_VERSION. A version of the future may be known to a
    newer Core ML.
    """
    keys: Keys = ("specificationVersion",)
    if version < (needed := max(needed, 1)):
        fact, way = f"`specificationVersion` is {version}, but the model needs {needed}", f"write {needed}, or nothing"
        code = codes.SPECIFICATION_TOO_SMALL
        yield Contradiction(code, "error", fact, way, keys, suggestion=str(needed))
    elif version > NEWEST:
        fact = f"`specificationVersion` is {version}, but the newest known version is {NEWEST}"
        yield Contradiction(codes.DESCRIPTION_OF_NOTHING, "warning", fact, "write a known one", keys)


# ---- pipelines


def pipeline_contradictions(spec: Spec) -> Iterator[Contradiction]:
    """Yield the contradictions between a pipeline and its models, apart from names and connections.

    Source: coremltools, `mlmodel/src/Validation/PipelineValidator.cpp`. A version below a model's is doubtful:
    coremltools' `make_pipeline` gives a pipeline the greatest, but public models have less.
    """
    inner = stages(spec)
    if pipeline_of(spec, kind_of_model(spec)) is not None and not inner:
        fact, way = "the pipeline has no model", "add one"
        yield Contradiction(codes.DESCRIPTION_OF_NOTHING, "error", fact, way, ())
    for index, model in enumerate(inner):
        if model.isUpdatable and not (spec.isUpdatable and index == len(inner) - 1):
            fact, way = f"the stage {index} is updatable", "only the last one of an updatable pipeline can be"
            yield Contradiction(codes.DESCRIPTION_OF_OTHER_TYPE, "error", fact, way, (STAGES, index, "isUpdatable"))
    if spec.isUpdatable and inner and not inner[-1].isUpdatable:
        fact, way = "the pipeline is updatable, and its last stage is not", "leave out `isUpdatable`"
        yield Contradiction(codes.DESCRIPTION_OF_OTHER_TYPE, "error", fact, way, ("isUpdatable",))
    needed = max((model.specificationVersion for model in inner), default=0)
    for found in version_contradictions(spec.specificationVersion, needed):
        yield found._replace(severity="note") if spec.specificationVersion else found


def _stages(spec: Spec, kind: str) -> Iterator[Contradiction]:
    """Yield the stages of a pipeline with a duplicate name, or without a name beside named ones; and names without
    stages.

    Source: coremltools, `mlmodel/src/Validation/PipelineValidator.cpp`.
    """
    pipeline = pipeline_of(spec, kind)
    names = [*pipeline.names] if pipeline else []
    count = len(pipeline.models) if pipeline else 0
    if len(names) > count:
        fact = f"the pipeline has {len(names)} names for {count} stages"
        yield Contradiction(codes.DESCRIPTION_ENTRY_COUNT, "error", fact, "leave out the others", ())
    for index, name in enumerate([*names, *[""] * count][:count] if any(names) else ()):
        keys: Keys = (STAGES, index)
        if not name:
            fact, way = f"the stage {index} has no `name`, and others have one", "name all of them, or none"
            yield Contradiction(codes.DESCRIPTION_ENTRY_COUNT, "error", fact, way, keys)
        elif name in names[:index]:
            fact = f"the stage {index} has the name `{name}` of another one"
            yield Contradiction(codes.DESCRIPTION_ENTRY_COUNT, "error", fact, "", (*keys, "name"))
