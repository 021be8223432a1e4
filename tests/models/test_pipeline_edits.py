"""A model of a pipeline edited: what it takes and gives stays connected, or the edit is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.containers import refused
from support.pipeline_edits import MORE, Building, array, expose, rename, same, two
from support.pipelines import binary, of_text, piped, unary

import miltext
from miltext.schema.proto import ImageFeatureType, Model


@pytest.fixture
def building(tmp_path: Path) -> Building:
    return Building(tmp_path)


# ---- names


def test_a_rename_is_carried_to_other_models_and_pipeline(building: Building) -> None:
    assert same(building.by(two(), "0", rename("x", "image")), two(x="image"))
    assert same(building.by(two(), "0", rename("middle", "hidden")), two(middle="hidden"))
    assert same(building.by(two(), "1", rename("middle", "hidden")), two(middle="hidden"))
    assert same(building.by(two(), "two", rename("y", "result")), two(y="result"))
    assert building.warnings == []


def test_a_rename_of_an_inner_value_stays_inside(building: Building) -> None:
    made = building.by(two(), "0", rename("inner", "kept"))
    assert same(made, piped(unary("x", "middle", "kept"), unary("middle", "y"), names=("one", "two")))


def test_a_rename_reaches_all_nested_pipelines(building: Building) -> None:
    def nested(a: str = "a", c: str = "c") -> Model:
        return piped(unary("x", a), piped(unary(a, "b"), unary("b", c)), unary(c, "y"))

    assert same(building.by(nested(), "1/0", rename("a", "z")), nested(a="z"))
    assert same(building.by(nested(), "0", rename("a", "z")), nested(a="z"))
    assert same(building.by(nested(), "1/1", rename("c", "z")), nested(c="z"))
    assert same(building.by(nested(), "2", rename("c", "z")), nested(c="z"))


def test_inputs_exchange_their_names(building: Building) -> None:
    def pair(a: str, b: str) -> Model:
        return piped(unary("x", a), unary("y", b), binary(a, b, "z"))

    exchanged = {"a": "b", "b": "a"}
    made = building.by(pair("a", "b"), "2", lambda text: re.sub(r"\b[ab]\b", lambda found: exchanged[found[0]], text))
    assert same(made, pair("b", "a"))


def test_only_the_connection_that_was_renamed_gets_the_name(building: Building) -> None:
    """The second model gives `a` anew, and the third takes that one."""

    def hiding(first: str, then: str) -> Model:
        return piped(unary("x", first), unary("w", then), unary(then, "y"), hidden=[first])

    assert same(building.by(hiding("a", "a"), "0", rename("a", "b")), hiding("b", "a"))
    assert same(building.by(hiding("a", "a"), "1", rename("a", "b")), hiding("a", "b"))
    assert same(building.by(hiding("a", "a"), "2", rename("a", "b")), hiding("a", "b"))


def test_an_input_that_is_an_output_too_has_one_name(building: Building) -> None:
    given = unary("a", "y")
    given.mlProgram.functions["main"].block_specializations["CoreML6"].outputs.append("a")
    given.description.output.add().CopyFrom(given.description.input[0])
    spec = piped(unary("x", "a"), given, unary("a", "z"))
    with refused("MIL457", "`a` is both an input and an output of model 1, and cannot get two names"):
        building.by(spec, "0", rename("a", "b"))


def test_a_name_that_is_in_use_around_the_model_is_refused(building: Building) -> None:
    with refused("MIL431", "the pipeline already has a feature `y`", 'model 1 "two" gives it'):
        building.by(two(), "0", rename("x", "y"))
    with refused("MIL431", 'the function `main` of model 1 "two" already has a value `other`'):
        building.by(piped(unary("x", "a"), unary("a", "y", "other"), names=("one", "two")), "0", rename("a", "other"))
    with refused("MIL431", "model 0 already has a feature `b`", "model 0/0 gives it"):
        nested = piped(piped(unary("x", "b"), unary("b", "c")), unary("c", "y"))
        building.by(nested, "1", rename("c", "b"))


# ---- types

WIDER = {"[1, 4]": "[1, 8]"}


def test_an_outer_feature_follows_a_type(building: Building) -> None:
    spec = piped(unary("x", "y"), names=("only",))
    for entry in (*spec.description.input, *spec.description.output):
        entry.shortDescription, entry.type.isOptional = f"about {entry.name}", True
    made = building(spec, "0", **WIDER)
    for entry in (*made.description.input, *made.description.output):
        assert (array(entry), entry.shortDescription, entry.type.isOptional) == ([1, 8], f"about {entry.name}", True)
    assert building.warnings == []


def test_a_type_that_another_model_does_not_have_is_refused(building: Building) -> None:
    with refused("MIL456", 'model 0 "one" gives `middle` as fp32 [1, 8] now', 'model 1 "two" takes fp32 [1, 4]'):
        building(two(), "0", **WIDER)
    with refused("MIL456", 'model 1 "two" takes `middle` as fp32 [1, 8] now', 'model 0 "one" gives fp32 [1, 4]'):
        building(two(), "1", **WIDER)
    with refused("MIL456", "model 0 takes `x` as fp32 [1, 8] now", "model 1 takes fp32 [1, 4]"):
        building(piped(unary("x", "y"), unary("x", "z")), "0", **WIDER)
    with refused("MIL456", "model 0 gives `a` as fp32 [1, 8] now", "model 1 takes fp32 [1, 4]"):
        building(piped(unary("x", "a"), piped(unary("a", "b"), unary("b", "y"))), "0", **WIDER)
    with refused("MIL456", "model 1/0 gives `b` as fp32 [1, 8] now", "model 1/1 takes fp32 [1, 4]"):
        building(piped(unary("x", "a"), piped(unary("a", "b"), unary("b", "y"))), "1/0", **WIDER)
    with refused("MIL456", "model 1 takes `a` as fp32 [1, 8] now", "model 0 gives fp32 [1, 4]"):
        building(piped(unary("x", "a"), piped(unary("a", "y"))), "1/0", **WIDER)


PICTURE = """program(1.3)
{
    func main<ios16>(tensor<fp32, [1, 3, 8, 8]> picture) {
            tensor<fp32, [1, 3, 8, 8]> y = relu(x = picture)[name = string("y")];
        } -> (y);
}
"""


def test_an_image_of_the_pipeline_stays_an_image(building: Building) -> None:
    stage = of_text(PICTURE)
    image = ImageFeatureType(width=8, height=8, colorSpace=ImageFeatureType.RGB)
    stage.description.input[0].type.imageType.CopyFrom(image)
    made = building(piped(stage), "0", **{"[1, 3, 8, 8]": "[1, 3, 16, 32]"})
    image.height, image.width = 16, 32
    for spec in (made, made.pipeline.models[0]):
        assert spec.description.input[0].type.imageType == image
        assert array(spec.description.output[0]) == [1, 3, 16, 32]
    assert building.warnings == []


def test_a_type_that_the_pipeline_reported_otherwise_is_reported(building: Building) -> None:
    spec = piped(unary("x", "y"), names=("only",))
    spec.description.input[0].type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=1, upperBound=4)
    made = building(spec, "0", **WIDER)
    assert array(made.description.input[0]) == [1, 8]
    (told,) = building.warnings
    assert told.code == "MIL450"
    assert 'now follows model 0 "only", and was fp32 [1, 4] in ranges' in told.message


def test_a_type_that_the_pipeline_reported_before_is_not_lost(building: Building) -> None:
    spec = piped(unary("x", "y"), names=("only",))
    for entry in (spec.description.input[0], spec.description.output[0]):
        entry.type.multiArrayType.shape[1] = 8
    building.choices = {"no_loss": True}
    made = building(spec, "0", **WIDER)
    assert [array(entry) for entry in (*made.description.input, *made.description.output)] == [[1, 8]] * 2
    assert building.warnings == []


def test_two_models_get_another_type_one_after_the_other(building: Building) -> None:
    building.choices = {"check": False}
    made = building(two(), "0", **WIDER)
    assert [each.code for each in building.warnings] == ["MIL456"]
    assert (array(made.description.input[0]), array(made.description.output[0])) == ([1, 8], [1, 4])
    building.choices = {}
    made = building(made, "1", **WIDER)
    assert building.warnings == []
    widths = [array(entry) for model in made.pipeline.models for entry in model.description.input]
    assert [*widths, array(made.description.output[0])] == [[1, 8]] * 3


# ---- what is gone

TWO_OUTPUTS = """program(1.3)
{
    func main<ios16>(tensor<fp32, [1, 4]> x, tensor<int32, [1, 4]> n) {
            tensor<fp32, [1, 4]> a = relu(x = x)[name = string("a")];
            tensor<int32, [1, 4]> b = sign(x = n)[name = string("b")];
        } -> (a, b);
}
"""


def test_an_output_that_a_later_model_takes_is_kept(building: Building) -> None:
    spec = piped(of_text(TWO_OUTPUTS), unary("a", "y"), names=("one", "two"))
    with refused("MIL457", 'model 0 "one" no longer has the output `a`, an input of model 1 "two"'):
        building(spec, "0", **{"(a, b)": "(b)"})
    building.choices = {"check": False}
    made = building(spec, "0", **{"(a, b)": "(b)"})
    assert [(each.severity, each.code) for each in building.warnings] == [("warning", "MIL457")]
    assert [entry.name for entry in made.description.output] == ["b", "y"]
    shadowed = piped(of_text(TWO_OUTPUTS), unary("x", "a"), unary("a", "y"))
    assert "a" not in {entry.name for entry in shadowed.description.output}
    building(shadowed, "0", **{"(a, b)": "(b)"})  # the third model takes that of the second
    assert building.warnings == []
    given_before = piped(unary("x", "a"), of_text(TWO_OUTPUTS), unary("a", "y"))
    building.choices = {}
    with refused(
        "MIL457", "model 1 no longer has the output `a`, an input of model 2"
    ):  # not that of the first, in silence
        building(given_before, "1", **{"(a, b)": "(b)"})


def test_a_removal_reaches_the_pipeline_and_is_reported(building: Building) -> None:
    spec = piped(of_text(TWO_OUTPUTS), unary("a", "y"), kind="pipelineClassifier", predictedFeatureName="b")
    made = building(spec, "0", **{"(a, b)": "(a)"})
    assert [entry.name for entry in made.description.output] == ["y"]
    assert made.description.predictedFeatureName == ""
    assert [(each.code, each.message) for each in building.warnings] == [
        ("MIL453", "the pipeline no longer has the output `b`, which was an output of model 0")
    ]
    without = {", tensor<int32, [1, 4]> n": "", ", b)": ")", "            tensor<int32, [1, 4]> b = sign(x = n)": "//"}
    made = building(spec, "0", **without)
    assert [entry.name for entry in made.description.input] == ["x"]
    assert "the pipeline no longer has the input `n`, which only model 0 used" in [
        each.message for each in building.warnings
    ]
    several = piped(unary("x", "z"), of_text(TWO_OUTPUTS), unary("n", "m"))
    made = building(several, "1", **without)
    assert [entry.name for entry in made.description.input] == ["x", "n"]  # the last model still takes it


def test_a_loss_of_the_pipeline_is_refused_on_request(building: Building) -> None:
    spec = piped(of_text(TWO_OUTPUTS), unary("a", "y"))
    spec.description.output[0].shortDescription = "its sign"
    building.choices = {"no_loss": True}
    with refused("MIL454", "`b` of the pipeline was removed, and had a short description"):
        building(spec, "0", **{"(a, b)": "(a)"})


# ---- what is new


def test_a_new_output_is_one_of_the_pipeline(building: Building) -> None:
    made = building.by(two(), "0", expose("inner"))
    assert [entry.name for entry in made.description.output] == ["y", "inner"]
    assert made.description.output[1] == made.pipeline.models[0].description.output[1]
    assert building.warnings == []
    nested = piped(unary("x", "a"), piped(unary("a", "b", "deep"), unary("b", "c")), unary("c", "y"))
    made = building.by(nested, "1/0", expose("deep"))
    for spec in (made, made.pipeline.models[1]):
        assert [entry.name for entry in spec.description.output][-1] == "deep"
    assert building.warnings == []


def test_a_new_output_is_not_to_come_between_others(building: Building) -> None:
    spec = piped(unary("x", "a", "inner"), unary("a", "inner", "i"), unary("inner", "y", "j"))
    with refused("MIL431", "the pipeline already has a feature `inner`", "model 1 gives it"):
        building.by(spec, "0", expose("inner"))
    with refused("MIL431", "already has a feature `x`", "it is an input"):
        building.by(two(), "0", expose("x"))


def test_a_new_output_is_taken_by_the_model_that_lacks_it(building: Building) -> None:
    spec = piped(unary("x", "a"), binary("a", "inner", "y"))
    del spec.description.input[1]
    made = building.by(spec, "0", expose("inner"))
    assert [entry.name for entry in made.description.output] == ["y"]
    assert building.warnings == []
    wide = piped(unary("x", "a"), piped(of_text(miltext.to_text(binary("a", "b", "y").mlProgram))))
    del wide.description.input[1]
    wide.pipeline.models[1].description.input[1].type.multiArrayType.shape[1] = 8
    wide.pipeline.models[1].description.input[1].name = "inner"
    with refused("MIL456", "model 0 gives `inner` as fp32 [1, 4] now, but model 1 takes fp32 [1, 8]"):
        building.by(wide, "0", expose("inner"))


def test_a_new_input_is_bound_to_the_output_of_its_name(building: Building) -> None:
    made = building(piped(unary("x", "a"), names=("only",)), "0", **MORE)
    assert [entry.name for entry in made.description.input] == ["x", "more"]
    assert [each.message for each in building.warnings] == [
        'the pipeline takes `more`, too, which model 0 "only" takes now'
    ]
    made = building(piped(unary("w", "more"), unary("x", "a")), "1", **MORE)
    assert ([entry.name for entry in made.description.input], building.warnings) == (["w", "x"], [])
    assert [entry.name for entry in made.description.output] == ["more", "a"]
    made = building(piped(unary("more", "w"), unary("x", "a")), "1", **MORE)
    assert ([entry.name for entry in made.description.input], building.warnings) == (["more", "x"], [])
    with refused("MIL431", "already has a feature `more`", "model 1 gives it"):
        building(piped(unary("x", "a"), unary("a", "more")), "0", **MORE)
    other = {key: value.replace("[1, 4]> more", "[1, 1]> more") for key, value in MORE.items()}
    with refused("MIL456", "model 1 takes `more` as fp32 [1, 1] now, but the pipeline takes fp32 [1, 4]"):
        building(piped(unary("more", "w"), unary("x", "a")), "1", **other)
    with refused("MIL456", "model 1 takes `more` as fp32 [1, 1] now, but model 0 gives fp32 [1, 4]"):
        building(piped(unary("w", "more"), unary("x", "a")), "1", **other)
