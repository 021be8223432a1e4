"""The contents of a model, in numbers: functions and their operations, parameters by data type, weight files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from miltext.building.decompiling import compilers_entries
from miltext.compiled.stated import summary as stated_in
from miltext.containers.bundle import BundleModel
from miltext.diagnostics.dynamic import Json
from miltext.files.contents import pipeline_of
from miltext.parsing.lowering.left_out import array_named
from miltext.pipelines.connections import OUTER, connections
from miltext.pipelines.type_words import type_words
from miltext.printing.printer import type_text
from miltext.schema.function_io import Types, interfaces
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.value_builders import text_of
from miltext.schema.walk import operations

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.models.overlays import Overlays
    from miltext.schema.proto import Function, ModelDescription

Summary = dict[str, Json]


def summarize(model: Model, whole: Model | None = None) -> Summary:
    """Return the contents of a model, as JSON: `kind`, `type`, `specificationVersion`, `metadata`, and for an ML
    Program `functions`, `weights` and `blobFiles`; for a compiled model its statements as `compiled`; for any other
    model `inputs`, `states` and `outputs`, and for a pipeline `models` and the `connections` between them; for a
    package its `overlays`, and its `items` of unknown use.

    Parameters are elements of weights, counted once if several values share a record. Weight files need not exist.
    Bytes count as unused if no model of `whole`, the pipeline around this model, uses them. Raise ParseError for a
    text.
    """
    whole = whole or model
    found: Summary = {"name": model.name, "kind": model.kind, "type": model.type}
    if model.pipeline_name:
        found["pipelineName"] = model.pipeline_name
    if model.specification_version is not None:
        found["specificationVersion"] = model.specification_version
    metadata = _metadata(model)
    if metadata:
        found["metadata"] = metadata
    if isinstance(model, BundleModel) and (stated := {**_compilers(model), **stated_in(model.folder)}):
        found["compiled"] = stated
    if model.type == PROGRAM:
        found.update(_program(model, whole))
    elif model.description is not None:
        found.update(_features(model.description))
    if model is whole and (unnamed := _unnamed_files(model)):
        found["blobFiles"] = [*found.get("blobFiles", ()), *unnamed]
    if model.overlays is not None:
        found.update(_package_parts(model, model.overlays))
    if model.is_pipeline:
        found["connections"] = _connections(model)
        found["models"] = [summarize(inner, whole) for inner in model.models]
    return found


def _compilers(model: Model) -> Summary:
    """Return the versions of Apple's compiler in the text of a compiled model."""
    entries = compilers_entries(model.program) if model.type == PROGRAM else ()
    texts = {text_of(each.key): text_of(each.value) for each in entries}
    return {"compiler": texts} if texts else {}


def _features(description: ModelDescription) -> Summary:
    """Return the features in a description."""
    sides = {"inputs": description.input, "states": description.state, "outputs": description.output}
    return {
        side: [{"name": entry.name, "type": type_words(entry.type)} for entry in entries]
        for side, entries in sides.items()
        if entries or side != "states"
    }


def _connections(model: Model) -> list[Summary]:
    """Return the connections of a pipeline's models, by their indices; `from` is None for a feature without a
    source.
    """
    spec = Spec(description=model.description)
    pipeline = pipeline_of(spec, model.type)
    assert pipeline is not None
    for each in model.models:
        pipeline.models.append(each.spec or Spec(description=each.description))
    return [
        {
            "name": each.name,
            "from": each.giver if each.giver != OUTER else "input",
            "to": [taker if taker != OUTER else "output" for taker in each.takers],
        }
        for each in connections(spec)
    ]


def _metadata(model: Model) -> Summary:
    found = model.metadata
    if found is None:
        return {}
    fields = {name: getattr(found, name) for name in ("shortDescription", "versionString", "author", "license")}
    return {name: text for name, text in {**fields, **dict(sorted(found.userDefined.items()))}.items() if text}


def _program(model: Model, whole: Model) -> Summary:
    program = model.program
    sides = interfaces(program)
    types: dict[object, Counter[str]] = {name: Counter() for name in sides}
    for path, operation in operations(program):
        types[path[1]][operation.type] += 1
    functions = [_function(name, program.functions[name], sides[name].sides, types[name]) for name in sides]
    return {"functions": functions, "weights": _parameters(model), "blobFiles": _blob_files(model, whole)}


def _function(name: str, function: Function, sides: Mapping[str, Types], operations: Counter[str]) -> Summary:
    features = {
        f"{side}s": [{"name": name, "type": type_text(value_type)} for name, value_type in taken.items()]
        for side, taken in sides.items()
    }
    counts = dict(sorted(operations.items(), key=lambda item: (-item[1], item[0])))
    return {"name": name, "opset": function.opset, **features, "operations": counts}


def _parameters(model: Model) -> dict[str, Summary]:
    """Elements and bytes by data type; a record that several values share counts once."""
    found: dict[str, Summary] = {}
    counted: set[tuple[str, int]] = set()
    for weight in model.weights.entries.values():
        place = (weight.blob.fileName, weight.blob.offset) if weight.blob else ("", id(weight.value))
        if place not in counted:
            counted.add(place)
            counts = found.setdefault(weight.dtype.name, {"parameters": 0, "bytes": 0})
            counts["parameters"] += weight.elements
            counts["bytes"] += weight.size
    return found


def _blob_files(model: Model, whole: Model) -> list[Summary]:
    """Return the weight files that the program names: their values and distinct records, bytes and unused bytes, and
    for a cut file the number of records beyond its end.
    """
    from miltext.files.refusals import WeightsError
    from miltext.weight_files.blob_storage import ALIGNMENT
    from miltext.weight_files.model_weights import BlobFolder, blob_values
    from miltext.weight_files.usage import used_bytes, used_sizes

    offsets: dict[str, list[int]] = {}
    for held in blob_values(model.program):
        if array_named(held.value) is not None:  # of a text: this array is in a file of its own
            continue
        blob = held.value.blobFileValue
        offsets.setdefault(blob.fileName, []).append(blob.offset)
    used = used_sizes(each.program for each in _sharing(whole, model))
    files: list[Summary] = []
    for name, found in sorted(offsets.items()):
        file: Summary = {"path": name, "values": len(found), "records": len(set(found))}
        try:
            file["bytes"] = BlobFolder(model.model_path).path(name).stat().st_size
            file["unusedBytes"] = max(0, file["bytes"] - used_bytes(used[name]))
            beyond = sum(offset + ALIGNMENT + size > file["bytes"] for offset, size in used[name].items())
            file |= {"recordsBeyondEnd": beyond} if beyond else {}
        except WeightsError as failure:
            file["problem"] = failure.diagnostics[0].message
        files.append(file)
    return files


def _package_parts(package: Model, overlays: Overlays) -> Summary:
    """Return the overlays of a package, and its items of unknown use."""
    from miltext.building.compiling.other_files import other_items
    from miltext.models.overlays import spelled

    hidden, unplaced = overlays.hidden, [*overlays.unplaced]
    read: list[Summary] = [
        {
            "path": each.name,
            "texts": len(each.texts),
            "replaced": len(each.texts.keys() & hidden.keys()),
            "unplaced": [spelled(keys) for overlay, keys in unplaced if overlay is each],
            "unknown": [spelled(keys) for keys in each.unknown],
        }
        for each in overlays.read
    ]
    unread = [{"path": each.item.name, "problem": each.problem.message} for each in overlays.unread]
    others = [{"path": item.name, "description": item.use} for item in other_items(package)]
    return {key: found for key, found in {"overlays": [*read, *unread], "items": others}.items() if found}


def _unnamed_files(model: Model) -> list[Summary]:
    """Return the weight files of a package that no model in it names."""
    from miltext.building.sibling_weights import mentions
    from miltext.models.manifest import model_file
    from miltext.weight_files.model_weights import is_weight_file
    from miltext.weight_files.paths import MODEL_PATH

    if model.kind != "mlpackage" or model.path is None or model.model_path is None:
        return []
    folder, naming = model.model_path, model_file(model.path)
    files = [path for path in sorted(folder.rglob("*.bin")) if path.is_file() and is_weight_file(path)]
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    return [
        {"path": f"{MODEL_PATH}/{name}", "values": 0, "records": 0, "bytes": size, "unusedBytes": size}
        for name, size in sizes.items()
        if not mentions(naming, name)
    ]


def _sharing(whole: Model, model: Model) -> Iterator[Model]:
    """Yield the ML Programs inside `whole` with the weight files of `model`."""
    if whole.type == PROGRAM and whole.model_path == model.model_path:
        yield whole
    for inner in whole.models:
        yield from _sharing(inner, model)
