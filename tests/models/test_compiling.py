"""Compiled models are written as Apple's compiler writes them, and turned back are what they were."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import struct
from base64 import b64encode
from math import prod
from pathlib import Path
from typing import Any

import pytest
from models.test_build_safety import blob, contents, text_model, weight_file
from support import kinds, real_packages
from support.compiled import in_files, normal
from support.containers import spec as plain_spec
from support.containers import suppression, write_package
from support.pipelines import binary, of_text, piped, unary

import miltext
from miltext.checking.compiled.bundles import bundle_findings
from miltext.compiled.analytics import parse_analytics
from miltext.compiled.coremldata import FORM_VERSIONS, coremldata, parse_coremldata
from miltext.compiled.doubts import unseen
from miltext.compiled.metadata import metadata
from miltext.compiled.precision import stored_as
from miltext.compiled.stated import source_when_compiled
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError
from miltext.files.refusals import WeightsError
from miltext.ir.reading import read_function
from miltext.models.manifest import model_file
from miltext.printing.coremlc import Versions
from miltext.schema import wire
from miltext.schema.proto import ArrayFeatureType, Model, Program
from miltext.schema.types import TensorType
from miltext.schema.value_builders import immediate

EXAMPLE = Path(__file__).parents[2] / "examples" / "Classifier.mlpackage"
FILES = ["analytics/coremldata.bin", "coremldata.bin", "metadata.json", "model.mil"]
OPTIONS = {"allow_unproven": True, "check": False}


def written(spec: Model, folder: Path, **options: Any) -> Path:
    """The compiled model of a message, in a package whose model file is not the usual one."""
    package = write_package(folder / "In.mlpackage", spec.SerializeToString())
    miltext.build(open_model(package), folder / "Out.mlmodelc", **{**OPTIONS, **options})
    return folder / "Out.mlmodelc"


def shown(bundle: Path) -> dict[str, Any]:
    (model,) = json.loads((bundle / "metadata.json").read_bytes())
    return dict(model)


def codes(found: list[miltext.Diagnostic]) -> list[str]:
    return [each.code for each in found]


# ---- the files


def test_a_bundle_has_just_the_files_that_the_compiler_writes(tmp_path: Path) -> None:
    bundle = written(unary("x", "y"), tmp_path)
    assert list(contents(bundle)) == FILES
    miltext.build(open_model(EXAMPLE), tmp_path / "E.mlmodelc")
    assert list(contents(tmp_path / "E.mlmodelc")) == [*FILES, "weights/weight.bin"]
    source = model_file(EXAMPLE).read_bytes()
    assert parse_analytics((tmp_path / "E.mlmodelc" / FILES[0]).read_bytes(), "it") == {
        "NeuralNetworkModelDetails": {"containsCustomLayer": "0", "modelDimension": "0"},
        "SpecificationDetails": {
            "modelHash": b64encode(hashlib.sha256(source).digest()).decode(),
            "modelName": "model",
        },
    }


def test_the_hash_matches_the_package_or_a_possible_package(tmp_path: Path) -> None:
    """A file that nobody here wrote keeps its hash, if the model is not changed on the way."""
    made = of_text(miltext.to_text(unary("x", "y").mlProgram))
    odd = b"\x08\x07" + made.SerializeToString(deterministic=True)  # the version comes twice, and the last one counts
    (tmp_path / "odd.mlmodel").write_bytes(odd)
    bundle, package = tmp_path / "A.mlmodelc", tmp_path / "B.mlpackage"

    def hashed() -> tuple[str, str]:
        found = parse_analytics((bundle / FILES[0]).read_bytes(), "it")["SpecificationDetails"]
        return found["modelHash"], found["modelName"]

    miltext.build(open_model(tmp_path / "odd.mlmodel"), bundle)
    assert hashed() == (b64encode(hashlib.sha256(odd).digest()).decode(), "odd")
    text = text_model(miltext.to_text(made.mlProgram), tmp_path)
    miltext.build(text, bundle, force=True)
    miltext.build(text, package)
    assert hashed() == (b64encode(hashlib.sha256(model_file(package).read_bytes()).digest()).decode(), "model")
    miltext.build(text, bundle, original=tmp_path / "odd.mlmodel", force=True)
    assert hashed() == (b64encode(hashlib.sha256(odd).digest()).decode(), "odd")
    miltext.build(open_model(tmp_path / "odd.mlmodel"), bundle, renames={"x": "z"}, force=True)
    assert hashed()[1] == "model"


@pytest.mark.parametrize("name", ["model.mlmodel", "Named.mlmodel", "two.words.mlmodel"])
@pytest.mark.parametrize("edit", [{}, {"renames": {"x": "z"}}], ids=["", "edited"])
def test_a_possible_package_equals_a_written_one(name: str, edit: dict[str, Any], tmp_path: Path) -> None:
    """A package that is written anew keeps the name of its model file, and that is what is compiled."""
    package = write_package(tmp_path / "P.mlpackage", unary("x", "y").SerializeToString(deterministic=True))
    place = model_file(package)
    place.rename(place.with_name(name))
    manifest = package / "Manifest.json"
    manifest.write_text(manifest.read_text().replace(f"/{place.name}", f"/{name}"))
    miltext.build(package, tmp_path / "Q.mlpackage", **edit)
    miltext.build(package, tmp_path / "C.mlmodelc", **edit)
    assert model_file(tmp_path / "Q.mlpackage").name == name
    source = source_when_compiled(open_model(tmp_path / "Q.mlpackage"))
    assert source is not None
    table = parse_analytics((tmp_path / "C.mlmodelc" / FILES[0]).read_bytes(), "it")["SpecificationDetails"]
    assert table == {"modelHash": source.hash, "modelName": source.name}


@pytest.mark.parametrize("entries", [0, 1, 2], ids=lambda count: f"{count} entries")
def test_the_description_is_there_with_its_metadata(entries: int, tmp_path: Path) -> None:
    made = unary("x", "y")
    for index in range(entries):
        made.description.metadata.userDefined[f"key {index}"] = "value"
    data = (written(made, tmp_path) / "coremldata.bin").read_bytes()
    read = parse_coremldata(data, "it")
    made.description.metadata.SetInParent()
    assert (read.type, read.specification_version, read.description) == ("mlProgram", 7, made.description)
    assert struct.unpack_from("<II", data) == (502, 5)
    assert data[-16:] == struct.pack("<I12x", 502)


def test_each_function_has_its_part_at_the_end() -> None:
    made = plain_spec()
    one = coremldata(made)
    made.description.functions.add(name="main")
    assert len(coremldata(made)) - len(one) == 3 + 6  # the tag and size of the entry, and its name
    made.description.functions.add(name="more")
    assert coremldata(made)[-32:] == struct.pack("<I12x", 502) * 2


def test_metadata_shows_features_counts_and_credits(tmp_path: Path) -> None:
    made = unary("x", "y")
    made.description.metadata.author = "A. N. Author"
    made.description.input[0].shortDescription = "what goes in \N{SNOWMAN}"
    found = shown(written(made, tmp_path))
    assert (found["author"], "license" in found, found["generatedClassName"]) == ("A. N. Author", False, "Out")
    assert found["inputSchema"] == [
        {
            "name": "x",
            "shortDescription": "what goes in \N{SNOWMAN}",
            "isOptional": "0",
            "type": "MultiArray",
            "dataType": "Float32",
            "shape": "[1, 4]",
            "formattedType": "MultiArray (Float32 1 \N{MULTIPLICATION SIGN} 4)",
            "hasShapeFlexibility": "0",
        }
    ]
    assert found["mlProgramOperationTypeHistogram"] == {"Ios16.relu": 1, "Ios16.tanh": 1}
    assert (found["computePrecision"], "storagePrecision" in found) == ("Float32", False)
    assert found["availability"]["tvOS"] == "16.0"


def test_the_versions_are_as_requested(tmp_path: Path) -> None:
    text = (written(unary("x", "y"), tmp_path, versions=Versions("1.2", "3.4")) / "model.mil").read_text()
    assert re.findall(r'\{"coremlc-[^}]*\}', text) == ['{"coremlc-component-MIL", "1.2"}', '{"coremlc-version", "3.4"}']
    again = open_model(tmp_path / "Out.mlmodelc")
    miltext.build(again, tmp_path / "Again.mlmodelc")
    assert (tmp_path / "Again.mlmodelc" / "model.mil").read_text() == text
    miltext.build(again, tmp_path / "Later.mlmodelc", versions=Versions(compiler="7.8"))
    later = (tmp_path / "Later.mlmodelc" / "model.mil").read_text()
    assert re.findall(r'\{"coremlc-[^}]*\}', later) == [
        '{"coremlc-component-MIL", "1.2"}',
        '{"coremlc-version", "7.8"}',
    ]


def test_a_pipeline_has_a_folder_for_each_stage(tmp_path: Path) -> None:
    made = piped(unary("x", "a"), unary("x", "b", "other"), binary("a", "b", "y"), names=["one", "two", "three"])
    bundle = written(made, tmp_path)
    stages = [f"model{index}/{name}" for index in range(3) for name in FILES if name != "metadata.json"]
    assert [*contents(bundle)] == sorted(
        ["analytics/coremldata.bin", "coremldata.bin", "metadata.json", "modelNames/coremldata.bin", *stages]
    )
    outer = parse_analytics((bundle / FILES[0]).read_bytes(), "it")
    assert outer["PipelineModelDetails"] == {"modelDimension": "3"}
    assert "SpecificationDetails" not in parse_analytics((bundle / "model1" / FILES[0]).read_bytes(), "it")
    assert shown(bundle)["modelType"] == {
        "name": "MLModelType_pipeline",
        "structure": [{"name": "MLModelType_mlProgram"}] * 3,
    }
    assert [each.pipeline_name for each in open_model(bundle).models] == ["one", "two", "three"]
    assert shown(bundle)["mlProgramOperationTypeHistogram"] == {"Ios16.relu": 2, "Ios16.tanh": 2, "Ios16.add": 1}


# ---- there and back


SOME = ("int8", "sparse", "functions")
PACKAGES = [
    *(("package", name) for name in SOME),
    *(("kind", name) for name in (*kinds.PROGRAMS, "pipeline-2", "pipeline-3", "pipeline-suppression")),
]


@pytest.mark.parametrize(("family", "name"), PACKAGES)
def test_compiling_and_building_back(family: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    package = real_packages.package(name) if family == "package" else kinds.kind(name)
    bundle, back = tmp_path / "C.mlmodelc", tmp_path / "Back.mlpackage"
    sizes: list[int] = []
    expected: list[int] = []
    told: Any = {"progress": sizes.append, "expect": lambda size: expected.append(size())}
    found = miltext.build(open_model(package), bundle, allow_unproven=True, **told)
    assert [sum(sizes)] == expected
    own = {"bare": "MIL265", "pipeline-suppression": "MIL456"}  # without a description, with a network of fp32 for fp64
    assert {*codes(found)} <= {"MIL210", "MIL214", own.get(name, "MIL214")}
    found = miltext.check(open_model(bundle).programs()[0].model)
    assert {each.code for each in found if each.severity == "error"} == ({"MIL265"} if name == "bare" else set())
    miltext.build(open_model(bundle), back)
    before, now = open_model(package).spec, open_model(back).spec
    assert before is not None
    assert now is not None
    assert normal(now) == normal(before)
    assert in_files(back) == in_files(package)


@pytest.mark.parametrize("name", ["enumerated", "image-enumerated", "image-ranges"])
def test_guesses_that_core_ml_would_read_are_refused(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    with pytest.raises(ModelError, match="MIL441"):
        miltext.build(open_model(kinds.kind(name)), tmp_path / "C.mlmodelc")
    assert not [*tmp_path.iterdir()]


def test_lost_order_of_inputs_is_reported(tmp_path: Path) -> None:
    made = binary("b", "a", "y")
    assert codes(miltext.build(in_package(made, tmp_path / "1"), tmp_path / "1.mlmodelc")) == []
    made.description.input.reverse()
    (told,) = miltext.build(in_package(made, tmp_path / "2"), tmp_path / "2.mlmodelc")
    assert (told.code, told.message) == (
        "MIL210",
        "Apple's compiler leaves this out: the order of the inputs of `main`",
    )


def test_omissions_in_a_pipeline_are_reported_with_a_place(tmp_path: Path) -> None:
    made = piped(unary("x", "a"), unary("a", "y"))
    made.pipeline.models[1].mlProgram.docString = "a note"
    told = miltext.build(in_package(made, tmp_path), tmp_path / "C.mlmodelc", check=False)
    assert [each.message for each in told if each.code == "MIL210"] == [
        "the model 1: Apple's compiler leaves this out: the Program's docString"
    ]


def in_package(spec: Model, folder: Path) -> miltext.Model:
    return open_model(write_package(folder / "P.mlpackage", spec.SerializeToString()))


# ---- what is refused


UNKNOWN = {
    "classifier": (piped(unary("x", "y"), kind="pipelineClassifier"), "pipelineClassifier"),
    "nested": (piped(piped(unary("x", "a")), unary("a", "y")), "a stage of the kind `pipeline`"),
    "empty": (Model(specificationVersion=7, mlProgram=Program(version=1)), "no function"),
}


@pytest.mark.parametrize(("spec", "said"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_constructs_cannot_be_compiled(spec: Model, said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=rf"MIL440.*{said}"):
        written(spec, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["In.mlpackage"]


@pytest.mark.parametrize("version", [5, 11])
def test_versions_that_were_not_seen_need_leave(version: int, tmp_path: Path) -> None:
    made = unary("x", "y")
    made.specificationVersion = version
    with pytest.raises(ModelError, match=f"MIL441.*specification version {version}"):
        written(made, tmp_path, allow_unproven=False)
    *low, told = miltext.build(open_model(tmp_path / "In.mlpackage"), tmp_path / "C.mlmodelc", allow_unproven=True)
    assert (told.code, f"version {version}" in told.notes[0].message) == ("MIL214", True)
    says = "the model needs 7: write 7, or nothing" if version < 7 else "the newest known version is 10"
    assert [each.code for each in low] == ["MIL265"]
    assert f"`specificationVersion` is {version}, but {says}" in low[0].message


OF_VERSIONS = {6: "ios15", 7: "ios16", 8: "ios17", 9: "ios18", 10: "ios26"}
"""The specification versions of ML Programs, each with the opset that it brought."""


@pytest.mark.parametrize("version", OF_VERSIONS)
def test_each_version_compiles_without_leave(version: int, tmp_path: Path) -> None:
    made = of_text(miltext.to_text(unary("x", "y").mlProgram).replace("ios16", OF_VERSIONS[version]))
    made.specificationVersion = version
    bundle, back = tmp_path / "Out.mlmodelc", tmp_path / "Back.mlpackage"
    package = write_package(tmp_path / "In.mlpackage", made.SerializeToString())
    found = [note.message for each in miltext.build(package, bundle) for note in each.notes]
    assert struct.unpack_from("<II", (bundle / "coremldata.bin").read_bytes()) == (502, FORM_VERSIONS[version])
    assert any("form of coremldata.bin" in each and "seen elsewhere" in each for each in found) == (version == 10)
    assert miltext.check(open_model(bundle)) == []
    assert bundle_findings(open_model(bundle), source_when_compiled(open_model(package))) == []
    miltext.build(bundle, back)
    now = open_model(back).spec
    assert now is not None
    assert normal(now) == normal(made)


PARTS = "model.mil Metadata.JSON analytics/coremldata.bin coremldata.bin modelNames/w.bin MODELNAMES/w.bin model0/w.bin"


@pytest.mark.parametrize("name", PARTS.split())
def test_a_weight_file_does_not_take_the_place_of_a_part(name: str, tmp_path: Path) -> None:
    weight_file(tmp_path).rename(tmp_path / "w.bin")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / "w.bin").rename(tmp_path / name)
    source = tmp_path / "a.mil"
    source.write_text(blob(f"@model_path/{name}"))
    with pytest.raises(WeightsError, match="MIL301"):
        miltext.build(open_model(source), tmp_path / "out" / "C.mlmodelc")
    assert not (tmp_path / "out").exists()


# ---- pipelines with non-maximum suppression


def suppressing(held: bytes = b"", **fields: Any) -> Model:
    """A stage of non-maximum suppression, with bytes in the field of its kind."""
    plain = suppression()
    made = Model(specificationVersion=plain.specificationVersion, description=plain.description, **fields)
    return Model.FromString(made.SerializeToString() + wire.sized(wire.tag(610), held))


def vector(field: int, *elements: bytes) -> bytes:
    return wire.sized(wire.tag(field), b"".join(wire.sized(wire.tag(1), each) for each in elements))


LABELS = {
    "none": (b"", None),
    "an empty vector": (vector(100), None),
    "texts": (vector(100, b"cat", "a b\u00fcrd".encode()), ["cat", "a b\u00fcrd"]),
    "whole numbers": (vector(101, wire.varint(3) + wire.varint(1)), [3, 1]),
}


@pytest.mark.parametrize(("held", "labels"), LABELS.values(), ids=LABELS)
def test_labels_of_suppression_are_shown(held: bytes, labels: list[str] | list[int] | None, tmp_path: Path) -> None:
    bundle = written(piped(unary("x", "y"), suppressing(held)), tmp_path)
    assert shown(bundle).get("classLabels") == labels
    told = miltext.build(tmp_path / "In.mlpackage", tmp_path / "Again.mlmodelc", check=False)
    assert any("whole numbers" in note.message for each in told for note in each.notes) == (labels == [3, 1])
    assert not any("a pipeline of" in note.message for each in told for note in each.notes)
    stages = ["model1/coremldata.bin", *(f"model0/{name}" for name in FILES if name != "metadata.json")]
    assert sorted(contents(bundle)) == sorted([*FILES[:3], *stages])


def test_labels_that_differ_from_the_stage_are_found(tmp_path: Path) -> None:
    bundle = written(piped(unary("x", "y"), suppressing(vector(100, b"cat", b"dog"))), tmp_path)
    assert bundle_findings(open_model(bundle)) == []
    path = bundle / "metadata.json"
    path.write_text(path.read_text().replace('"dog"', '"hog"'))
    (found,) = bundle_findings(open_model(bundle))
    assert [each.code for each in found.diagnostics] == ["MIL261"]


def test_damaged_labels_of_suppression_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"MIL253"):
        written(piped(unary("x", "y"), suppressing(vector(100, b"\xff"))), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["In.mlpackage"]


ORDERS = {
    "as known": (["program", "suppression"], False),
    "suppression alone": (["suppression"], True),
    "suppression first": (["suppression", "program"], True),
    "suppression twice": (["program", "suppression", "suppression"], True),
    "after two programs": (["program", "program", "suppression"], True),
}


@pytest.mark.parametrize(("kinds_of_stages", "is_unseen"), ORDERS.values(), ids=ORDERS)
def test_suppression_anywhere_comes_back(kinds_of_stages: list[str], is_unseen: bool, tmp_path: Path) -> None:
    stages = {"program": unary("x", "y"), "suppression": suppressing(vector(100, b"a"), isUpdatable=True)}
    made = piped(*(stages[each] for each in kinds_of_stages))
    package = write_package(tmp_path / "In.mlpackage", made.SerializeToString())
    told = miltext.build(package, tmp_path / "C.mlmodelc", check=False)
    assert any("a pipeline of other" in note.message for each in told for note in each.notes) == is_unseen
    assert "MIL443" not in codes(told)  # the whole stage is there
    miltext.build(tmp_path / "C.mlmodelc", tmp_path / "Back.mlpackage", check=False)
    now = open_model(tmp_path / "Back.mlpackage").spec
    assert now is not None
    assert normal(now) == normal(made)


# ---- what only some models have


def test_ranges_are_shown_and_written() -> None:
    made = unary("x", "y")
    array = made.description.input[0].type.multiArrayType
    for lower, upper in ((1, 1), (2, 8)):
        array.shapeRange.sizeRanges.add(lowerBound=lower, upperBound=upper)
    (entry,) = json.loads(metadata(made, "M").text)[0]["inputSchema"]
    assert entry["hasShapeFlexibility"] == "1"
    assert (entry["shapeRange"], entry["shapeFlexibility"]) == ("[[1, 1], [2, 8]]", "1 \N{MULTIPLICATION SIGN} 2...8")
    assert array.dataType == ArrayFeatureType.FLOAT32


def test_an_operation_that_was_not_seen_is_reported(tmp_path: Path) -> None:
    text = miltext.to_text(unary("x", "y").mlProgram).replace("tanh(", "softsign(")
    source = text_model(text, tmp_path)
    (told,) = miltext.build(source, tmp_path / "C.mlmodelc")
    assert (told.code, ["`softsign` of ios16" in each.message for each in told.notes]) == ("MIL214", [True])
    assert "Ios16.softsign" in shown(tmp_path / "C.mlmodelc")["mlProgramOperationTypeHistogram"]


def test_weights_compressed_as_none_that_was_seen_are_reported() -> None:
    function = unary("x", "y").mlProgram.functions["main"]
    block = function.block_specializations[function.opset]
    made = block.operations.add(type="constexpr_blockwise_shift_scale")
    made.outputs.add(name="w")
    block.operations.add(type="add").inputs["y"].arguments.add(name="w")
    _, doubts = stored_as([*read_function("main", function).walk()])
    assert ["`constexpr_blockwise_shift_scale`" in each.what for each in doubts] == [True]


TABLES = {
    (16,): ("Palettized (4 bits)", False),
    (256,): ("Palettized (8 bits)", False),
    (8,): ("Palettized (3 bits)", True),  # of a number of bits that was not seen
    (15,): ("Palettized (4 bits)", True),
    (4, 1, 16, 1): ("Palettized (4 bits)", True),  # four groups
    (1, 1, 2, 8): ("Palettized (1 bits)", True),  # vectors of eight
    (0,): ("", True),
}


@pytest.mark.parametrize("form", ["attributes", "inputs"])
@pytest.mark.parametrize(("shape", "expected"), TABLES.items(), ids=str)
def test_bits_match_one_table_of_values(shape: tuple[int, ...], expected: tuple[str, bool], form: str) -> None:
    function = unary("x", "y").mlProgram.functions["main"]
    block = function.block_specializations[function.opset]
    made = block.operations.add(type="constexpr_lut_to_dense")
    made.outputs.add(name="w")
    table = immediate(TensorType("fp16", shape), [0] * prod(shape))
    if form == "attributes":
        made.attributes["lut"].CopyFrom(table)
    else:
        made.inputs["lut"].arguments.add(value=table)
    block.operations.add(type="add").inputs["y"].arguments.add(name="w")
    words, doubts = stored_as([*read_function("main", function).walk()])
    assert words == {expected[0]} - {""}
    assert bool(doubts) == (expected[1] or form == "inputs")


@pytest.mark.parametrize(
    ("names", "again"),
    [
        (["0-weight.bin", "1-weight.bin"], ["0-weight.bin", "1-weight.bin"]),
        (["w.bin", "w.bin"], ["0-w.bin", "1-w.bin"]),
    ],
    ids=["as coremltools names them", "of one name"],
)
def test_weights_keep_names_that_are_unlike(names: list[str], again: list[str], tmp_path: Path) -> None:
    path = weight_file(tmp_path)
    for name in names:
        shutil.copy(path, path.with_name(name))
    stages = [of_text(blob(f"@model_path/weights/{name}")) for name in names]
    (tmp_path / "P.mlmodel").write_bytes(piped(*stages).SerializeToString())
    for source, target in (("P.mlmodel", "P.mlmodelc"), ("P.mlmodelc", "Q.mlpackage"), ("Q.mlpackage", "R.mlmodelc")):
        miltext.build(open_model(tmp_path / source), tmp_path / target, check=False)
    miltext.build(open_model(tmp_path / "R.mlmodelc"), tmp_path / "S.mlpackage", check=False)
    for made in ("Q.mlpackage", "S.mlpackage"):
        found = (tmp_path / made / "Data" / "com.apple.CoreML" / "weights").iterdir()
        assert sorted(each.name for each in found) == again


def optional(spec: Model) -> None:
    spec.description.input[0].type.isOptional = True


def predicting(spec: Model) -> None:
    spec.description.predictedFeatureName = "y"


def updatable(spec: Model) -> None:
    spec.isUpdatable = True


@pytest.mark.parametrize(
    ("change", "said"), [(optional, "optional inputs"), (predicting, "a classifier"), (updatable, "an updatable model")]
)
def test_constructs_of_no_known_model_are_reported(change: Any, said: str) -> None:
    made = unary("x", "y")
    assert unseen(made) == []
    change(made)
    assert [said in doubt.what for doubt in unseen(made)] == [True]
    assert ["pipeline" in doubt.what for doubt in unseen(piped(unary("x", "y")))] == [True]
