"""Names of features inside models that are not ML Programs: where they are, and that only they change."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import corpus_files, wire
from support.containers import refused
from support.pipelines import piped, unary

from miltext.containers.opening import open_model
from miltext.pipelines.inner_names import GIVEN, INNER_NAMES, TAKEN, Fields, inner_names
from miltext.pipelines.renaming import rename_features
from miltext.schema.proto import Model
from miltext.schema.proto.kinds import MODEL_KINDS, PIPELINES, PROGRAM

OTHERS = {
    "NeuralNetworkLayer.name",
    "LossLayer.name",
    "CustomLayerParams.className",
    "CustomLayerParams.description",
    "CustomLayerParamValue.stringValue",
    "ParametersEntry.key",
    "MapEntry.key",
    "MapEntry.value",
    "StringVector.vector",
    "KNearestNeighborsClassifier.defaultStringLabel",
    "Imputer.imputedStringValue",
    "Imputer.replaceStringValue",
    "CategoricalMapping.strValue",
    "TextClassifier.language",
    "WordTagger.language",
    "Gazetteer.language",
    "WordEmbedding.language",
}
"""The fields of strings that do not name a feature, by message: labels, languages, names of layers."""


def test_every_kind_is_known_or_known_to_be_opaque() -> None:
    opaque = {"customModel", "linkedModel", "serializedModel"}
    assert {*INNER_NAMES} == {*MODEL_KINDS.values()} - opaque - {PROGRAM, *PIPELINES}


def test_the_table_has_every_name_that_coremltools_describes() -> None:
    pytest.importorskip("coremltools")
    from coremltools.proto import Model_pb2

    kinds = {field.name: field for field in Model_pb2.Model.DESCRIPTOR.oneofs_by_name["Type"].fields}
    for kind, fields in INNER_NAMES.items():
        if kind in kinds:
            check(kinds[kind].message_type, fields, set())
    assert {*INNER_NAMES} - kinds.keys() == set()


def check(message: Any, fields: Fields, done: set[str]) -> None:
    """Each string of a message is in the table or among the others, and the table has nothing else."""
    if message.full_name in done and not fields:
        return
    there = {field.number: field for field in message.fields}
    assert fields.keys() <= there.keys()
    for number, field in there.items():
        role = fields.get(number)
        if field.type == field.TYPE_STRING:
            assert isinstance(role, str) != (f"{message.name}.{field.name}" in OTHERS), field.full_name
        elif field.type == field.TYPE_MESSAGE and field.message_type.full_name not in done:
            check(field.message_type, role or {}, done | {message.full_name})
        else:
            assert not isinstance(role, str)


def as_ours(spec: Any) -> Model:
    return Model.FromString(spec.SerializeToString(deterministic=True))


def as_theirs(spec: Model) -> Any:
    from coremltools.proto import Model_pb2

    return Model_pb2.Model.FromString(spec.SerializeToString())


def described(inputs: list[str], outputs: list[str]) -> Any:
    from coremltools.proto import Model_pb2

    made = Model_pb2.Model(specificationVersion=5)
    for names, side in ((inputs, made.description.input), (outputs, made.description.output)):
        for name in names:
            entry = side.add(name=name)
            entry.type.multiArrayType.shape.extend([1, 4])
            entry.type.multiArrayType.dataType = entry.type.multiArrayType.FLOAT32
    return made


def suppression() -> Any:
    made = described(["boxes", "scores"], ["confidence", "coordinates"])
    inside = made.nonMaximumSuppression
    inside.confidenceInputFeatureName, inside.coordinatesInputFeatureName = "scores", "boxes"
    inside.iouThresholdInputFeatureName, inside.confidenceThresholdInputFeatureName = "iou", "threshold"
    inside.confidenceOutputFeatureName, inside.coordinatesOutputFeatureName = "confidence", "coordinates"
    inside.stringClassLabels.vector.extend(["scores", "boxes", "iou"])
    inside.iouThreshold, inside.pickTop.perClass = 0.7, True
    return made


def network(kind: str = "neuralNetwork") -> Any:
    made = described(["a"], ["y"])
    inside = getattr(made, kind)
    for name, taken, given in (("first", "a", "b"), ("a", "b", "c"), ("last", "c", "y")):
        layer = inside.layers.add(name=name, input=[taken], output=[given])
        layer.activation.ReLU.SetInParent()
    loop = inside.layers.add(name="loop", input=["c"], output=["d"]).loop
    loop.conditionVar = "a"
    loop.bodyNetwork.layers.add(name="inner", input=["a"], output=["c"]).branch.ifBranch.layers.add(input=["a"])
    inside.preprocessing.add(featureName="a")
    inside.updateParams.lossLayers.add(name="a").meanSquaredErrorLossLayer.input = "y"
    if kind == "neuralNetworkClassifier":
        inside.labelProbabilityLayerName = "y"
    return made


def renamed(spec: Model, **names: str) -> Model:
    made = Model.FromString(spec.SerializeToString())
    rename_features([made], names)
    return made


def replaced(message: Any, old: str, new: str, but: tuple[str, ...] = ()) -> Any:
    """The message with every string that is the old name replaced, in whatever field, but for some."""
    for field, value in message.ListFields():
        if field.name in but:
            continue
        if field.type == field.TYPE_MESSAGE:
            several = not hasattr(value, "ListFields")
            for each in (value.values() if hasattr(value, "values") else value) if several else [value]:
                replaced(each, old, new, but)
        elif field.type == field.TYPE_STRING and isinstance(value, str):
            setattr(message, field.name, new if value == old else value)
        elif field.type == field.TYPE_STRING:
            value[:] = [new if each == old else each for each in value]
    return message


@pytest.mark.parametrize("name", ["scores", "boxes", "iou", "confidence", "coordinates", "x"])
def test_non_maximum_suppression(name: str) -> None:
    pytest.importorskip("coremltools")
    given = as_ours(described(["x"], ["boxes", "scores"]))
    given.mlProgram.CopyFrom(unary("x", "boxes", "scores").mlProgram)
    spec = piped(given, as_ours(suppression()))
    if name == "iou":
        spec.description.input.add(name="iou").type.doubleType.SetInParent()
    wanted = replaced(as_theirs(spec), name, "fresh", but=("vector",))
    assert wire(renamed(spec, **{name: "fresh"})) == wanted.SerializeToString(deterministic=True)


def test_threshold_that_only_suppression_knows_is_name_in_use() -> None:
    pytest.importorskip("coremltools")
    spec = piped(unary("x", "boxes"), as_ours(suppression()))
    assert inner_names(spec.pipeline.models[1], TAKEN) == ["scores", "boxes", "iou", "threshold"]
    with refused("MIL431", "already has a feature `iou`", "model 1 takes it"):
        renamed(spec, x="iou")


@pytest.mark.parametrize("kind", ["neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor"])
def test_a_neural_network(kind: str) -> None:
    """coremltools leaves what it has in inner networks, as a condition or in a loss; all else is as it has it."""
    utils = pytest.importorskip("coremltools").utils
    spec = piped(unary("x", "a", "inside"), as_ours(network(kind)))
    for name in ("x", "a", "y"):
        made = as_theirs(renamed(spec, **{name: "fresh"}))
        inside = getattr(made.pipeline.models[1], kind)
        assert inside == getattr(replaced(network(kind), name, "fresh", but=("name",)), kind)
        assert [layer.name for layer in inside.layers] == ["first", "a", "last", "loop"]
        theirs = as_theirs(spec)
        utils.rename_feature(theirs, name, "fresh")
        assert name == "a" or made.description == theirs.description
        assert name == "a" or [*inside.layers][:3] == [*getattr(theirs.pipeline.models[1], kind).layers][:3]
    for taken in ("b", "c", "d"):
        with refused("MIL431", f"model 1 already has a value `{taken}`"):
            renamed(spec, a=taken)


def test_a_feature_vectorizer_and_a_kind_without_names() -> None:
    pytest.importorskip("coremltools")
    vectorizer = described(["a", "b"], ["v"])
    for name in ("a", "b"):
        vectorizer.featureVectorizer.inputList.add(inputColumn=name, inputDimensions=4)
    scaler = described(["v"], ["y"])
    scaler.scaler.shiftValue.append(0.5)
    spec = piped(unary("x", "a"), as_ours(vectorizer), as_ours(scaler))
    for name in ("a", "b", "v", "y"):
        made = as_theirs(renamed(spec, **{name: "fresh"}))
        columns = [each.inputColumn for each in made.pipeline.models[1].featureVectorizer.inputList]
        assert columns == [{name: "fresh"}.get(each, each) for each in ("a", "b")]
        assert made.pipeline.models[2].scaler == scaler.scaler
        ends = [made.pipeline.models[1].description.output[0].name, made.pipeline.models[2].description.input[0].name]
        assert ends == ["fresh" if name == "v" else "v"] * 2


def test_damaged_bytes_are_refused() -> None:
    damaged = Model.FromString(bytes.fromhex("a21f020a50"))  # a layer that is longer than the network
    damaged.description.CopyFrom(unary("a", "y").description)
    with refused("MIL253", "neuralNetwork"):
        renamed(piped(unary("x", "a"), damaged), a="z")
    not_text = Model.FromString(bytes.fromhex("922604c20c01ff"))  # a name that is not UTF-8
    not_text.description.CopyFrom(unary("a", "y").description)
    with refused("MIL253", "nonMaximumSuppression"):
        renamed(piped(unary("x", "a"), not_text), x="z")


@pytest.mark.parametrize("path", corpus_files("pipelines/*.mlpackage"))
def test_the_pipeline_of_the_corpus(path: Any) -> None:
    """Its suppression takes two thresholds that its description does not have, and which its app sets."""
    spec = open_model(path).spec
    assert spec is not None
    made = renamed(spec, iouThreshold="iou", image="photo", var_845="boxes", coordinates="places")
    assert [entry.name for entry in made.description.input] == ["photo", "iou", "confidenceThreshold"]
    assert [entry.name for entry in made.description.output] == ["confidence", "places"]
    suppressing = made.pipeline.models[1]
    assert inner_names(suppressing, TAKEN) == ["var_841_1", "boxes", "iou", "confidenceThreshold"]
    assert inner_names(suppressing, GIVEN) == ["confidence", "places"]
    back = renamed(made, iou="iouThreshold", photo="image", boxes="var_845", places="coordinates")
    assert wire(back) == wire(spec)
