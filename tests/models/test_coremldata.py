"""What a compiled model says of itself: `coremldata.bin`, and `metadata.json` beside it."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import corpus_files, wire
from hypothesis import given
from hypothesis import strategies as st
from support.containers import LFS, coremldata, metadata_json, sized, spec, suppression, suppression_data, write_bundle

from miltext.compiled.coremldata import coremldata as written
from miltext.compiled.coremldata import parse_coremldata, parse_names
from miltext.compiled.metadata_json import MetadataJson
from miltext.containers.opening import load
from miltext.diagnostics import ModelError
from miltext.schema.proto import ArrayFeatureType, ModelDescription

FEATURE = {"name": "f", "isOptional": "0", "shortDescription": ""}


def test_the_length_prefixes_are_walked() -> None:
    description = spec().description
    for target in (b"generic", b"", b"generic.model0v9.0.0" * 40):
        data = parse_coremldata(coremldata(description, target=target, version=7), "it")
        assert (data.type, data.specification_version) == ("mlProgram", 7)
        assert wire(data.description) == wire(description)


def test_derived_and_unknown_parts_are_left_alone() -> None:
    data = bytearray(coremldata(spec().description, number=202) + b"\1" * 48)
    data[4] = 5
    data[0x14] = 1
    assert parse_coremldata(bytes(data), "it").type == "pipeline"
    cut = bytes(data)[: -48 - 16]
    assert parse_coremldata(cut, "it").specification_version == 9


@pytest.mark.parametrize("whole", [coremldata(spec().description)[:-16], suppression_data()], ids=["generic", "spec"])
def test_every_cut_is_refused(whole: bytes) -> None:
    for end in range(len(whole)):
        with pytest.raises(ModelError, match="MIL258"):
            parse_coremldata(whole[:end], "it")


@pytest.mark.parametrize(
    "data",
    [
        coremldata(ModelDescription(), number=503),
        coremldata(ModelDescription())[:0x1C] + b"\xff" * 8 + coremldata(ModelDescription())[0x24:],
        struct.pack("<I24x", 502) + sized(b"generic") + struct.pack("<I28x", 9) + sized(b"\xff\xff\xff"),
        coremldata(ModelDescription(), version=1 << 31),
        suppression_data(number=502),
        suppression_data(version=6),
        LFS,
    ],
    ids=["kind", "length", "description", "version", "another kind", "another version", "pointer"],
)
def test_a_lie_is_refused(data: bytes) -> None:
    with pytest.raises(ModelError, match=r"(?s)the_file.*MIL258.*unknown layout.*fetch the bundle again"):
        parse_coremldata(data, "the_file")


def test_a_stage_that_is_not_a_network_holds_the_whole_model() -> None:
    data = parse_coremldata(suppression_data(), "it")
    assert (data.type, data.specification_version) == ("nonMaximumSuppression", 5)
    assert data.spec is not None
    assert wire(data.spec) == wire(suppression())
    assert wire(data.description) == wire(suppression().description)
    assert parse_coremldata(coremldata(spec().description), "it").spec is None


@pytest.mark.parametrize("version", [1, 5, 10])
def test_a_stage_with_the_whole_model_is_written(version: int) -> None:
    made = suppression()
    made.specificationVersion = version
    made.isUpdatable = True
    data = written(made)
    read = parse_coremldata(data, "it")
    assert read.spec is not None
    assert wire(read.spec) == wire(made)
    assert data.startswith(struct.pack("<II20x", 610, 1) + sized(b"spec") + struct.pack("<I28x", version))
    assert written(suppression()) == suppression_data()


@given(st.binary(max_size=300))
def test_garbage_is_refused(data: bytes) -> None:
    for parse in (parse_coremldata, parse_names, lambda *given: MetadataJson(*given).description()):
        with suppress(ModelError):
            parse(data, "it")


def test_names() -> None:
    assert parse_names(struct.pack("<Q", 2) + sized(b"one") + sized("zwö".encode()), "it") == ["one", "zwö"]
    for data in (b"", struct.pack("<Q", 1 << 63), struct.pack("<Q", 1) + sized(b"\xff")):
        with pytest.raises(ModelError, match="MIL258"):
            parse_names(data, "it")


@pytest.mark.parametrize("path", corpus_files("bundles/*.mlmodelc"))
def test_real_bundles_are_equal_twice(path: Path) -> None:
    data = parse_coremldata((path / "coremldata.bin").read_bytes(), path)
    metadata = MetadataJson((path / "metadata.json").read_bytes(), path)
    assert data.type == "mlProgram"
    assert data.specification_version == metadata.facts.specification_version
    assert data.description.input
    assert wire(data.description) == wire(metadata.description())
    assert load(path).specification_version == data.specification_version


# ---- metadata.json


def described(feature: dict[str, Any]) -> Any:
    data = metadata_json(inputSchema=[{**FEATURE, **feature}])
    return MetadataJson(data, "it").description().input[0]


def array(**said: str) -> ArrayFeatureType:
    feature = described({"type": "MultiArray", "dataType": "Float32", "shape": "[]", **said})
    return feature.type.multiArrayType  # type: ignore[no-any-return]


def test_arrays() -> None:
    made = array(shape="[1, 64]", dataType="Int8")
    assert (list(made.shape), made.dataType, made.WhichOneof("ShapeFlexibility")) == (
        [1, 64],
        ArrayFeatureType.INT8,
        None,
    )
    made = array(shapeRange="[[1, 1], [2, -1]]")
    assert [(size.lowerBound, size.upperBound) for size in made.shapeRange.sizeRanges] == [(1, 1), (2, -1)]
    made = array(shape="[4]", enumeratedShapes="[[1], [2], [4]]")
    assert [list(shape.shape) for shape in made.enumeratedShapes.shapes] == [[1], [2], [4]]


def test_images() -> None:
    image = {"type": "Image", "width": "64", "height": "32", "colorspace": "BGR", "isOptional": "1"}
    feature = described(image)
    made = feature.type.imageType
    assert (made.width, made.height, made.colorSpace, feature.type.isOptional) == (64, 32, made.BGR, True)
    made = described({**image, "sizeRange": "[[8, 64], [4, 32]]"}).type.imageType.imageSizeRange
    assert (made.widthRange.upperBound, made.heightRange.lowerBound) == (64, 4)
    made = described({**image, "enumeratedSizes": "[[8, 4]]"}).type.imageType.enumeratedSizes
    assert [(size.width, size.height) for size in made.sizes] == [(8, 4)]


@pytest.mark.parametrize(
    ("said", "field", "key"),
    [
        ({"type": "String"}, "stringType", None),
        ({"type": "Int64"}, "int64Type", None),
        ({"type": "Double"}, "doubleType", None),
        ({"type": "Dictionary", "keyType": "String"}, "dictionaryType", "stringKeyType"),
        ({"type": "Dictionary", "keyType": "Int64"}, "dictionaryType", "int64KeyType"),
        ({"type": "State", "dataType": "Float16", "shape": "[1, 2]"}, "stateType", None),
    ],
)
def test_other_features(said: dict[str, Any], field: str, key: str | None) -> None:
    made = described({**said, "shortDescription": "what it is"})
    assert made.shortDescription == "what it is"
    assert made.type.WhichOneof("Type") == field
    if key:
        assert made.type.dictionaryType.WhichOneof("KeyType") == key


def test_metadata_and_functions() -> None:
    feature = {**FEATURE, "type": "String"}
    data = metadata_json(
        version="1.0",
        author="them",
        license="MIT",
        userDefinedMetadata={"a": "b"},
        functions=[{"name": "first", "inputSchema": [feature], "outputSchema": [], "stateSchema": []}],
        defaultFunctionName="first",
    )
    made = MetadataJson(data, "it").description()
    assert (made.metadata.versionString, made.metadata.author, made.metadata.license) == ("1.0", "them", "MIT")
    assert dict(made.metadata.userDefined) == {"a": "b"}
    assert (made.functions[0].name, made.functions[0].input[0].name) == ("first", "f")
    assert made.defaultFunctionName == "first"
    assert not made.input


@pytest.mark.parametrize(
    "feature",
    [
        {},
        {"type": "Sequence"},
        {"type": "MultiArray", "dataType": "Float7", "shape": "[1]"},
        {"type": "MultiArray", "dataType": "Float16", "shape": "1"},
        {"type": "MultiArray", "dataType": "Float16", "shape": "[1]", "shapeRange": "[[1]]"},
        {"type": "Image", "width": "a", "height": "1", "colorspace": "RGB"},
        {"type": "Image", "width": "1", "height": "1", "colorspace": "Mauve"},
        {"type": "Dictionary", "keyType": "Double"},
        {"type": "String", "name": 3},
    ],
)
def test_a_feature_that_cannot_be_read_back(feature: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"(?s)MIL258.*in an unknown way"):
        described(feature)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"[3]", b"[{}]", b"\xff", b"[" * 100_000])
def test_json_that_the_compiler_does_not_write(data: bytes) -> None:
    with pytest.raises(ModelError, match=r"(?s)MIL258.*not what Apple's compiler writes"):
        MetadataJson(data, "it")


# ---- both, in a bundle


def bundle(folder: Path, *, coremldata: bytes | None = None, metadata: bytes | None = None) -> Path:
    path = write_bundle(folder / "C.mlmodelc")
    if coremldata is not None:
        (path / "coremldata.bin").write_bytes(coremldata)
    if metadata is not None:
        (path / "metadata.json").write_bytes(metadata)
    return path


def test_both_files_agree(tmp_path: Path) -> None:
    model = load(bundle(tmp_path, metadata=metadata_json()))
    assert model.specification_version == 9
    assert not model.warnings


@pytest.mark.parametrize(
    "metadata",
    [metadata_json(specificationVersion=8), metadata_json(inputSchema=[]), metadata_json(outputSchema=[]), b"{}"],
)
def test_both_files_disagree(tmp_path: Path, metadata: bytes) -> None:
    model = load(bundle(tmp_path, metadata=metadata))
    assert model.specification_version == 9
    assert model.description is not None
    assert [each.name for each in model.description.input] == ["x"]
    (warning,) = model.warnings
    assert (warning.severity, warning.code) == ("warning", "MIL260")
    assert "metadata.json" in warning.message


def test_the_default_of_several_functions_is_compared(tmp_path: Path) -> None:
    description = ModelDescription(defaultFunctionName="second")
    description.functions.add(name="first").input.add(name="a")
    second = description.functions.add(name="second")
    second.input.add(name="x")
    second.output.add(name="y")
    path = bundle(tmp_path, coremldata=coremldata(description), metadata=metadata_json())
    model = load(path)
    assert wire(model.description) == wire(description)  # type: ignore[arg-type]
    assert not model.warnings


def test_metadata_is_in(tmp_path: Path) -> None:
    path = bundle(tmp_path, coremldata=b"new layout", metadata=metadata_json(specificationVersion=8))
    model = load(path)
    assert (model.specification_version, [warning.code for warning in model.warnings]) == (8, ["MIL260"])
    assert model.description is not None
    assert list(model.description.input[0].type.multiArrayType.shape) == [1, 4]
    (path / "coremldata.bin").unlink()
    model = load(path)
    assert model.specification_version == 8
    assert "coremldata.bin is missing" in model.warnings[0].message


def test_nothing_is_in(tmp_path: Path) -> None:
    path = bundle(tmp_path, coremldata=b"new layout")
    model = load(path)
    with pytest.raises(ModelError, match="MIL258"):
        _ = model.description
    assert model.program.functions  # the text needs no description
    (path / "coremldata.bin").unlink()
    model = load(path)
    assert (model.specification_version, model.description, model.warnings) == (None, None, [])


def test_a_pointer_is_in_neither(tmp_path: Path) -> None:
    model = load(bundle(tmp_path, coremldata=LFS))
    with pytest.raises(ModelError, match="git lfs pull"):
        _ = model.description
