"""Two packages made one by their texts, against what coremltools makes of them with `save_multifunction`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.model_checks import assert_coremltools_opens
from support.real_packages import package
from support.weighted import DATA, build, text_model

import miltext
from miltext.building.new_model import rename_files
from miltext.containers.opening import load
from miltext.models.model import Model
from miltext.schema.proto import Program
from miltext.schema.walk import values

coremltools = pytest.importorskip("coremltools")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package and one with the same weights and a label, as functions of one model."""
    path = tmp_path_factory.mktemp("merged") / "Theirs.mlpackage"
    description = coremltools.utils.MultiFunctionDescriptor()
    description.add_function(str(package("fp32-18")), "main", "main")
    description.add_function(str(package("classifier")), "main", "label")
    description.default_function_name = "main"
    coremltools.utils.save_multifunction(description, str(path))
    return path


def text_of_both() -> str:
    first, second = (
        Program.FromString(load(package(name)).program.SerializeToString()) for name in ("fp32-18", "classifier")
    )
    rename_files(second, {"weights/weight.bin": "weights/b.bin"})
    one, other = miltext.to_text(first), miltext.to_text(second)
    return one[: one.rindex("}")] + other[other.index("    func") :].replace("func main", "func label")


def without_places(model: Model) -> Program:
    made = Program.FromString(model.program.SerializeToString())
    made.attributes.clear()
    for held in values(made):
        if held.value.WhichOneof("value") == "blobFileValue":
            found = model.weights[held.value]
            held.value.Clear()
            held.value.immediateValue.tensor.bytes.values = found.tobytes()
    return made


@pytest.mark.parametrize("pruned", [False, True])
def test_two_packages_are_joined_as_by_coremltools(pruned: bool, theirs: Path, tmp_path: Path) -> None:
    ours = tmp_path / "Ours.mlpackage"
    text = text_model(text_of_both(), tmp_path)
    given = {"b.bin": package("classifier")}
    build(text, ours, original=load(package("fp32-18")), weights=given, prune_weights=pruned)
    assert without_places(load(ours)) == without_places(load(theirs))
    assert sorted(os.listdir(ours / DATA / "weights")) == (["weight.bin"] if pruned else ["b.bin", "weight.bin"])
    if pruned:
        sizes = [(path / DATA / "weights/weight.bin").stat().st_size for path in (ours, theirs)]
        assert sizes[0] == sizes[1]
    left, right = load(ours).description, load(theirs).description
    assert left is not None
    assert right is not None
    assert left.defaultFunctionName == right.defaultFunctionName
    assert {each.name: each for each in left.functions} == {each.name: each for each in right.functions}
    assert_coremltools_opens(ours)
