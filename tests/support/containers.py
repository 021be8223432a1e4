"""Models of every kind, made small for tests: files, packages, compiled bundles and pipelines."""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import miltext
from miltext.diagnostics import ModelError
from miltext.printing.coremlc import as_coremlc
from miltext.schema import wire
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, FeatureType, Model, ModelDescription, Program
from miltext.schema.types import write_type
from miltext.schema.value_builders import STRING

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4]> x) {
            tensor<fp16, [1, 4]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 27082\n"

NEURAL_NETWORK = b"\x08\x04\xa2\x1f\x02\x08\x01"
"""A Model of specification 4 whose Type is field 500, neuralNetwork."""


def program(name: str = "main") -> Program:
    made = Program(version=1)
    function = made.functions[name]
    function.opset = "CoreML8"
    block = function.block_specializations["CoreML8"]
    block.operations.add(type="relu").outputs.add(name="y", type=write_type(STRING))
    block.outputs.append("y")
    return made


def spec(name: str = "main", version: int = 9) -> Model:
    made = Model(specificationVersion=version, mlProgram=program(name))
    made.description.input.add(name="x")
    made.description.output.add(name="y")
    return made


def pipeline(*models: Model, names: tuple[str, ...] = (), field: str = "pipeline") -> Model:
    made = Model(specificationVersion=9)
    inner = made.pipeline if field == "pipeline" else getattr(made, field).pipeline
    inner.models.extend(models)
    inner.names.extend(names)
    return made


def write_package(folder: Path, data: bytes, path: str = "com.apple.CoreML/model.mlmodel", **manifest: Any) -> Path:
    """A package whose model has these bytes; `manifest` overrides the keys of its manifest."""
    (folder / "Data" / path).parent.mkdir(parents=True)
    (folder / "Data" / path).write_bytes(data)
    item = {"author": "com.apple.CoreML", "description": "CoreML Model Specification", "name": Path(path).name}
    whole = {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": {"2": {**item, "path": path}},
        "rootModelIdentifier": "2",
        **manifest,
    }
    (folder / "Manifest.json").write_text(json.dumps(whole), encoding="utf-8")
    return folder


def sized(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def coremldata(
    description: ModelDescription,
    *,
    number: int = 502,
    version: int = 9,
    target: bytes = b"generic",
    models: int | None = None,
) -> bytes:
    """The file of a model; `models` is how many a pipeline has."""
    end = struct.pack("<I12x", number) if models is None else struct.pack("<QQ", models, number)
    head = struct.pack("<II20x", number, 9) + sized(target)
    return head + struct.pack("<I28x", version) + sized(description.SerializeToString()) + end


def suppression() -> Model:
    """A model of non-maximum suppression, which follows a network that finds things in images."""
    made = Model(specificationVersion=5)
    made.description.input.add(name="y")
    made.description.output.add(name="boxes")
    return Model.FromString(made.SerializeToString() + wire.sized(wire.tag(610), b"\xa2\x06\x00"))


def suppression_data(number: int = 610, version: int = 5) -> bytes:
    """The `coremldata.bin` of such a stage of a compiled pipeline."""
    head = struct.pack("<II20x", number, 1) + sized(b"spec") + struct.pack("<I28x", version)
    return head + suppression().SerializeToString(deterministic=True)


def write_bundle(folder: Path, text: str = TEXT) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.mil").write_bytes(text.encode())
    (folder / "coremldata.bin").write_bytes(coremldata(spec().description))
    return folder


def compile_package(package: Path, folder: Path) -> Path:
    """A bundle as Apple's compiler would make it of a package, as far as is known."""
    model = miltext.load(package)
    assert model.description is not None
    version = model.specification_version or 0
    folder.mkdir(parents=True)
    text = as_coremlc(model.program, version, model.description)
    (folder / "model.mil").write_bytes(text.encode())
    (folder / "coremldata.bin").write_bytes(coremldata(model.description, version=version))
    shutil.copytree(package / "Data" / "com.apple.CoreML" / "weights", folder / "weights")
    return folder


def write_pipeline_bundle(folder: Path) -> Path:
    """A compiled pipeline: model0 an older neural network, model1 and model2 ML Programs; the last has no name."""
    (folder / "modelNames").mkdir(parents=True)
    data = coremldata(ModelDescription(), number=202, target=b"generic.model0v9.0.0", models=3)
    (folder / "coremldata.bin").write_bytes(data)
    names = struct.pack("<Q", 2) + sized(b"prepare") + sized(b"net")
    (folder / "modelNames" / "coremldata.bin").write_bytes(names)
    (folder / "model0").mkdir()
    (folder / "model0" / "model.espresso.net").write_bytes(b"{}")
    write_bundle(folder / "model1")
    write_bundle(folder / "model2", TEXT.replace("relu", "gelu"))
    return folder


def metadata_json(**changes: Any) -> bytes:
    """A `metadata.json` that agrees with what `write_bundle` writes, but for the changes."""
    feature = {
        "isOptional": "0",
        "type": "MultiArray",
        "dataType": "Float16",
        "shape": "[1, 4]",
        "shortDescription": "",
    }
    model = {
        "specificationVersion": 9,
        "inputSchema": [{**feature, "name": "x"}],
        "outputSchema": [{**feature, "name": "y"}],
        **changes,
    }
    return json.dumps([model]).encode()


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def link(path: Path, target: Path) -> None:
    path.unlink(missing_ok=True)
    try:
        path.symlink_to(target, target_is_directory=target.is_dir())
    except OSError as failure:
        pytest.skip(f"no links here: {failure}")


@contextmanager
def refused(code: str, *sayings: str) -> Iterator[None]:
    """A ModelError is raised with that code and one Diagnostic, which has a way out and says these things in turn."""
    with pytest.raises(ModelError) as failure:
        yield
    (diagnostic,) = failure.value.diagnostics
    assert (diagnostic.code, diagnostic.severity) == (code, "error")
    assert diagnostic.notes, "no way out"
    assert re.search("(?s)" + ".*".join(map(re.escape, sayings)), str(failure.value)), str(failure.value)


def feature(
    name: str, shape: list[int], ranges: list[list[int]] | None = None, shapes: list[list[int]] | None = None
) -> FeatureDescription:
    array = ArrayFeatureType(shape=shape, dataType=ArrayFeatureType.FLOAT32)
    for least, greatest in ranges or []:
        array.shapeRange.sizeRanges.add(lowerBound=least, upperBound=greatest)
    for each in shapes or []:
        array.enumeratedShapes.shapes.add(shape=each)
    return FeatureDescription(name=name, type=FeatureType(multiArrayType=array))
