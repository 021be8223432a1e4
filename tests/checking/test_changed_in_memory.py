"""`miltext.check` of a model that was changed in memory finds what it finds in the saved model."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from support.kinds import KINDS, kind
from support.model_checks import STATEFUL
from support.model_checks import findings as told

import miltext
from miltext.diagnostics import codes
from miltext.files.contents import stages
from miltext.models.model import Model

EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
FORMS = ("mlpackage", "mlmodel", "mlmodelc")

Change = Callable[[Model], object]


def _operations(model: Model) -> list[miltext.schema.proto.Operation]:
    [block] = model.program.functions["main"].block_specializations.values()
    return list(block.operations)


def _described(model: Model) -> miltext.schema.proto.ModelDescription:
    assert model.description is not None
    return model.description


CHANGES: dict[str, Change] = {
    "nothing": lambda model: model.program,
    "an unknown operation": lambda model: setattr(_operations(model)[1], "type", "addx"),
    "an input renamed": lambda model: setattr(model.program.functions["main"].inputs[0], "name", "ghost"),
    "an undefined name": lambda model: setattr(_operations(model)[2].inputs["x"].arguments[0], "name", "nobody"),
    "another type": lambda model: setattr(_operations(model)[1].outputs[0].type.tensorType, "dataType", 11),
    "an input described by another name": lambda model: setattr(_described(model).input[0], "name", "ghost"),
    "no output described": lambda model: _described(model).ClearField("output"),
    "a prediction of nothing": lambda model: setattr(_described(model), "predictedFeatureName", "label"),
}


def findings(subject: Model | Path) -> Counter[tuple[str, str, str]]:
    return Counter((each.severity, each.code, each.message) for each in miltext.check(subject))


@pytest.fixture(params=FORMS)
def built(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    (tmp_path / "m.mil").write_text(STATEFUL)
    miltext.build(tmp_path / "m.mil", tmp_path / f"M.{request.param}")
    return tmp_path / f"M.{request.param}"


@pytest.mark.parametrize("change", CHANGES)
def test_findings_equal_those_of_the_saved_model(change: str, built: Path) -> None:
    model = miltext.load(built)
    CHANGES[change](model)
    out = built.with_name(f"New{built.suffix}")
    before = findings(model)
    assert findings(model) == before
    model.save(out)
    assert before == findings(out)
    assert bool(before) == (change != "nothing")


def test_places_are_in_the_text_of_the_program(built: Path) -> None:
    model = miltext.load(built)
    CHANGES["an undefined name"](model)
    [found] = [each for each in miltext.check(model) if each.code == "MIL604"]
    assert found.span is not None
    assert miltext.to_text(model.program)[found.span.start : found.span.end] == "nobody"


def test_a_changed_text_model_is_checked_as_changed(tmp_path: Path) -> None:
    (tmp_path / "m.mil").write_text(STATEFUL)
    model = miltext.load(tmp_path / "m.mil")
    assert not miltext.check(model)
    CHANGES["an undefined name"](model)
    assert [each.code for each in miltext.check(model)] == ["MIL604"]


def test_an_unchanged_model_keeps_the_findings_in_its_files(built: Path) -> None:
    if built.suffix == ".mlmodelc":
        (built / "metadata.json").write_text("[")
    model = miltext.load(built)
    first = findings(model)
    assert "program" in vars(model)
    assert findings(model) == first == findings(built)
    assert bool(first) == (built.suffix == ".mlmodelc")


def test_a_changed_model_keeps_the_findings_in_its_weights(tmp_path: Path) -> None:
    package = tmp_path / "M.mlpackage"
    shutil.copytree(EXAMPLE, package)
    model = miltext.load(package)
    CHANGES["a prediction of nothing"](model)
    os.truncate(package / "Data/com.apple.CoreML/weights/weight.bin", 100)
    assert {"MIL263", "MIL265"} <= {each.code for each in miltext.check(model)}


def test_a_changed_model_keeps_the_findings_in_its_manifest(tmp_path: Path) -> None:
    package = tmp_path / "M.mlpackage"
    shutil.copytree(EXAMPLE, package)
    manifest = package / "Manifest.json"
    manifest.write_text(manifest.read_text().replace('"author"', '"writer"', 1))
    (package / "README.txt").write_text("read me")
    model = miltext.load(package)
    _operations(model)[-1].type = "relux"
    found = findings(model)
    model.save(tmp_path / "New.mlpackage")
    assert {"MIL271", "MIL270"} <= {code for _, code, _ in found}
    assert found == findings(tmp_path / "New.mlpackage")


@pytest.mark.parametrize("suffix", [".mlpackage", ".mlmodel"])
def test_a_model_without_its_source_is_checked_as_it_is(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "m.mil").write_text(STATEFUL)
    path = tmp_path / f"M{suffix}"
    miltext.build(tmp_path / "m.mil", path)
    model = miltext.load(path)
    CHANGES["an undefined name"](model)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert "MIL604" in {each.code for each in miltext.check(model)}


# ---- pipelines

PIPELINES = [name for name in KINDS if name.startswith("pipeline")]


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("is_odd", [False, True], ids=["whole", "odd"])
def test_pipelines_have_the_findings_of_the_command(name: str, is_odd: bool, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    package = Path(shutil.copytree(kind(name), tmp_path / "P.mlpackage"))
    if is_odd:
        (file,) = package.glob("Data/*/*.mlmodel")
        spec = miltext.open_model(package).spec
        assert spec is not None
        model = next(each for each in stages(spec) if each.WhichOneof("Type") == "mlProgram")
        model.description.input[0].name = "ghost"
        [block] = model.mlProgram.functions["main"].block_specializations.values()
        block.operations[-1].type = "addx"
        file.write_bytes(spec.SerializeToString())
    found = miltext.check(package)
    expected = Counter((each.severity, each.code) for each in told(package).elements())
    assert Counter((each.severity, each.code) for each in found) == expected
    assert any(each.code == codes.UNKNOWN_OPERATION for each in found) == is_odd
    assert not any(each.span for each in found)
