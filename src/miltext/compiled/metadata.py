"""The `metadata.json` that Apple's compiler writes into a compiled model, for people and for Xcode."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.compiled.coremldata import WHOLE_STAGES
from miltext.compiled.definitions import CCV
from miltext.compiled.doubts import Doubt
from miltext.compiled.feature_schemas import schemas
from miltext.compiled.histogram import KEY as HISTOGRAM
from miltext.compiled.histogram import histogram
from miltext.compiled.metadata_json import METADATA_KEYS
from miltext.compiled.precision import STORAGE, joined, stored_as, used_types
from miltext.compiled.stated import class_name
from miltext.diagnostics import codes, refusing
from miltext.diagnostics.dynamic import Json
from miltext.files.contents import kind_of_model, pipeline_of, stages
from miltext.files.other_kinds import labels_in
from miltext.files.refusals import refusal
from miltext.ir.reading import read_function
from miltext.schema.opsets import plain_opset
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.schema.proto import Function, FunctionDescription, Model, ModelDescription, Program

Entry = dict[str, Json]

AVAILABILITY = {
    5: {"macOS": "11.0", "iOS": "14.0", "watchOS": "7.0", "visionOS": "1.0"},
    6: {"macOS": "12.0", "iOS": "15.0", "watchOS": "8.0", "visionOS": "1.0"},
    7: {"macOS": "13.0", "iOS": "16.0", "watchOS": "9.0", "visionOS": "1.0"},
    8: {"macOS": "14.0", "iOS": "17.0", "watchOS": "10.0", "visionOS": "1.0"},
    9: {"macOS": "15.0", "iOS": "18.0", "watchOS": "11.0", "visionOS": "2.0"},
    10: {"macOS": "16.0", "iOS": "19.0", "watchOS": "12.0", "visionOS": "3.0"},
}
"""The first systems with a specification version; macCatalyst and tvOS have the number of iOS.

All except 10 are from compiled models; 10 is from `CCV`.
"""

_LIKE_IOS = ("macCatalyst", "tvOS")

LABELS = "classLabels"
"""The key for the labels of a pipeline's stage."""

FUNCTIONS = "functions"
"""The key for the list of functions in a model with several."""


class Metadata(NamedTuple):
    """The text of a `metadata.json`, and doubts about its unseen parts."""

    text: str
    doubts: list[Doubt]


def metadata(spec: Model, name: str) -> Metadata:
    """Return the metadata of a model compiled to a folder with this name."""
    doubts: list[Doubt] = []
    description = spec.description
    model: Entry = {
        "metadataOutputVersion": "3.0",
        "method": "predict",
        "modelParameters": [],
        "isUpdatable": str(int(spec.isUpdatable)),
        "specificationVersion": spec.specificationVersion,
        "availability": _availability(spec.specificationVersion, doubts),
        "generatedClassName": class_name(name),
        "modelType": _model_type(spec),
        "userDefinedMetadata": dict(description.metadata.userDefined),
        **_credits(description),
        **_labels(spec, doubts),
        **_features(_default(description) or description, doubts),
        **_statistics([_default_function(each) for each in _models(spec) if each.mlProgram.functions], doubts),
    }
    if description.functions:
        model["defaultFunctionName"] = description.defaultFunctionName
        model[FUNCTIONS] = [_function(each, spec.mlProgram, doubts) for each in description.functions]
    text = json.dumps([model], indent=2, separators=(",", " : "), ensure_ascii=False, sort_keys=True)
    return Metadata(text, doubts)


def _credits(description: ModelDescription) -> Entry:
    texts = {key: getattr(description.metadata, field) for field, key in METADATA_KEYS.items()}
    return {key: text for key, text in texts.items() if text}


def _availability(version: int, doubts: list[Doubt]) -> dict[str, str]:
    known = AVAILABILITY.get(version)
    if known is None or version == max(AVAILABILITY):
        what = f"the availability of specification version {version}"
        doubts.append(Doubt(what, ("availability",), source=CCV if known else ""))
    return {**known, **dict.fromkeys(_LIKE_IOS, known["iOS"])} if known else {}


def _model_type(spec: Model) -> Entry:
    named = {"name": f"MLModelType_{kind_of_model(spec)}"}
    pipeline = pipeline_of(spec, kind_of_model(spec))
    return named if pipeline is None else {**named, "structure": [_model_type(each) for each in pipeline.models]}


def _labels(spec: Model, doubts: list[Doubt]) -> Entry:
    """Return the labels of a pipeline's stage of another kind. Raise ModelError (MIL253) for damaged bytes."""
    kinds = [(stage, kind_of_model(stage)) for stage in stages(spec)]
    with refusing(lambda _: refusal(codes.NOT_A_MODEL, "the labels of a pipeline's stage cannot be read")):
        found = [labels_in(stage, kind) for stage, kind in kinds if kind in WHOLE_STAGES]
    labels = next((each for each in found if each), [])
    if labels and not isinstance(labels[0], str):
        doubts.append(Doubt("how metadata.json shows labels that are whole numbers", (LABELS,)))
    return {LABELS: labels} if labels else {}


# ---- features


def _default(description: ModelDescription) -> FunctionDescription | None:
    named = [each for each in description.functions if each.name == description.defaultFunctionName]
    return next(iter([*named, *description.functions]), None)


def _features(described: ModelDescription | FunctionDescription, doubts: list[Doubt]) -> Entry:
    found: Entry = {}
    for side in ("input", "output", "state"):
        key = f"{side}Schema"
        found[key], unseen = schemas(getattr(described, side), key)
        doubts += unseen
    return found


# ---- the contents of programs


def _models(spec: Model) -> Iterator[Model]:
    """Yield the ML Programs of a model."""
    pipeline = pipeline_of(spec, kind_of_model(spec))
    if kind_of_model(spec) == PROGRAM:
        yield spec
    for model in pipeline.models if pipeline else ():
        yield from _models(model)


def _default_function(spec: Model) -> Function:
    default, functions = _default(spec.description), spec.mlProgram.functions
    name = default.name if default is not None and default.name in functions else min(functions)
    return functions[name]


def _function(described: FunctionDescription, program: Program, doubts: list[Doubt]) -> Entry:
    functions = [program.functions[described.name]] if described.name in program.functions else []
    own: list[Doubt] = []
    shown = {"name": described.name, **_features(described, own), **_statistics(functions, own)}
    doubts += [doubt._replace(place=(FUNCTIONS, described.name, *doubt.place)) for doubt in own]
    return shown


def _statistics(functions: Iterable[Function], doubts: list[Doubt]) -> Entry:
    """Return the counts of several functions together."""
    counts, computed, stored = Counter[str](), set[str](), set[str]()
    for message in functions:
        function = read_function("", message)
        operations = [] if function.block is None else [*function.block.walk()]
        found = histogram(operations, plain_opset(message.opset))
        counts.update(found.counts)
        computed |= used_types(function, operations)
        words, unseen = stored_as(operations)
        stored |= words
        doubts += [*found.doubts, *unseen]
    shown = {HISTOGRAM: dict(counts), "computePrecision": joined(computed)}
    return {**shown, STORAGE: joined(stored)} if stored else shown
