"""What tests ask of a model that was built: that it equals another, and that coremltools opens it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from support.commands import miltext

from miltext import check
from miltext.containers.opening import open_model
from miltext.schema.walk import values
from miltext.weight_files.blob_storage import BlobFile

STATEFUL = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4]> x, state<tensor<fp16, [1, 4]>> s) {
            tensor<fp16, [1, 4]> k = read_state(input = s)[name = string("k")];
            tensor<fp16, [1, 4]> h = add(x = x, y = k)[name = string("h")];
            tensor<fp16, [1, 4]> y = tanh(x = h)[name = string("y")];
        } -> (y);
}
"""
"""A program with an input, a state and an output, for models whose description is edited."""


def assert_same_model(built: Path, original: Path, *, input_order: bool = True) -> None:
    """The Model messages are equal (an absent and an empty metadata are), and so are the weight files' bytes."""
    one, other = open_model(built), open_model(original)
    assert one.spec is not None
    assert other.spec is not None
    left, right = one.spec, other.spec
    for spec in (left, right):
        spec.description.metadata.SetInParent()
        if not input_order:
            for function in spec.mlProgram.functions.values():
                function.inputs.sort(key=lambda value: value.name)
    assert left.description == right.description
    assert left.SerializeToString(deterministic=True) == right.SerializeToString(deterministic=True)
    assert weight_files(built) == weight_files(original)


def weight_files(package: Path) -> dict[str, bytes]:
    data = package / "Data" / "com.apple.CoreML"
    return {path.relative_to(data).as_posix(): path.read_bytes() for path in sorted(data.rglob("*.bin"))}


def assert_coremltools_opens(path: Path) -> Any:
    """It opens as a model and as a spec, its programs load into pymil; returns the MLModel."""
    import coremltools as ct
    from coremltools.converters.mil.frontend.milproto.load import load

    model = ct.models.MLModel(str(path), skip_model_load=True)
    spec = ct.models.utils.load_spec(str(path))
    assert spec.SerializeToString(deterministic=True) == model.get_spec().SerializeToString(deterministic=True)
    weights = path / "Data" / "com.apple.CoreML" / "weights"
    for each in programs(spec):
        load(each, each.specificationVersion, str(weights))
    read_blobs(path)
    return model


def programs(spec: Any) -> list[Any]:
    kind = spec.WhichOneof("Type")
    if kind == "mlProgram":
        return [spec]
    inner = getattr(spec, kind)
    models = getattr(getattr(inner, "pipeline", inner), "models", [])
    return [each for model in models for each in programs(model)]


def read_blobs(package: Path) -> None:
    """coremltools' own reader finds in every record what ours does."""
    from coremltools.libmilstoragepython import _BlobStorageReader

    model = open_model(package)
    for each in [model] if not model.models else [stage for stage in model.models if stage.type == "mlProgram"]:
        for held in values(each.program):
            if held.value.WhichOneof("value") == "blobFileValue":
                blob = held.value.blobFileValue
                assert each.model_path is not None
                path = each.model_path / blob.fileName.removeprefix("@model_path/")
                reader = _BlobStorageReader(str(path))
                ours = BlobFile(path).blob(blob.offset)
                theirs = getattr(reader, f"read_{READERS.get(ours.dtype.name, ours.dtype.name)}_data")(blob.offset)
                assert len(theirs) == ours.count


READERS = {"fp16": "fp16", "fp32": "float"}
"""What coremltools' reader calls a type, where that is not its name."""


class Reported(NamedTuple):
    """A finding of `check`, without its place."""

    severity: str
    code: str
    message: str


def reported(model: Path, *options: str) -> Counter[Reported]:
    """The errors and warnings that the command `check` reports of a model; where it cannot read it, that."""
    found = findings(model, *options)
    return Counter({each: count for each, count in found.items() if each.severity != "note"})


def findings(model: Path, *options: str) -> Counter[Reported]:
    """All that the command `check` reports of a model, with notes; where it cannot read it, that."""
    ended = miltext("check", model, "--format", "json", "--isolated", *options)
    if not ended.stdout:
        return Counter([Reported("error", "", ended.stderr.decode())])
    found = json.loads(ended.stdout)["diagnostics"]
    return Counter(Reported(*(each[key] for key in Reported._fields)) for each in found)


def reported_of_programs(model: Path) -> Counter[Reported]:
    """The warnings that `check` reports of the programs of a model alone; an error is no reason for another."""
    found = [each for stage in open_model(model).select_all() for each in check(stage.model.program)]
    return Counter(Reported(each.severity, each.code, each.message) for each in found if each.severity == "warning")
