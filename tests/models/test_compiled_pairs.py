"""What Apple's compiler made of packages, and what is made of them here."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import CORPUS
from models.test_build_safety import contents
from models.test_compiling import FILES

import miltext
from miltext.compiled.analytics import analytics, details_of, tables_of
from miltext.compiled.coremldata import coremldata, parse_coremldata
from miltext.containers.opening import open_model
from miltext.models.manifest import model_file
from miltext.printing.coremlc import as_coremlc
from miltext.schema.proto import Model

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


def test_a_pipeline_of_corpus_by_its_first_model_and_analytics() -> None:
    package, apples = pair("pipelines/yolov8n-nms")
    source = model_file(package)
    spec = Model.FromString(source.read_bytes())
    tables = {**tables_of(spec), **details_of((source.read_bytes(), source.stem))}
    assert analytics(tables) == (apples / FILES[0]).read_bytes()
    first = spec.pipeline.models[0]
    assert analytics(tables_of(first)) == (apples / "model0" / FILES[0]).read_bytes()
    text = as_coremlc(first.mlProgram, first.specificationVersion, first.description).encode()
    assert without_versions(text) == without_versions((apples / "model0" / "model.mil").read_bytes())
    data = (apples / "model0" / "coremldata.bin").read_bytes()
    assert parse_coremldata(coremldata(first), "it") == parse_coremldata(data, "it")
