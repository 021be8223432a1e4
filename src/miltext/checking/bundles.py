"""What does not fit together in a compiled model: its program, its description, what it states, and its weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from miltext.diagnostics import MiltextError, ModelError, error, warning
from miltext.models.building.decompiling import strip
from miltext.models.bundle import BundleModel
from miltext.models.compiling.analytics import FILE_NAME as ANALYTICS
from miltext.models.compiling.analytics import HASH, SOURCE, tables_of
from miltext.models.compiling.metadata import metadata
from miltext.models.compiling.stated import stated
from miltext.models.contents import pipeline_of
from miltext.models.coremldata import FILE_NAME
from miltext.models.metadata_json import FILE_NAME as METADATA
from miltext.models.metadata_json import METADATA_KEYS
from miltext.models.model_weights import BlobFolder, blob_values
from miltext.models.refusals import WeightsError
from miltext.schema.function_io import interfaces
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model

COMPARED = (
    "specificationVersion isUpdatable modelType inputSchema outputSchema stateSchema defaultFunctionName functions "
    "computePrecision storagePrecision mlProgramOperationTypeHistogram userDefinedMetadata"
).split()
"""The keys of `metadata.json` that follow from the program and the description, beside the credits."""

UNUSUAL = "MIL260"
"""The code of what a bundle's description cannot be read from."""

LEFT_OUT = ("MIL252", "MIL302", "MIL303")
"""The codes of files that a copy of a model is kept without: in git-lfs, or weights elsewhere."""


def bundle_findings(bundle: Model, hashes: Collection[str] = ()) -> list[Diagnostic]:
    """Return what does not fit in a compiled model, whose analytics should have one of the `hashes`, if any are
    given. Raise ParseError for a program that cannot be read.
    """
    assert isinstance(bundle, BundleModel)
    try:
        spec = _spec(bundle)
    except ModelError as failure:
        return [_told(failure.diagnostics[0].code, failure, error)]
    read = stated(bundle.folder)
    codes = {METADATA: "MIL261", ANALYTICS: "MIL262"}
    found = [each for each in bundle.warnings if each.code == UNUSUAL and not bundle.is_described]
    found += [_told(codes[name], failure, warning) for name, failure in read.problems.items()]
    found += _analytics(read.analytics, spec, hashes)
    if spec is None:
        return found
    if bundle.type == PROGRAM:
        found += _interfaces(spec)
        found += _weights(bundle)
    return [*found, *_metadata(read.metadata, spec)]


def _told(code: str, failure: ModelError, tell: Callable[..., Diagnostic], about: str = "") -> Diagnostic:
    """Return what keeps a file from being read; a note where just this copy may be without it."""
    said = failure.diagnostics[0]
    made = tell(code, said.message + about, None, *said.notes)
    return made._replace(severity="note") if said.code in LEFT_OUT else made


def _spec(bundle: Model) -> Spec | None:
    """Return the Model message as far as it is known; None without a description."""
    if bundle.description is None:
        return None
    spec = Spec(specificationVersion=bundle.specification_version or 0, description=bundle.description)
    if bundle.type == PROGRAM:
        spec.mlProgram.CopyFrom(strip(own_copy(bundle.program)))
        return spec
    pipeline = pipeline_of(spec, bundle.type)
    if pipeline is None:
        return None
    inner = [_inner(model) for model in bundle.models]
    if None in inner:
        return None
    pipeline.models.extend(each for each in inner if each is not None)
    return spec


def _inner(model: Model) -> Spec | None:
    """Return the Model message of a pipeline's model; what keeps it from being read is told of that model."""
    with suppress(MiltextError):
        return model.spec or _spec(model)
    return None


# ---- analytics


def _analytics(tables: Any, spec: Spec | None, hashes: Collection[str]) -> Iterator[Diagnostic]:
    """Yield what the analytics count otherwise, and a hash that is none of those that are right."""
    stated_hash = tables.get(SOURCE, {}).get(HASH)
    if hashes and stated_hash is not None and stated_hash not in hashes:
        message = f"{ANALYTICS} has the hash {stated_hash} of what was compiled, which is not that of --from"
        yield warning("MIL262", message)
    for name, table in (tables_of(spec) if spec is not None and tables else {}).items():
        for key, text in table.items():
            said = tables.get(name, {}).get(key)
            if said != text:
                yield warning("MIL262", f"{ANALYTICS} says {said or 'nothing'} for {name}.{key}, but it is {text}")


# ---- metadata.json


def _metadata(read: dict[str, Any], spec: Spec) -> Iterator[Diagnostic]:
    """Yield each key of `metadata.json` that says something else than program and description, where that is known."""
    if not read:
        return
    made = metadata(spec, "")
    doubtful = {doubt.key for doubt in made.doubts}
    if doubtful - {"availability"}:
        doubtful.add("functions")
    expected = json.loads(made.text)[0]
    for key in (*COMPARED, *METADATA_KEYS.values()):
        if key in read and key not in doubtful and read[key] != expected.get(key, _absent(read[key])):
            yield warning("MIL261", f"{METADATA} disagrees with the program and the description in {key!r}")


def _absent(said: Any) -> Any:
    """Return what stands for a key that is not written: nothing, as an empty text or list says it, too."""
    return said if not said else None


# ---- the program


def _interfaces(spec: Spec) -> Iterator[Diagnostic]:
    """Yield what functions take and give that the description does not have, and the other way round."""
    described = {each.name: each for each in spec.description.functions}
    for name, interface in interfaces(spec.mlProgram).items():
        features: Any = described.get(name, None if described else spec.description)
        for side, types in interface.sides.items() if features is not None else ():
            entries = {each.name for each in getattr(features, side)}
            for odd in sorted(entries.symmetric_difference(types)):
                lacking = "the program lacks" if odd in entries else f"{FILE_NAME} lacks"
                yield warning("MIL260", f"{lacking} the {side} `{odd}` of `{name}`")


def _weights(bundle: BundleModel) -> Iterator[Diagnostic]:
    """Yield the first fault of each weight file that the program names."""
    folder = BlobFolder(bundle.model_path)
    faulty: set[str] = set()
    for held in blob_values(bundle.program):
        name = held.value.blobFileValue.fileName
        try:
            if name not in faulty:
                folder.blob(held.value)
        except WeightsError as failure:
            faulty.add(name)
            yield _told("MIL263", failure, error, f" (`{held.name}`)")
    folder.close()
