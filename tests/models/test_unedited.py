"""Nothing edited, nothing changed: a build of a model, or of the text that it prints as, has the same Model message."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import corpus_files
from hypothesis import given, settings
from hypothesis import strategies as st
from models.test_build_safety import blob, weight_file
from support.containers import NEURAL_NETWORK, TEXT, pipeline, write_package
from support.laws.building import assert_described, assert_unchanged
from support.real_packages import PACKAGES, package

import miltext
from miltext.building.writing import unedited
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.drafting.building import build
from miltext.models.manifest import model_file
from miltext.schema.proto import Model as Spec
from miltext.weight_files.model_weights import blob_values


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
def test_any_model_stays_unchanged(tmp_path_factory: pytest.TempPathFactory, spec: Spec) -> None:
    folder = tmp_path_factory.mktemp("unedited")
    assert_unchanged(write_package(folder / "M.mlpackage", spec.SerializeToString()), folder)


@pytest.mark.parametrize("version", range(4, 11))
def test_an_edit_raises_a_version_only_as_requested(version: int, tmp_path: Path) -> None:
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


# ---- the bytes of a file


MODELS = ("bundles/*.mlpackage", "mlprograms/*.mlmodel", "pairs/*/model.mlmodel")


@pytest.mark.parametrize("path", corpus_files(*MODELS))
def test_an_unedited_description_keeps_the_bytes(path: Path, tmp_path: Path) -> None:
    assert_described(path, tmp_path)


def odd(spec: Spec) -> bytes:
    """Bytes of a message that no producer of today writes: the version comes twice, and the last one counts."""
    return b"\x08\x07" + spec.SerializeToString(deterministic=True)


@pytest.fixture
def weighted(tmp_path: Path) -> Path:
    """A package with a weight file and odd bytes."""
    weight_file(tmp_path)
    (tmp_path / "a.mil").write_text(blob())
    build(open_model(tmp_path / "a.mil"), tmp_path / "M.mlpackage")
    own = model_file(tmp_path / "M.mlpackage")
    own.write_bytes(odd(Spec.FromString(own.read_bytes())))
    return tmp_path / "M.mlpackage"


def files(package: Path) -> dict[str, bytes]:
    data = package / "Data"
    return {each.relative_to(data).as_posix(): each.read_bytes() for each in data.rglob("*") if each.is_file()}


@pytest.mark.parametrize("name", ["New.mlpackage", "M.mlpackage"])
@pytest.mark.parametrize("way", ["build", "save", "text", "twice"])
def test_all_files_stay_where_nothing_is_edited(way: str, name: str, weighted: Path) -> None:
    before, out = files(weighted), weighted.with_name(name)
    model = open_model(weighted)
    if way == "save":
        model.save(out, force=True)
    elif way == "text":
        text = TextModel(miltext.to_text(model.program).encode(), "m.mil", None)
        build(text, out, original=model, force=True)
    else:
        build(model, out, force=True)
    if way == "twice":
        build(open_model(out), out, force=True)
    assert files(out) == before


def test_a_file_beside_its_weights_stays_where_nothing_is_edited(weighted: Path) -> None:
    lone = weighted.with_name("M.mlmodel")
    build(open_model(weighted), lone)
    lone.write_bytes(odd(Spec.FromString(lone.read_bytes())))
    before = lone.read_bytes()
    build(open_model(lone), lone, force=True)
    assert lone.read_bytes() == before
    copied = lone.with_name("folder") / "M.mlmodel"
    build(open_model(lone), copied)
    named = [held.value.blobFileValue.fileName for held in blob_values(open_model(copied).program)]
    is_same = named == [held.value.blobFileValue.fileName for held in blob_values(open_model(lone).program)]
    assert (copied.read_bytes() == before) == is_same


@pytest.mark.parametrize("edit", ["program", "description", "version"])
def test_an_edit_is_never_lost_to_the_old_bytes(edit: str, weighted: Path) -> None:
    model = open_model(weighted)
    assert model.spec is not None
    if edit == "program":
        model.program.docString = "edited"
    elif edit == "description":
        model.spec.description.metadata.author = "edited"
    else:
        model.spec.specificationVersion += 1
    model.save(weighted, force=True)
    made = Spec.FromString(model_file(weighted).read_bytes())
    assert made == model.spec
    assert model_file(weighted).read_bytes() == made.SerializeToString(deterministic=True)


@pytest.mark.parametrize("way", ["gone", "damaged", "another", "a folder"])
def test_a_file_that_changed_meanwhile_is_not_copied(way: str, weighted: Path) -> None:
    model, own = open_model(weighted), model_file(weighted)
    if way == "damaged":
        own.write_bytes(b"\xff" * 9)
    elif way == "another":
        own.write_bytes(Spec(specificationVersion=3).SerializeToString())
    else:
        own.unlink()
    if way == "a folder":
        own.mkdir()
    spec = model.spec
    assert spec is not None
    data = spec.SerializeToString(deterministic=True)
    assert unedited(data, own) is None
    assert unedited(data, None) is None
