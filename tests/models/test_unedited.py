"""Nothing edited, nothing changed: a build of a model, or of the text that it prints as, has the same Model message."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import corpus_files
from hypothesis import given, settings
from hypothesis import strategies as st
from support.containers import NEURAL_NETWORK, TEXT, pipeline, write_package
from support.laws.building import assert_unchanged
from support.real_packages import PACKAGES, package

import miltext
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.drafting.building import build
from miltext.schema.proto import Model as Spec


@pytest.mark.parametrize("name", PACKAGES)
def test_packages_of_coremltools(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    assert_unchanged(package(name), tmp_path)


PATHS = ("bundles/*.mlpackage", "pipelines/*.mlpackage", "mlprograms/*.mlmodel", "pairs/*/model.mlmodel")


@pytest.mark.parametrize("path", corpus_files(*PATHS))
def test_the_corpus(path: Path, tmp_path: Path) -> None:
    assert_unchanged(path, tmp_path, elide=64)


PROGRAMS = [TEXT, TEXT.replace("fp16", "int8"), TEXT.replace("ios18", "ios15"), TEXT.replace("main", '$"a b"')]


@st.composite
def specs(draw: st.DrawFn, depth: int = 2) -> Spec:
    """A Model of any version, whatever its program and description would ask for."""
    kind = draw(st.sampled_from(["mlProgram", "other", "pipeline"] if depth else ["mlProgram", "other"]))
    if kind == "pipeline":
        inner = draw(st.lists(specs(depth - 1), min_size=1, max_size=3))
        field = draw(st.sampled_from(["pipeline", "pipelineClassifier", "pipelineRegressor"]))
        made = pipeline(*inner, names=tuple(draw(st.lists(st.sampled_from("abc"), max_size=3))), field=field)
    elif kind == "other":
        made = Spec.FromString(NEURAL_NETWORK)
    else:
        made = Spec(mlProgram=miltext.parse(draw(st.sampled_from(PROGRAMS))))
    made.specificationVersion = draw(st.integers(0, 11))
    for name in draw(st.lists(st.sampled_from("xyz"), max_size=2)):
        made.description.input.add(name=name)
    made.isUpdatable = draw(st.booleans())
    made.description.predictedFeatureName = draw(st.sampled_from(["", "y", "z"]))
    return made


@settings(deadline=None, max_examples=60)
@given(specs())
def test_any_model(tmp_path_factory: pytest.TempPathFactory, spec: Spec) -> None:
    folder = tmp_path_factory.mktemp("unedited")
    assert_unchanged(write_package(folder / "M.mlpackage", spec.SerializeToString()), folder)


@pytest.mark.parametrize("version", range(4, 11))
def test_an_edit_raises_a_version_only_by_what_it_requests(version: int, tmp_path: Path) -> None:
    inner = Spec(specificationVersion=6, mlProgram=miltext.parse(TEXT.replace("ios18", "ios15").replace("16", "32")))
    outer = pipeline(inner)
    outer.specificationVersion = version
    original = open_model(write_package(tmp_path / "M.mlpackage", outer.SerializeToString()))
    text = miltext.to_text(original.select(0).program)
    for edited, needed in ((text.replace("relu", "tanh"), 0), (text.replace("ios15", "ios17"), 8)):
        source = TextModel(edited.encode(), "m.mil", None)
        build(source, tmp_path / "New.mlpackage", original=original, model=0, force=True)
        made = open_model(tmp_path / "New.mlpackage")
        versions = [made.specification_version, made.models[0].specification_version]
        assert versions == [max(version, needed), max(6, needed)]
