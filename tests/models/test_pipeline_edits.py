"""A model of a pipeline edited: what it takes and gives stays connected, or the edit is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import wire
from support.containers import refused
from support.pipelines import binary, of_text, piped, unary, write_compiled

import miltext
from miltext.diagnostics import Diagnostic
from miltext.drafting.building import build
from miltext.models.building import editing
from miltext.models.opening import open_model
from miltext.models.pipelines.faults import faults
from miltext.models.programs import TextModel
from miltext.schema.proto import FeatureDescription, ImageFeatureType, Model

Build = Callable[..., Model]


class Building:
    """Builds a pipeline with the text of one of its models changed: each old piece of it to a new one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warnings: list[Diagnostic] = []
        self.choices: dict[str, Any] = {}

    def __call__(self, spec: Model, path: str, **changes: str) -> Model:
        return self.by(spec, path, lambda text: replaced(text, changes))

    def by(self, spec: Model, path: str, edit: Callable[[str], str]) -> Model:
        (self.folder / "old.mlmodel").write_bytes(spec.SerializeToString())
        original = open_model(self.folder / "old.mlmodel")
        text = edit(miltext.to_text(original.select(path).program))
        new, source = self.folder / "new.mlmodel", TextModel(text.encode(), "new.mil", None)
        self.warnings = build(source, new, original=original, model=path, force=True, **self.choices)
        made = open_model(new).spec
        assert made is not None
        assert "check" in self.choices or {*faults(made)} <= {*faults(spec)}
        return made


def replaced(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text, text
        text = text.replace(old, new)
    return text


@pytest.fixture
def building(tmp_path: Path) -> Building:
    return Building(tmp_path)


def rename(old: str, new: str) -> Callable[[str], str]:
    return lambda text: editing.rename(text, old, new)


def expose(*names: str) -> Callable[[str], str]:
    return lambda text: editing.expose(text, names)


def same(one: Model, other: Model) -> bool:
    return wire(one) == wire(other)


def two(x: str = "x", middle: str = "middle", y: str = "y") -> Model:
    return piped(unary(x, middle), unary(middle, y), names=("one", "two"))


# ---- names


def test_a_rename_is_carried_to_the_other_models_and_the_pipeline(building: Building) -> None:
    assert same(building.by(two(), "0", rename("x", "image")), two(x="image"))
    assert same(building.by(two(), "0", rename("middle", "hidden")), two(middle="hidden"))
    assert same(building.by(two(), "1", rename("middle", "hidden")), two(middle="hidden"))
    assert same(building.by(two(), "two", rename("y", "result")), two(y="result"))
    assert building.warnings == []


def test_a_rename_of_an_inner_value_stays_inside(building: Building) -> None:
    made = building.by(two(), "0", rename("inner", "kept"))
    assert same(made, piped(unary("x", "middle", "kept"), unary("middle", "y"), names=("one", "two")))


def test_a_rename_goes_up_and_down_through_nested_pipelines(building: Building) -> None:
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
    with refused("MIL457", "`a` is an input of model 1 that it gives as an output, and cannot have two names"):
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


def array(entry: FeatureDescription) -> list[int]:
    return list(entry.type.multiArrayType.shape)


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


def test_a_type_that_the_pipeline_told_otherwise_is_told(building: Building) -> None:
    spec = piped(unary("x", "y"), names=("only",))
    spec.description.input[0].type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=1, upperBound=4)
    made = building(spec, "0", **WIDER)
    assert array(made.description.input[0]) == [1, 8]
    (told,) = building.warnings
    assert told.code == "MIL450"
    assert 'is that of model 0 "only" now, and was fp32 [1, 4] in ranges' in told.message


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
    with refused("MIL457", 'model 0 "one" no longer gives `a`, which model 1 "two" takes'):
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
    with refused("MIL457", "model 1 no longer gives `a`, which model 2 takes"):  # not that of the first, in silence
        building(given_before, "1", **{"(a, b)": "(b)"})


def test_what_is_gone_is_gone_from_the_pipeline_and_told(building: Building) -> None:
    spec = piped(of_text(TWO_OUTPUTS), unary("a", "y"), kind="pipelineClassifier", predictedFeatureName="b")
    made = building(spec, "0", **{"(a, b)": "(a)"})
    assert [entry.name for entry in made.description.output] == ["y"]
    assert made.description.predictedFeatureName == ""
    assert [(each.code, each.message) for each in building.warnings] == [
        ("MIL453", "the pipeline no longer gives `b`, which model 0 gave")
    ]
    without = {", tensor<int32, [1, 4]> n": "", ", b)": ")", "            tensor<int32, [1, 4]> b = sign(x = n)": "//"}
    made = building(spec, "0", **without)
    assert [entry.name for entry in made.description.input] == ["x"]
    assert "the pipeline no longer takes `n`, which model 0 alone took" in [each.message for each in building.warnings]
    several = piped(unary("x", "z"), of_text(TWO_OUTPUTS), unary("n", "m"))
    made = building(several, "1", **without)
    assert [entry.name for entry in made.description.input] == ["x", "n"]  # the last model still takes it


def test_a_loss_of_the_pipeline_is_refused_where_it_is_asked(building: Building) -> None:
    spec = piped(of_text(TWO_OUTPUTS), unary("a", "y"))
    spec.description.output[0].shortDescription = "its sign"
    building.choices = {"no_loss": True}
    with refused("MIL454", "`b` of the pipeline is gone, and had a short description"):
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


MORE = {
    "x) {": "x, tensor<fp32, [1, 4]> more) {",
    "tensor<fp32, [1, 4]> inner = relu(x = x)": "tensor<fp32, [1, 4]> inner = add(x = x, y = more)",
}


def test_a_new_input_is_given_by_whoever_gives_its_name(building: Building) -> None:
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


# ---- what pipelines are read from, and what stands in them


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
        expected.pipeline.ClearField("names")  # which stand in a file of their own
        assert same(spec, expected)


def test_an_output_of_a_function_that_is_not_the_default_stays_inside(building: Building) -> None:
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


def test_a_classifier_follows_what_it_predicts(building: Building) -> None:
    for kind in ("pipelineClassifier", "pipelineRegressor"):
        spec = piped(unary("x", "a"), unary("a", "y"), kind=kind, predictedFeatureName="y")
        spec.description.predictedProbabilitiesName = "y"
        pipeline = getattr(spec, kind).pipeline
        pipeline.models[1].description.predictedFeatureName = "y"
        made = building.by(spec, "1", rename("y", "label"))
        for description in (made.description, getattr(made, kind).pipeline.models[1].description):
            assert (description.predictedFeatureName, description.output[0].name) == ("label", "label")
        assert made.description.predictedProbabilitiesName == "label"


def test_an_input_that_goes_straight_through_follows_at_both_ends(building: Building) -> None:
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


def test_what_an_edit_does_not_touch_keeps_its_bytes(building: Building) -> None:
    spec = piped(unary("x", "a"), unary("a", "b"), unary("b", "y"))
    spec.pipeline.models[1].MergeFromString(bytes.fromhex("ca3e03616263"))
    spec.description.output[0].shortDescription = "how likely"
    made = building.by(spec, "0", rename("x", "image"))
    for old, new in zip([*spec.pipeline.models][1:], [*made.pipeline.models][1:], strict=True):
        assert same(old, new)
    assert made.description.output == spec.description.output


def test_a_pipeline_that_describes_nothing_goes_on_so(building: Building) -> None:
    spec = two()
    spec.ClearField("description")
    for edit in (rename("x", "image"), expose("inner")):
        made = building.by(spec, "0", edit)
        assert (made.HasField("description"), building.warnings) == (False, [])
    made = building(spec, "0", **MORE)
    assert (made.HasField("description"), building.warnings) == (False, [])
