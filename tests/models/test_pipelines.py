"""Models inside pipelines: chosen by index or name, and listed."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import CORPUS, corpus_files, wire
from support.commands import RUNNER
from support.containers import (
    LFS,
    NEURAL_NETWORK,
    TEXT,
    coremldata,
    link,
    pipeline,
    refused,
    spec,
    suppression,
    suppression_data,
    write,
    write_bundle,
    write_package,
    write_pipeline_bundle,
)

import miltext
import miltext.schema.proto
from miltext.building.decompiling import strip
from miltext.cli import command
from miltext.containers.opening import load, open_model, read
from miltext.drafting.building import build
from miltext.models.model import Model
from miltext.schema.tensors import tensor_dtype
from miltext.schema.walk import values
from miltext.weight_files.blob_storage import BlobWriter


def nested() -> miltext.schema.proto.Model:
    network = miltext.schema.proto.Model.FromString(NEURAL_NETWORK)
    inner = pipeline(spec("deep"), names=("deep",), field="pipelineClassifier")
    return pipeline(network, spec("second"), inner, spec("last"), names=("prepare", "1", "more"))


SELECTIONS = {1: "second", "1": "second", "2/0": "deep", "more/deep": "deep", "more/0": "deep", 3: "last"}


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_model_in_a_pipeline(tmp_path: Path, selection: int | str) -> None:
    data = nested().SerializeToString()
    for model in (
        load(write(tmp_path / "a.mlmodel", data), model=selection),
        load(write_package(tmp_path / "P.mlpackage", data), selection),
        read(data, "it", model=selection),
    ):
        assert list(model.program.functions) == [SELECTIONS[selection]]
        assert model.specification_version == 9


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_model_in_a_pipeline_on_standard_input(selection: int | str) -> None:
    data = nested().SerializeToString()
    result = RUNNER.invoke(command, ["print", "-", "--model", str(selection)], input=data)
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"func {SELECTIONS[selection]}" in result.stdout


def test_a_pipeline_lists_an_existing_part(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mlmodel", nested().SerializeToString())
    lines = ['0 "prepare": neuralNetwork', '1 "1": mlProgram', '2 "more": pipelineClassifier', '2/0 "deep": mlProgram']
    with refused("MIL257", "a pipeline of 4 models", *lines, "3: mlProgram", "choose a model by its index or name"):
        load(path)
    with refused("MIL257", "a pipeline of 1 model,", '0 "deep"'):
        load(path, "2")
    assert list(open_model(path).listing()) == [*lines, "3: mlProgram"]
    with pytest.raises(miltext.ModelError, match="pipeline of 4"):
        _ = open_model(path).program


@pytest.mark.parametrize(
    ("selection", "saying"),
    [
        ("4", "'4' in this pipeline"),
        ("-1", "'-1'"),
        ("x", "'x'"),
        ("1/0", "'0' in this mlProgram"),
        ("²", "'²'"),
        ("/", "''"),
    ],
)
def test_a_place_that_is_not_there(selection: str, saying: str) -> None:
    with refused("MIL257", saying):
        read(nested().SerializeToString(), "it", selection)


def test_a_model_in_a_pipeline_that_is_not_a_program() -> None:
    with refused("MIL254", "`neuralNetwork`"):
        read(nested().SerializeToString(), "it", "prepare")


def test_nothing_is_chosen_in_a_program() -> None:
    assert read(spec().SerializeToString(), "it", "").kind == "mlmodel"
    with refused("MIL257", "which is not a pipeline"):
        read(spec().SerializeToString(), "it", 0)
    with refused("MIL257", "which is not a pipeline"):
        read(TEXT.encode(), "it", "main")


def test_a_name_that_hides_something_is_escaped() -> None:
    data = pipeline(spec(), names=("a\u202eb\x1b[2J",)).SerializeToString()
    with refused("MIL257", '0 "a\\u{202e}b\\u{1b}[2J"'):
        read(data, "it")


def test_a_compiled_pipeline(tmp_path: Path) -> None:
    folder = write_pipeline_bundle(tmp_path / "C.mlmodelc")
    with refused("MIL257", "3 models", '0 "prepare": neuralNetwork', '1 "net": mlProgram', "2: mlProgram"):
        load(folder)
    assert open_model(folder).type == "pipeline"
    for selection, folder_name, op in (("net", "model1", "relu"), (1, "model1", "relu"), ("2", "model2", "gelu")):
        model = load(folder, selection)
        assert (model.kind, model.path, model.model_path) == ("mlmodelc", folder, folder / folder_name)
        assert f"{op}(x = x)" in (model.text or "")
        assert model.specification_version == 9
    with refused("MIL254", "`neuralNetwork`", "no model.mil"):
        load(folder, "prepare")


def test_a_compiled_pipeline_without_names_or_description(tmp_path: Path) -> None:
    folder = write_pipeline_bundle(tmp_path / "C.mlmodelc")
    (folder / "coremldata.bin").unlink()
    write(folder / "modelNames/coremldata.bin", b"\xff" * 20)
    model = open_model(folder)
    assert list(model.listing()) == ["0: neuralNetwork", "1: mlProgram", "2: mlProgram"]
    assert (model.specification_version, model.description) == (None, None)


def test_a_compiled_pipeline_that_leads_round_in_circles(tmp_path: Path) -> None:
    folder = write_pipeline_bundle(tmp_path / "C.mlmodelc")
    link(folder / "model3", folder)
    assert len(list(open_model(folder).listing())) == 3


def test_a_sibling_that_cannot_be_read_does_no_harm(tmp_path: Path) -> None:
    folder = write_pipeline_bundle(tmp_path / "C.mlmodelc")
    write(folder / "model2/model.mil", LFS)
    assert load(folder, "net").text == TEXT
    with refused("MIL252", "model2", "git lfs pull"):
        load(folder, 2)


# ---- compiled pipelines with a stage that is no ML Program


def with_suppression(folder: Path, stage: bytes | None) -> Path:
    """A compiled pipeline of an ML Program and, unless it says nothing, non-maximum suppression."""
    write_bundle(folder / "model0")
    write(folder / "coremldata.bin", coremldata(miltext.schema.proto.ModelDescription(), number=202))
    (folder / "model1").mkdir()
    if stage is not None:
        write(folder / "model1" / "coremldata.bin", stage)
    return folder


def invoked(*arguments: object) -> str:
    """What a verb that ends well writes."""
    result = CliRunner().invoke(command, list(map(str, arguments)))
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_a_stage_that_is_not_a_program_is_named_by_its_kind(tmp_path: Path) -> None:
    folder = with_suppression(tmp_path / "C.mlmodelc", suppression_data())
    assert list(open_model(folder).listing()) == ["0: mlProgram", "1: nonMaximumSuppression"]
    assert "1: nonMaximumSuppression in a mlmodelc, specification 5" in invoked("info", folder)
    assert invoked("print", folder, "--model", 0) == miltext.to_text(miltext.parse(TEXT))
    assert "nothing found in 1 program" in invoked("check", folder, "--ignore", "MIL26")  # it has two files
    assert "boxes" in invoked("textconv", folder / "model1" / "coremldata.bin")
    with refused("MIL254", "`nonMaximumSuppression`"):
        load(folder, 1)


def test_a_stage_that_is_not_a_program_is_built_back(tmp_path: Path) -> None:
    folder = with_suppression(tmp_path / "C.mlmodelc", suppression_data())
    told = build(open_model(folder), tmp_path / "New.mlpackage")
    assert all("the original has this" in each.message for each in told)
    made = open_model(tmp_path / "New.mlpackage").models
    assert [each.type for each in made] == ["mlProgram", "nonMaximumSuppression"]
    assert made[1].spec is not None
    assert wire(made[1].spec) == wire(suppression())
    invoked("rename", folder, "y", "z", "--model", 0, "-o", tmp_path / "Other.mlpackage")
    renamed = suppression()
    renamed.description.input[0].name = "z"  # which the network gives it
    assert wire(open_model(tmp_path / "Other.mlpackage").models[1].spec or suppression()) == wire(renamed)


UNTOLD = {"nothing": None, "garbage": b"new layout", "cut": suppression_data()[:-4], "pointer": LFS}


@pytest.mark.parametrize("stage", UNTOLD.values(), ids=list(UNTOLD))
def test_a_stage_that_reports_nothing_does_the_others_no_harm(stage: bytes | None, tmp_path: Path) -> None:
    folder = with_suppression(tmp_path / "C.mlmodelc", stage)
    assert list(open_model(folder).listing()) == ["0: mlProgram", "1: unknown"]
    assert load(folder, 0).text == TEXT
    assert "1: unknown in a mlmodelc" in invoked("info", folder)
    with refused("MIL255", "model1", "no model.mil", "git-lfs" if stage == LFS else ""):
        load(folder, 1)
    with refused("MIL423", "`unknown`"):
        build(open_model(folder), tmp_path / "New.mlpackage")
    assert not (tmp_path / "New.mlpackage").exists()


def stages(path: Path) -> list[Model]:
    return list(open_model(path).models)


@pytest.mark.parametrize("path", corpus_files("pipelines/*"))
def test_pipelines_of_the_corpus(path: Path) -> None:
    network, other = stages(path)
    assert [network.type, other.type] == ["mlProgram", "nonMaximumSuppression"]
    assert (network.specification_version, other.specification_version) == (6, 5)
    assert "1: nonMaximumSuppression" in invoked("info", path)
    assert miltext.parse(invoked("print", path, "--model", 0)) == network.program
    assert "nothing found in 1 program" in invoked("check", path, "--ignore", "MIL264")  # it has no weights
    assert open_model(path).warnings == network.warnings == other.warnings == []


@pytest.mark.parametrize("path", corpus_files("pipelines/*.mlmodelc"))
def test_compiled_pipelines_of_the_corpus_equal_their_packages(path: Path) -> None:
    (one, other), (network, suppressing) = stages(path), stages(path.with_suffix(".mlpackage"))
    assert other.spec is not None
    assert suppressing.spec is not None
    assert wire(other.spec) == wire(suppressing.spec)
    assert one.description is not None
    assert one.description == network.description
    assert wire(in_order(strip(one.program))) == wire(in_order(network.program))
    assert open_model(path).description == open_model(path.with_suffix(".mlpackage")).description


def in_order(program: miltext.schema.proto.Program) -> miltext.schema.proto.Program:
    """The program with its buildInfo sorted, as the compiler writes it."""
    info = program.attributes["buildInfo"].immediateValue.dictionary.values
    info.sort(key=lambda pair: pair.key.immediateValue.tensor.strings.values[0])
    return program


def give_weights(model: Model, folder: Path) -> None:
    """Write the weight file that a model lacks, all zeros."""
    found = {held.value.blobFileValue.offset: held.value for held in values(model.program)}
    found.pop(0)
    folder.mkdir()
    with BlobWriter(folder / "weight.bin") as writer:
        for offset, value in sorted(found.items()):
            dtype = tensor_dtype(value.type)
            assert dtype is not None
            sizes = [dimension.constant.size for dimension in value.type.tensorType.dimensions]
            assert writer.add_packed(dtype, bytes(dtype.bits // 8 * math.prod(sizes))) == offset


def test_a_pipeline_of_the_corpus_is_built_back(tmp_path: Path) -> None:
    bundle = CORPUS / "pipelines" / "yolov8n-nms.mlmodelc"
    if not bundle.exists():
        pytest.skip(f"no {bundle}")
    copy = tmp_path / "C.mlmodelc"
    shutil.copytree(bundle, copy)
    for path in [copy, *copy.rglob("*")]:
        path.chmod(0o755)
    with refused("MIL302", "model0", "weight.bin"):
        build(open_model(copy), tmp_path / "New.mlpackage")
    give_weights(stages(copy)[0], copy / "model0" / "weights")
    assert build(open_model(copy), tmp_path / "New.mlpackage") == []
    made, original = open_model(tmp_path / "New.mlpackage").spec, open_model(bundle.with_suffix(".mlpackage")).spec
    assert made is not None
    assert original is not None
    in_order(made.pipeline.models[0].mlProgram)
    in_order(original.pipeline.models[0].mlProgram)
    for held in values(made.pipeline.models[0].mlProgram):
        name = held.value.blobFileValue.fileName
        if name:
            held.value.blobFileValue.fileName = name.replace("/0-", "/")
    assert wire(made) == wire(original)


# ---- pipelines in pipelines in pipelines


@pytest.mark.parametrize("depth", [1, 43, 44, 45, 46, 48, 50, 51, 60, 200, 500])
def test_how_deep_compiled_pipelines_are(depth: int, tmp_path: Path) -> None:
    """What can be built is read again, what cannot is refused, and what is deeper than any model is not read."""
    inner = tmp_path / "C.mlmodelc"
    for _ in range(depth):
        inner.mkdir()
        write(inner / "coremldata.bin", coremldata(miltext.schema.proto.ModelDescription(), number=202))
        inner /= "model0"
    write_bundle(inner)
    made, path = tmp_path / "New.mlpackage", "/".join(["0"] * depth)
    if depth > 50:
        for verb in (["info"], ["check"], ["print", "--model", path], ["sidecar"], ["build", "-o", made]):
            result = CliRunner().invoke(command, [*map(str, verb), str(tmp_path / "C.mlmodelc")])
            assert "MIL255" in result.output, result.exception
        return
    assert list(open_model(tmp_path / "C.mlmodelc").select(path).program.functions) == ["main"]
    result = CliRunner().invoke(command, ["build", str(tmp_path / "C.mlmodelc"), "-o", str(made)])
    assert made.exists() == (depth < 45)
    if made.exists():
        assert load(made, path).program.functions
    else:
        assert result.exit_code == 1
        assert "MIL405" in result.output
        assert sorted(each.name for each in tmp_path.iterdir()) == ["C.mlmodelc"]
