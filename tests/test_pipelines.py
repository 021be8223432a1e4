"""Models inside pipelines: chosen by index or name, and listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from containers import (
    LFS,
    NEURAL_NETWORK,
    TEXT,
    link,
    pipeline,
    refused,
    spec,
    write,
    write_package,
    write_pipeline_bundle,
)

import miltext
import miltext.proto
from miltext.models import load, open_model, read


def nested() -> miltext.proto.Model:
    network = miltext.proto.Model.FromString(NEURAL_NETWORK)
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


def test_a_pipeline_lists_what_is_there(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mlmodel", nested().SerializeToString())
    lines = ['0 "prepare": neuralNetwork', '1 "1": mlProgram', '2 "more": pipelineClassifier', '2/0 "deep": mlProgram']
    with refused("MIL257", "a pipeline of 4 models", *lines, "3: mlProgram", "--model"):
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


def test_a_model_in_a_pipeline_that_is_no_program() -> None:
    with refused("MIL254", "`neuralNetwork`"):
        read(nested().SerializeToString(), "it", "prepare")


def test_nothing_is_chosen_in_a_program() -> None:
    assert read(spec().SerializeToString(), "it", "").kind == "mlmodel"
    with refused("MIL257", "which is no pipeline"):
        read(spec().SerializeToString(), "it", 0)
    with refused("MIL257", "which is no pipeline"):
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
