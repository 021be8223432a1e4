"""Edits of models in compiled, classifying and odd pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pipeline_edits import MORE, Building, array, expose, rename, same, two
from support.pipelines import piped, unary, write_compiled

import miltext
from miltext.building import editing
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.drafting.building import build


@pytest.fixture
def building(tmp_path: Path) -> Building:
    return Building(tmp_path)


def test_a_model_of_a_compiled_pipeline(building: Building, tmp_path: Path) -> None:
    original = open_model(write_compiled(tmp_path / "P.mlmodelc", two()))
    for path, old, new in (("0", "middle", "hidden"), ("1", "middle", "hidden"), ("0", "x", "image"), ("1", "y", "z")):
        text = editing.rename(miltext.to_text(original.select(path).program), old, new)
        made = tmp_path / "new.mlmodel"
        source = TextModel(text.encode(), "new.mil", None)
        assert build(source, made, original=original, model=path, force=True) == []
        spec = open_model(made).spec
        assert spec is not None
        names = {old: new}
        expected = two(*(names.get(name, name) for name in ("x", "middle", "y")))
        expected.pipeline.ClearField("names")  # which are in a file of their own
        assert same(spec, expected)


def test_an_output_of_function_that_is_not_default_stays_inside(building: Building) -> None:
    stage = unary("x", "a")
    stage.mlProgram.functions["other"].CopyFrom(unary("x", "b", "deep").mlProgram.functions["main"])
    for name, given in (("main", "a"), ("other", "b")):
        function = stage.description.functions.add(name=name)
        function.input.add().CopyFrom(stage.description.input[0])
        function.output.add().CopyFrom(stage.description.output[0])
        function.output[0].name = given
    stage.description.ClearField("input")
    stage.description.ClearField("output")
    stage.description.defaultFunctionName, stage.specificationVersion = "main", 9
    spec = piped(stage, unary("a", "y"))
    made = building.by(spec, "0", expose("deep"))
    assert [entry.name for entry in made.pipeline.models[0].description.functions[1].output] == ["b", "deep"]
    assert made.description == spec.description
    made = building.by(spec, "0", lambda text: editing.expose(text, ["inner"], function="main"))
    assert [entry.name for entry in made.description.output] == ["y", "inner"]
    made = building.by(spec, "0", lambda text: editing.rename(text, "a", "z", function="main"))
    assert made.pipeline.models[1].description.input[0].name == "z"
    made = building.by(spec, "0", lambda text: text.replace("func main", "func begin"))
    assert (made.description, made.pipeline.models[0].description.defaultFunctionName) == (spec.description, "begin")


def test_a_classifier_follows_its_predicted_value(building: Building) -> None:
    for kind in ("pipelineClassifier", "pipelineRegressor"):
        spec = piped(unary("x", "a"), unary("a", "y"), kind=kind, predictedFeatureName="y")
        spec.description.predictedProbabilitiesName = "y"
        pipeline = getattr(spec, kind).pipeline
        pipeline.models[1].description.predictedFeatureName = "y"
        made = building.by(spec, "1", rename("y", "label"))
        for description in (made.description, getattr(made, kind).pipeline.models[1].description):
            assert (description.predictedFeatureName, description.output[0].name) == ("label", "label")
        assert made.description.predictedProbabilitiesName == "label"


def test_an_input_that_is_also_an_output_follows_at_both_ends(building: Building) -> None:
    spec = two()
    spec.description.output.add().CopyFrom(spec.description.input[0])
    made = building.by(spec, "0", rename("x", "image"))
    assert [entry.name for entry in (*made.description.input, *made.description.output)] == ["image", "y", "image"]
    made = building(spec, "0", **{"[1, 4]> x": "[1, 1]> x", "relu(x = x)": "tile(x = x, reps = [1, 4])"})
    assert [array(entry) for entry in (*made.description.input, *made.description.output)] == [[1, 1], [1, 4], [1, 1]]


def test_one_model_twice(building: Building) -> None:
    """The second gives what hides the first one's output, so that only what both take is connected."""
    spec = piped(unary("x", "a"), unary("x", "a"), unary("a", "y"))
    made = building.by(spec, "0", rename("x", "image"))
    assert [model.description.input[0].name for model in made.pipeline.models] == ["image", "image", "a"]
    made = building.by(spec, "0", rename("a", "b"))
    assert [model.description.output[0].name for model in made.pipeline.models] == ["b", "a", "y"]
    made = building(spec, "0", **{"tanh(": "sigmoid("})
    assert same(made.pipeline.models[1], spec.pipeline.models[1])


def test_untouched_models_keep_their_bytes(building: Building) -> None:
    spec = piped(unary("x", "a"), unary("a", "b"), unary("b", "y"))
    spec.pipeline.models[1].MergeFromString(bytes.fromhex("ca3e03616263"))
    spec.description.output[0].shortDescription = "how likely"
    made = building.by(spec, "0", rename("x", "image"))
    for old, new in zip([*spec.pipeline.models][1:], [*made.pipeline.models][1:], strict=True):
        assert same(old, new)
    assert made.description.output == spec.description.output


def test_a_pipeline_that_describes_nothing_continues_so(building: Building) -> None:
    spec = two()
    spec.ClearField("description")
    for edit in (rename("x", "image"), expose("inner")):
        made = building.by(spec, "0", edit)
        assert (made.HasField("description"), building.warnings) == (False, [])
    made = building(spec, "0", **MORE)
    assert (made.HasField("description"), building.warnings) == (False, [])
