"""Real packages linked: the whole opens in coremltools, and computes what the models do one after the other.

`scripts/try_linking.py` tries random ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.kinds import PIPELINES, kind
from support.links import differing, outcome, random_bindings
from support.model_checks import assert_coremltools_opens
from support.real_packages import package
from support.whole_models import whole

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError

PACKAGES: dict[str, Callable[[str], Path]] = {"kind": kind, "package": package, "whole": whole}

CHAINS = {
    "one after the other": ("package fp32", "whole no-weights"),
    "the same twice": ("package fp16", "package fp16"),
    "compressed": ("package int4", "package palettized-4", "package sparse"),
    "states": ("package stateful", "kind states"),
    "a classifier first": ("package classifier", "package fp32-18"),
    "two classifiers": ("kind labels-string", "kind labels-int"),
    "functions": ("package functions", "package fp32"),
    "any size": ("package fp32-18", "whole range-unbounded"),
    "opsets": ("whole ios15-float32", "whole ios26-float32"),
    "chunks": ("whole chunk-1", "whole chunk-2"),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_whole_computes_the_numbers_of_the_models(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    paths = [PACKAGES[table](each) for table, each in (words.split(" ", 1) for words in CHAINS[name])]
    found = outcome(paths, random_bindings(paths, random.Random(0)), differing(paths), tmp_path)
    assert found.words == "linked; equal"
    assert found.after <= found.before


def test_functions_equal_those_of_coremltools(tmp_path: Path) -> None:
    """The functions, descriptions and stored bytes are those of `save_multifunction`."""
    ct = pytest.importorskip("coremltools")
    one, other = package("fp32-18"), package("fp16")
    described = ct.utils.MultiFunctionDescriptor()
    described.add_function(str(one), "main", "first")
    described.add_function(str(other), "main", "second")
    described.default_function_name = "first"
    ct.utils.save_multifunction(described, str(tmp_path / "Theirs.mlpackage"))
    made = miltext.link({"first": one, "second": other}, tmp_path / "Ours.mlpackage", functions=True)
    assert_coremltools_opens(tmp_path / "Ours.mlpackage")
    ours, theirs = (open_model(tmp_path / f"{name}.mlpackage") for name in ("Ours", "Theirs"))
    assert ours.description is not None
    assert theirs.description is not None
    assert ours.description.functions == theirs.description.functions
    assert ours.description.defaultFunctionName == theirs.description.defaultFunctionName
    stored = {each.blob.offset: each.size for each in theirs.weights.in_files() if each.blob is not None}
    assert made.weights.after == sum(stored.values())
    x = np.random.default_rng(0).normal(size=(1, 3, 8, 8)).astype(np.float32)
    for name in ("first", "second"):
        mine, their = (miltext.run(each, {"x": x}, function=name) for each in (ours, theirs))
        assert [*mine] == [*their]
        assert all(np.array_equal(mine[key], their[key]) for key in mine)


def test_descriptions_are_joined(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    made = miltext.link(
        {"image": package("image"), "class": package("classifier")}, tmp_path / "W.mlpackage", apart=["x"]
    )
    description = open_model(tmp_path / "W.mlpackage").description
    assert description is not None
    kinds = {each.name: each.type.WhichOneof("Type") for each in (*description.input, *description.output)}
    assert "imageType" in kinds.values()
    assert kinds[description.predictedFeatureName] == "stringType"
    assert kinds[description.predictedProbabilitiesName] == "dictionaryType"
    assert {*made.inputs, *made.outputs} == {*kinds}


def test_the_last_of_two_classifiers_predicts(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    paths = [kind("labels-string"), kind("labels-int")]
    made = miltext.link(paths, tmp_path / "W.mlpackage", apart=differing(paths))
    description = open_model(tmp_path / "W.mlpackage").description
    assert description is not None
    label = next(each for each in description.output if each.name == description.predictedFeatureName)
    assert label.type.WhichOneof("Type") == "int64Type"
    stated = [open_model(path).description for path in paths]
    names = [f"`{path.stem}.{each.predictedFeatureName}`" for path, each in zip(paths, stated, strict=True) if each]
    lost = f"{names[0]} is no longer a predicted label: a model has one, {names[1]}"
    assert any(each.message == lost for each in made.warnings)
    with pytest.raises(ModelError) as raised:
        miltext.link(paths, tmp_path / "N.mlpackage", apart=differing(paths), no_loss=True)
    assert raised.value.diagnostics[0].code == "MIL454"
    assert not (tmp_path / "N.mlpackage").exists()


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_is_refused(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    with pytest.raises(ModelError) as raised:
        miltext.link([kind(name), package("fp32")], tmp_path / "W.mlpackage")
    found = raised.value.diagnostics[0]
    assert found.code in ("MIL257", "MIL254")
    assert any("only ML Programs are linked" in note.message for note in found.notes) or found.code == "MIL254"


def test_metadata_come_from_the_first_model(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    paths: list[Any] = [package("fp32"), tmp_path / "Other.mlpackage"]
    spec = open_model(package("fp32"))
    assert spec.description is not None
    spec.description.metadata.author = "Another"
    spec.save(paths[1])
    made = miltext.link(paths, tmp_path / "W.mlpackage")
    description = open_model(tmp_path / "W.mlpackage").description
    assert description is not None
    assert description.metadata.author == "The tests"
    (found,) = made.warnings
    assert found.message == "the metadata are those of `fp32`; `Other` had another author"


def test_a_bound_image_keeps_its_channels(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    made = miltext.link(
        {"a": kind("image-RGB"), "b": kind("image-RGB")}, tmp_path / "W.mlpackage", bind={"a.painted": "b.image"}
    )
    (found,) = made.warnings
    assert (found.code, "gets them unrounded" in found.message) == ("MIL450", True)
    with pytest.raises(ModelError, match="images of other colour spaces"):
        miltext.link(
            {"a": kind("image-RGB"), "b": kind("image-BGR")}, tmp_path / "N.mlpackage", bind={"a.painted": "b.image"}
        )


def test_defaults_of_optional_inputs_stay(tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    miltext.link({"a": kind("defaults"), "b": kind("defaults")}, tmp_path / "W.mlpackage", bind={"a.y": "b.x"})
    whole, single = open_model(tmp_path / "W.mlpackage").description, open_model(kind("defaults")).description
    assert whole is not None
    assert single is not None
    assert {each.name: each for each in whole.input} == {each.name: each for each in single.input}


def test_the_version_is_the_needed_one(tmp_path: Path) -> None:
    """A part whose inputs are fp16 needs a later version than the whole."""
    pytest.importorskip("coremltools")
    path = whole("ios15-float16")
    program = miltext.load(path).program
    value = next(op for op in miltext.Graph(program).walk() if op.type == "conv").outputs[0].name
    parts = [tmp_path / "A.mlpackage", tmp_path / "B.mlpackage"]
    miltext.extract(path, value, parts[0])
    miltext.extract(path, [*program_outputs(path)], parts[1], inputs=value)
    miltext.link(parts, tmp_path / "W.mlpackage")
    versions = [miltext.load(each).specification_version for each in (path, *parts, tmp_path / "W.mlpackage")]
    assert versions == [6, 7, 7, 6]
    assert not miltext.diff(path, tmp_path / "W.mlpackage")


def program_outputs(path: Path) -> list[str]:
    (function,) = miltext.Graph(miltext.load(path).program).functions.values()
    assert function.block is not None
    return [value.name for value in function.block.outputs]
