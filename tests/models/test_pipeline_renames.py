"""Features of pipelines renamed: through all models, as coremltools' `rename_feature` does where it does it right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import wire
from support.containers import refused
from support.model_checks import assert_coremltools_opens, weight_files
from support.pipelines import UNARY, binary, of_text, piped, unary
from support.real_packages import package

import miltext
from miltext.building import editing
from miltext.containers.opening import open_model
from miltext.drafting.building import build
from miltext.pipelines.connections import connections
from miltext.pipelines.faults import faults
from miltext.pipelines.renaming import rename_features, rename_values
from miltext.schema.proto import Model, Pipeline


def through() -> Model:
    made = piped(unary("x", "y"))
    made.description.output.add().CopyFrom(made.description.input[0])
    return made


PIPELINES: dict[str, Callable[[], Model]] = {
    "two": lambda: piped(unary("x", "middle"), unary("middle", "y")),
    "three": lambda: piped(unary("x", "a"), unary("a", "b"), unary("b", "y"), names=("first", "second", "third")),
    "input of several": lambda: piped(unary("x", "a"), binary("x", "a", "y")),
    "output of the first": lambda: piped(unary("x", "y"), unary("x", "z")),
    "straight through": through,
    "one model twice": lambda: piped(unary("x", "a"), unary("x", "a"), unary("a", "y")),
    "given twice": lambda: piped(unary("x", "a"), unary("a", "x"), unary("x", "y")),
    "nested": lambda: piped(unary("x", "a"), piped(unary("a", "b"), unary("b", "c")), unary("c", "y")),
    "deeply nested": lambda: piped(piped(piped(unary("x", "a"), unary("a", "y")), unary("y", "z")), unary("z", "w")),
    "classifier": lambda: piped(unary("x", "y"), kind="pipelineClassifier", predictedFeatureName="y"),
    "regressor": lambda: piped(unary("x", "a"), unary("a", "y"), kind="pipelineRegressor", predictedFeatureName="y"),
}


def names(spec: Model) -> set[str]:
    return {each.name for each in connections(spec)}


def shape(spec: Model) -> list[tuple[int | None, list[int]]]:
    """Who gives what to whom, without names."""
    return [(each.giver, each.takers) for each in connections(spec)]


def renamed(spec: Model, **changes: str) -> Model:
    made = Model.FromString(spec.SerializeToString())
    rename_features([made], changes)
    assert len([*faults(made)]) == len([*faults(spec)])
    return made


FEATURES = [(kind, name) for kind, make in PIPELINES.items() for name in sorted(names(make()))]


@pytest.mark.parametrize(("kind", "name"), FEATURES)
def test_a_rename_keeps_all_connections(kind: str, name: str) -> None:
    spec = PIPELINES[kind]()
    made = renamed(spec, **{name: "fresh"})
    assert names(made) == names(spec) - {name} | {"fresh"}
    assert shape(made) == shape(spec)
    assert wire(renamed(made, fresh=name)) == wire(spec)


def oracle(spec: Model, old: str, new: str) -> bytes:
    """What coremltools makes, with the operations' names, which it leaves, changed along."""
    utils = pytest.importorskip("coremltools").utils
    from coremltools.proto import Model_pb2

    made = Model_pb2.Model.FromString(spec.SerializeToString())
    utils.rename_feature(made, old, new)
    for program in programs_in(made):
        for function in program.functions.values():
            for block in function.block_specializations.values():
                for operation in block.operations:
                    strings = operation.attributes["name"].immediateValue.tensor.strings.values
                    if strings[0] == old and operation.outputs[0].name == new:
                        strings[0] = new
    return bytes(made.SerializeToString(deterministic=True))


def programs_in(spec: Any) -> list[Any]:
    kind = spec.WhichOneof("Type")
    if kind == "mlProgram":
        return [spec.mlProgram]
    pipeline = spec.pipeline if kind == "pipeline" else getattr(spec, kind).pipeline
    return [each for model in pipeline.models for each in programs_in(model)]


OUTER_FEATURES = [
    (kind, name)
    for kind, name in FEATURES
    if name in {entry.name for side in ("input", "output") for entry in getattr(PIPELINES[kind]().description, side)}
]


@pytest.mark.parametrize(("kind", "name"), OUTER_FEATURES)
def test_an_outer_feature_is_renamed_as_coremltools_does(kind: str, name: str) -> None:
    spec = PIPELINES[kind]()
    assert wire(renamed(spec, **{name: "fresh"})) == oracle(spec, name, "fresh")


# ---- names that are in use, and names that are not there


def test_a_name_that_is_in_use_is_refused() -> None:
    three = PIPELINES["three"]()
    with refused("MIL431", "the pipeline already has a feature `b`", 'model 1 "second" gives it'):
        renamed(three, x="b")
    with refused("MIL431", "already has a feature `x`", "it is an input"):
        renamed(three, a="x")
    with refused("MIL431", 'the function `main` of model 1 "second" already has a value `inner`'):
        renamed(three, b="inner")
    with refused("MIL431", "`x` is its name already"):
        renamed(three, x="x")
    with refused("MIL431", "the new name is empty"):
        renamed(three, x="")
    with refused("MIL431", "already has a feature `z`"):
        renamed(three, x="z", y="z")
    with refused("MIL431", "model 1 already has a feature `b`", "model 1/0 gives it"):
        renamed(PIPELINES["nested"](), a="b")
    unfed = piped(unary("x", "a"), unary("a", "y"))
    del unfed.description.input[:]
    with refused("MIL431", "already has a feature `x`", "model 0 takes it"):
        renamed(unfed, a="x")


def test_names_are_exchanged() -> None:
    spec = PIPELINES["three"]()
    made = renamed(spec, a="b", b="a", x="y", y="x")
    assert shape(made) == shape(spec)
    assert [each.name for each in connections(made)] == ["y", "b", "a", "x"]
    assert wire(renamed(made, a="b", b="a", x="y", y="x")) == wire(spec)


def test_a_name_that_is_not_there_is_refused() -> None:
    three, inside = PIPELINES["three"](), 'it is inside model 0 "first": choose this model in the pipeline'
    with refused("MIL430", "unknown feature `inner`", inside, "it is inside model 2"):
        renamed(three, inner="z")
    with refused("MIL430", "unknown feature `bb`"):
        renamed(three, bb="z")
    with refused("MIL430", "unknown feature ``"):
        renamed(three, **{"": "z"})
    with refused("MIL430", "unknown feature `b`", "it is inside model 1: choose this model in the pipeline"):
        renamed(PIPELINES["nested"](), b="z")
    with refused("MIL430", "unknown value `z`", "did you mean"):
        renamed(unary("x", "y", "zz"), z="w")
    with refused("MIL430", "unknown feature `x`"):
        renamed(Model(pipeline=Pipeline()), x="y")


def test_any_value_of_an_ml_program_is_renamed() -> None:
    assert wire(renamed(unary("x", "y"), x="image", inner="hidden")) == wire(unary("image", "y", "hidden"))
    with refused("MIL431", "the function `main` of this model already has a value `y`"):
        renamed(unary("x", "y"), inner="y")


def test_a_model_that_other_files_name_is_refused() -> None:
    linked = Model.FromString(bytes.fromhex("e22200"))  # field 556, and nothing in it
    linked.description.CopyFrom(unary("a", "b").description)
    with refused("MIL458", "model 1 is a `linkedModel`, in which `a` cannot be renamed"):
        renamed(piped(unary("x", "a"), linked), a="z")


# ---- what may be in a model


def test_inner_blocks_and_names_of_operations_are_renamed_along() -> None:
    text = """program(1.3)
{
    func main<ios16>(tensor<fp32, [1]> x, tensor<int32, [1]> n) [FlexibleShapeInformation = tuple<string>(("x"))] {
            tensor<int32, [1]> last, tensor<fp32, [1]> y = while_loop(loop_vars = (n, x))[name = string("loop")]
                (tensor<int32, [1]> i, tensor<fp32, [1]> z) {
                    tensor<bool, [1]> less = less(x = i, y = n)[name = string("x")];
                } -> (less)
                (tensor<int32, [1]> i, tensor<fp32, [1]> z) {
                    tensor<int32, [1]> next = add(x = i, y = n);
                    tensor<fp32, [1]> sum = add(x = z, y = x)[name = string("sum")];
                } -> (next, sum);
        } -> (y);
}
"""
    for old, new in (("x", "image"), ("n", "count"), ("y", "result"), ("sum", "total"), ("z", "carry")):
        program = miltext.parse(text)
        rename_values(program, {old: new}, "it")
        assert program == miltext.parse(editing.rename(text, old, new))


def test_all_functions_are_renamed_and_default_one_is_connected() -> None:
    stage = of_text(UNARY.format(x="x", y="a", inner="i"))
    stage.mlProgram.functions["other"].CopyFrom(unary("x", "b", "j").mlProgram.functions["main"])
    for name, given in (("other", "b"), ("main", "a")):
        function = stage.description.functions.add(name=name, predictedFeatureName=given)
        function.input.add().CopyFrom(stage.description.input[0])
        function.output.add(name=given)
    stage.description.ClearField("input")
    stage.description.ClearField("output")
    stage.description.defaultFunctionName = "main"
    spec = piped(unary("w", "x"), stage, unary("a", "y"))
    assert [(each.name, each.giver, each.takers) for each in connections(spec)][1:3] == [("x", 0, [1]), ("a", 1, [2])]
    made = renamed(spec, x="z", a="c").pipeline.models[1]
    assert [[entry.name for entry in each.input] for each in made.description.functions] == [["z"], ["z"]]
    assert [each.predictedFeatureName for each in made.description.functions] == ["b", "c"]
    assert {each.inputs[0].name for each in made.mlProgram.functions.values()} == {"z"}
    with refused("MIL430", "unknown feature `b`", "inside model 1"):  # which no pipeline asks for
        renamed(spec, b="z")


def test_states_training_inputs_and_predictions_are_renamed() -> None:
    spec = PIPELINES["two"]()
    spec.description.state.add(name="memory")
    for model in (spec, spec.pipeline.models[1]):
        model.description.trainingInput.add(name="target")
        model.description.predictedFeatureName = model.description.predictedProbabilitiesName = "y"
    spec.pipeline.models[1].description.state.add(name="memory")
    made = renamed(spec, memory="cache", target="label", y="class")
    for model in (made, made.pipeline.models[1]):
        described = model.description
        assert [described.state[0].name, described.trainingInput[0].name] == ["cache", "label"]
        assert [described.predictedFeatureName, described.predictedProbabilitiesName] == ["class", "class"]
    with refused("MIL431", "already has a feature `memory`"):
        renamed(spec, x="memory")
    with refused("MIL431", "already has a feature `target`"):
        renamed(spec, x="target")


def test_entries_of_one_name_are_renamed_together() -> None:
    spec = PIPELINES["two"]()
    spec.description.input.add().CopyFrom(spec.description.input[0])
    assert [entry.name for entry in renamed(spec, x="z").description.input] == ["z", "z"]


def test_an_undescribed_value_is_not_lost() -> None:
    """Unknown fields, of the entry that is renamed too, and all other bytes of the models stay."""
    spec = PIPELINES["two"]()
    odd = bytes.fromhex("ca3e03616263")  # field 1001, "abc"
    spec.description.input[0].MergeFromString(odd)
    spec.pipeline.models[0].MergeFromString(odd)
    data = renamed(spec, x="image").SerializeToString(deterministic=True)
    assert data.count(odd) == 2
    assert wire(renamed(Model.FromString(data), image="x")) == wire(spec)


def test_a_pipeline_of_coremltools_with_weights(tmp_path: Path) -> None:
    coremltools = pytest.importorskip("coremltools")
    build(open_model(package("pipeline")), tmp_path / "New.mlpackage", renames={"x": "image", "y": "label"})
    spec = coremltools.utils.load_spec(str(package("pipeline")))
    for old, new in (("x", "image"), ("y", "label")):
        coremltools.utils.rename_feature(spec, old, new)
    made = assert_coremltools_opens(tmp_path / "New.mlpackage").get_spec()
    assert made.description == spec.description
    assert [model.description for model in made.pipeline.models] == [
        model.description for model in spec.pipeline.models
    ]
    assert weight_files(tmp_path / "New.mlpackage") == weight_files(package("pipeline"))


def test_models_without_description_connect_by_their_programs() -> None:
    spec = PIPELINES["two"]()
    expected = PIPELINES["two"]()
    for each in (spec, expected):
        for model in each.pipeline.models:
            model.ClearField("description")
    rename_values(expected.pipeline.models[0].mlProgram, {"x": "image", "middle": "hidden"}, "it")
    rename_values(expected.pipeline.models[1].mlProgram, {"middle": "hidden"}, "it")
    expected.description.input[0].name = "image"
    assert shape(spec) == shape(PIPELINES["two"]())
    assert wire(renamed(spec, x="image", middle="hidden")) == wire(expected)
    spec.pipeline.models[0].mlProgram.ClearField("functions")
    assert wire(renamed(renamed(spec, middle="hidden"), hidden="middle")) == wire(spec)
