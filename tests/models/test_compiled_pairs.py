"""What Apple's compiler made of packages, and what is made of them here."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from conftest import CORPUS
from models.test_build_safety import contents
from models.test_pipelines import give_weights

import miltext
from miltext.compiled.coremldata import parse_coremldata
from miltext.containers.opening import open_model
from miltext.models.manifest import model_file

PAIRS = ["bundles/mobius-unified_int8", "bundles/mobius-unified_palette_4bit", "bundles/ironmill-base"]


def pair(name: str) -> tuple[Path, Path]:
    package, bundle = CORPUS / f"{name}.mlpackage", CORPUS / f"{name}.mlmodelc"
    if not (package.exists() and bundle.exists()):
        pytest.skip(f"no {name}")
    return package, bundle


def without_versions(text: bytes) -> bytes:
    return re.sub(rb'(?:, )?\{"coremlc-[^}]*\}', b"", text).replace(b"({{, ", b"({{")


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_the_corpus(name: str, tmp_path: Path) -> None:
    package, apples = pair(name)
    assert miltext.build(open_model(package), tmp_path / apples.name) == []
    made, right = contents(tmp_path / apples.name), contents(apples)
    assert list(made) == list(right)
    assert without_versions(made.pop("model.mil")) == without_versions(right.pop("model.mil"))
    data = made.pop("coremldata.bin"), right.pop("coremldata.bin")
    read = [parse_coremldata(each, "it") for each in data]
    assert read[0] == read[1]
    if len(read[0].description.metadata.userDefined) < 2:
        assert data[0] == data[1]
    shown_by = [json.loads(each.pop("metadata.json"))[0] for each in (made, right)]
    for each in shown_by:
        del each["generatedClassName"]
    assert shown_by[0] == shown_by[1]
    assert made == right  # analytics and weights
    assert miltext.check(open_model(apples)) == []


def test_a_pipeline_of_the_corpus(tmp_path: Path) -> None:
    package, apples = pair("pipelines/yolov8n-nms")
    shutil.copytree(package, tmp_path / "P.mlpackage", copy_function=shutil.copyfile)
    weights = model_file(tmp_path / "P.mlpackage").parent
    weights.chmod(0o755)
    give_weights(open_model(package).models[0], weights / "weights")
    assert miltext.build(tmp_path / "P.mlpackage", tmp_path / "yolov8n.mlmodelc") == []
    made, right = contents(tmp_path / "yolov8n.mlmodelc"), contents(apples)
    del made["model0/weights/weight.bin"]  # which the corpus does not have
    assert list(made) == list(right)
    texts = [without_versions(each.pop("model0/model.mil")) for each in (made, right)]
    assert texts[0] == texts[1]
    for name in ("coremldata.bin", "model0/coremldata.bin"):  # whose user-defined entries are in another order
        data = made.pop(name), right.pop(name)
        assert parse_coremldata(data[0], name) == parse_coremldata(data[1], name)
        assert len(data[0]) == len(data[1])
    shown_by = [json.loads(each.pop("metadata.json")) for each in (made, right)]
    assert shown_by[0] == shown_by[1]
    assert made == right  # analytics, and the stage of non-maximum suppression
