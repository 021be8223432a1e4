"""`diff --breaking`: what breaks the callers of a model, and what does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from conftest import ROOT

import miltext
from miltext.containers.programs import TextModel
from miltext.containers.spec import SpecModel
from miltext.descriptions.program_descriptions import describe
from miltext.diffing.breaking import RULES, breaking
from miltext.files.other_kinds import CLASSES, LABELS
from miltext.schema.proto import (
    ArrayFeatureType,
    FeatureDescription,
    FeatureType,
    FunctionDescription,
    ImageFeatureType,
    Int64FeatureType,
    Model,
)
from miltext.schema.proto.kinds import MODEL_KINDS
from miltext.schema.wire import number_tag, sized, tag, varint, varints

PROGRAM = """\
program(1.3)
{
    func main<ios17>(tensor<fp32, [1, 3, 8, 8]> image, tensor<fp32, [1, 4]> scale) {
            tensor<fp32, [1, 3, 8, 8]> y = relu(x = image)[name = string("y")];
            tensor<fp32, [1, 4]> z = relu(x = scale)[name = string("z")];
        } -> (y, z);
}
"""

Edit = Callable[[Any], object]


def model(text: str = PROGRAM) -> Any:
    """A Model of the program, and a description that goes with it."""
    program = miltext.parse(text)
    made = Model(specificationVersion=8, description=describe(program, None), mlProgram=program)
    made.description.metadata.userDefined["threshold"] = "0.5"
    return made


def found(edit: Edit, before: Edit = lambda _: None) -> list[tuple[str, str, str | None, str | None]]:
    """What an edit of a model breaks, of one that `before` makes."""
    models = [model(), model()]
    for each in models:
        before(each)
    edit(models[1])
    difference = breaking(*[SpecModel("mlmodel", "m", None, None, each) for each in models])
    assert difference.same is not bool(difference.changes)
    return [(each.kind, each.name, each.old, each.new) for each in difference.changes]


def entry(made: Any, name: str) -> Any:
    sides = made.description.input, made.description.output, made.description.state
    return next(each for side in sides for each in side if each.name == name)


def array(*shape: int, optional: bool = False, dtype: int = ArrayFeatureType.FLOAT32) -> FeatureType:
    return FeatureType(multiArrayType=ArrayFeatureType(shape=shape, dataType=dtype), isOptional=optional)


def ranged(*ranges: tuple[int, int]) -> FeatureType:
    kind = array(*[max(least, 1) for least, _ in ranges])
    for least, most in ranges:
        kind.multiArrayType.shapeRange.sizeRanges.add(lowerBound=least, upperBound=most)
    return kind


def listed(*shapes: list[int]) -> FeatureType:
    kind = array(*shapes[0])
    for shape in shapes:
        kind.multiArrayType.enumeratedShapes.shapes.add(shape=shape)
    return kind


def picture(color: int = ImageFeatureType.RGB, size: int = 8) -> FeatureType:
    return FeatureType(imageType=ImageFeatureType(colorSpace=color, width=size, height=size))


def numbers(least: int, most: int, optional: bool = False) -> FeatureType:
    kind = FeatureType(isOptional=optional)
    kind.sequenceType.int64Type.SetInParent()
    kind.sequenceType.sizeRange.lowerBound, kind.sequenceType.sizeRange.upperBound = least, most
    return kind


def words(least: int, most: int, optional: bool = False) -> FeatureType:
    kind = numbers(least, most, optional)
    kind.sequenceType.stringType.SetInParent()
    return kind


def typed(name: str, kind: FeatureType) -> Edit:
    return lambda made: entry(made, name).type.CopyFrom(kind)


def without(side: str, name: str) -> Edit:
    def edit(made: Any) -> None:
        entries = getattr(made.description, side)
        entries.remove(next(each for each in entries if each.name == name))

    return edit


def added(side: str, name: str, kind: FeatureType) -> Edit:
    return lambda made: getattr(made.description, side).append(FeatureDescription(name=name, type=kind))


def opset(made: Any) -> None:
    function = made.mlProgram.functions["main"]
    function.block_specializations["CoreML8"].CopyFrom(function.block_specializations[function.opset])
    del function.block_specializations[function.opset]
    function.opset = "CoreML8"


KEPT = FeatureType()
KEPT.stateType.arrayType.CopyFrom(array(1, 4).multiArrayType)
WIDER = FeatureType()
WIDER.stateType.arrayType.CopyFrom(array(1, 5).multiArrayType)
nothing: Edit = lambda _: None  # noqa: E731

BREAKING: list[tuple[str, Edit, Edit, tuple[str, str, str | None, str | None]]] = [
    ("version", nothing, lambda made: setattr(made, "specificationVersion", 9), ("specification-raised", "", "8", "9")),
    ("opset", nothing, opset, ("opset-raised", "", "ios17", "ios18")),
    ("input gone", nothing, without("input", "scale"), ("input-removed", "scale", "fp32 [1,4]", None)),
    ("input new", nothing, added("input", "k", array(2)), ("input-added", "k", None, "fp32 [2]")),
    (
        "input needed",
        typed("scale", array(1, 4, optional=True)),
        typed("scale", array(1, 4)),
        ("input-needed", "scale", "fp32 [1,4], optional", "fp32 [1,4]"),
    ),
    (
        "input of another type",
        nothing,
        typed("scale", array(1, 4, dtype=ArrayFeatureType.INT32)),
        ("input-type", "scale", "fp32 [1,4]", "int32 [1,4]"),
    ),
    (
        "an array for an image",
        nothing,
        typed("image", picture()),
        ("input-type", "image", "fp32 [1,3,8,8]", "an image, RGB [1,3,8,8]"),
    ),
    (
        "another colour",
        typed("image", picture()),
        typed("image", picture(ImageFeatureType.BGR)),
        ("input-type", "image", "an image, RGB [1,3,8,8]", "an image, BGR [1,3,8,8]"),
    ),
    (
        "another size of an image",
        typed("image", picture()),
        typed("image", picture(size=9)),
        ("input-shape", "image", "an image, RGB [1,3,8,8]", "an image, RGB [1,3,9,9]"),
    ),
    (
        "narrower range",
        typed("scale", ranged((1, 1), (1, -1))),
        typed("scale", ranged((1, 1), (1, 64))),
        ("input-shape", "scale", "fp32 [1,?]", "fp32 [1,1..64]"),
    ),
    (
        "fewer shapes",
        typed("scale", listed([1, 4], [1, 8])),
        typed("scale", listed([1, 4], [1, 9])),
        ("input-shape", "scale", "fp32 [1,4] or [1,8]", "fp32 [1,4] or [1,9]"),
    ),
    ("output gone", nothing, without("output", "z"), ("output-removed", "z", "fp32 [1,4]", None)),
    (
        "output of another type",
        nothing,
        typed("z", array(1, 4, dtype=ArrayFeatureType.FLOAT16)),
        ("output-type", "z", "fp32 [1,4]", "fp16 [1,4]"),
    ),
    (
        "more shapes of an output",
        nothing,
        typed("z", ranged((1, 1), (1, 4))),
        ("output-shape", "z", "fp32 [1,4]", "fp32 [1,1..4]"),
    ),
    ("state gone", added("state", "s", KEPT), without("state", "s"), ("state-removed", "s", "fp32 [1,4]", None)),
    ("state new", nothing, added("state", "s", KEPT), ("state-added", "s", None, "fp32 [1,4]")),
    (
        "state of another shape",
        added("state", "s", KEPT),
        typed("s", WIDER),
        ("state-type", "s", "fp32 [1,4]", "fp32 [1,5]"),
    ),
    (
        "prediction",
        lambda made: setattr(made.description, "predictedFeatureName", "y"),
        lambda made: setattr(made.description, "predictedFeatureName", "z"),
        ("predicted-feature", "", "y", "z"),
    ),
    (
        "probabilities",
        lambda made: setattr(made.description, "predictedProbabilitiesName", "y"),
        lambda made: setattr(made.description, "predictedProbabilitiesName", ""),
        ("predicted-probabilities", "", "y", None),
    ),
    (
        "elements of a sequence",
        added("input", "s", words(1, 8, optional=True)),
        typed("s", numbers(1, 8, optional=True)),
        (
            "input-type",
            "s",
            "a sequence of strings [1..8], optional",
            "a sequence of integers [1..8], optional",
        ),
    ),
    (
        "length of a sequence",
        added("input", "s", numbers(1, -1)),
        typed("s", numbers(1, 8)),
        ("input-shape", "s", "a sequence of integers [?]", "a sequence of integers [1..8]"),
    ),
    (
        "training input",
        lambda made: setattr(made, "isUpdatable", True),
        added("trainingInput", "label", array(1)),
        ("input-added", "trainingInput.label", None, "fp32 [1]"),
    ),
    (
        "metadata",
        nothing,
        lambda made: made.description.metadata.userDefined.clear(),
        ("metadata-removed", '"threshold"', '"0.5"', None),
    ),
    (
        "updates",
        lambda made: setattr(made, "isUpdatable", True),
        lambda made: setattr(made, "isUpdatable", False),
        ("update-removed", "", "updatable", None),
    ),
]


@pytest.mark.parametrize(
    ("before", "edit", "told"), [case[1:] for case in BREAKING], ids=[case[0] for case in BREAKING]
)
def test_breaks(before: Edit, edit: Edit, told: tuple[str, str, str | None, str | None]) -> None:
    assert found(edit, before) == [told]


HARMLESS: dict[str, tuple[Edit, Edit]] = {
    "nothing": (nothing, nothing),
    "an older system": (nothing, lambda made: setattr(made, "specificationVersion", 7)),
    "an optional input": (nothing, added("input", "k", array(2, optional=True))),
    "an input that may be left out": (nothing, typed("scale", array(1, 4, optional=True))),
    "a wider range": (typed("scale", ranged((1, 1), (1, 8))), typed("scale", ranged((1, 1), (1, -1)))),
    "a range around shapes": (typed("scale", listed([1, 4], [1, 8])), typed("scale", ranged((1, 1), (2, 8)))),
    "an output": (nothing, added("output", "k", array(2))),
    "a narrower output": (typed("z", ranged((1, 1), (1, 8))), typed("z", array(1, 4))),
    "an output without its shape": (nothing, typed("z", array())),
    "another entry": (nothing, lambda made: made.description.metadata.userDefined.update({"threshold": "1", "n": "2"})),
    "another text": (nothing, lambda made: setattr(entry(made, "z"), "shortDescription", "what it gives")),
    "a longer sequence": (added("input", "s", numbers(1, 8)), typed("s", numbers(1, -1))),
    "a training input of a model that is not updatable": (nothing, added("trainingInput", "label", array(1))),
    "another order": (nothing, lambda made: made.description.input.reverse()),
}


@pytest.mark.parametrize(("before", "edit"), HARMLESS.values(), ids=HARMLESS)
def test_does_not_break(before: Edit, edit: Edit) -> None:
    assert found(edit, before) == []


def several(default: str, *names: str) -> Edit:
    """Have a model several functions, all of which are the one that it has."""

    def edit(made: Any) -> None:
        description, program = made.description, made.mlProgram
        sides = {side: list(getattr(description, side)) for side in ("input", "output")} if description.input else {}
        sides = sides or {side: list(getattr(description.functions[0], side)) for side in ("input", "output")}
        function = program.functions[next(iter(program.functions))]
        kept = type(function).FromString(function.SerializeToString())
        for field in ("input", "output", "functions"):
            description.ClearField(field)
        program.functions.clear()
        for name in names:
            program.functions[name].CopyFrom(kept)
            described = FunctionDescription(name=name)
            described.input.extend(sides["input"])
            described.output.extend(sides["output"])
            description.functions.append(described)
        description.defaultFunctionName = default

    return edit


def test_functions() -> None:
    assert found(several("main", "main", "other")) == []
    gone = ("function-removed", "other", "(image: fp32 [1,3,8,8], scale: fp32 [1,4])", None)
    assert found(several("main", "main"), several("main", "main", "other")) == [gone]
    assert found(several("b", "a", "b"), several("a", "a", "b")) == [("default-function", "", "a", "b")]

    def narrow(made: Any) -> None:
        made.description.functions[1].input[1].type.CopyFrom(array(1, 5))

    assert found(narrow, several("a", "a", "b")) == [("input-shape", "b.scale", "fp32 [1,4]", "fp32 [1,5]")]


def test_the_labels_of_a_classifier() -> None:
    def labelled(*labels: str) -> SpecModel:
        words = ", ".join(f'"{label}"' for label in labels)
        text = f"""\
program(1.3)
{{
    func main<ios17>(tensor<fp32, [{len(labels)}]> x) {{
            tensor<string, [{len(labels)}]> names = const()[name = string("names"), val = tensor<string, [{len(labels)}]>([{words}])];
            string label, dict<string, fp32> label_probs = classify(classes = names, probabilities = x)[name = string("label")];
        }} -> (label, label_probs);
}}
"""  # noqa: E501
        return SpecModel("mlmodel", "m", None, None, Model(specificationVersion=8, mlProgram=miltext.parse(text)))

    def told(*changes: SpecModel) -> list[tuple[str, str | None]]:
        return [(each.kind, each.old) for each in breaking(*changes).changes if each.kind.startswith("label")]

    assert told(labelled("cat", "dog"), labelled("dog", "cat")) == []
    assert told(labelled("cat", "dog"), labelled("dog", "cow", "cat")) == []
    assert told(labelled("cat", "dog"), labelled("dog", "Cat")) == [("label-removed", '"cat"')]
    many = [f"l{index}" for index in range(9)]
    assert told(labelled(*many), labelled("l0")) == [("label-removed", '"l1", "l2", "l3", "l4", "l5" and 3 more')]


def other_kind(kind: str, *fields: tuple[tuple[int, ...], bytes | int]) -> SpecModel:
    """A model of a kind that the schema does not declare, with what its fields at some paths hold."""
    inner = b""
    for path, held in fields:
        field = number_tag(path[-1]) + varint(held) if isinstance(held, int) else sized(tag(path[-1]), held)
        for number in reversed(path[:-1]):
            field = sized(tag(number), field)
        inner += field
    numbers_of = {name: number for number, name in MODEL_KINDS.items()}
    made = Model.FromString(sized(tag(numbers_of[kind]), inner))
    made.specificationVersion = 4
    return SpecModel("mlmodel", "m", None, None, made)


def labels_told(*models: SpecModel) -> list[tuple[str, str | None]]:
    return [(each.name, each.old) for each in breaking(*models).changes if each.kind == "label-removed"]


def in_pipeline(*models: SpecModel) -> SpecModel:
    made = Model(specificationVersion=4)
    made.pipelineClassifier.pipeline.models.extend([each.spec for each in models])
    return SpecModel("mlmodel", "m", None, None, made)


@pytest.mark.parametrize("kind", LABELS)
def test_the_labels_of_all_kinds_of_classifiers(kind: str) -> None:
    fields = {element: (number, 1) for number, element in LABELS[kind].items()}
    cat, dog = ((fields[str], word) for word in (b"cat", b"dog"))
    old = other_kind(kind, cat, dog, cat)
    assert labels_told(old, other_kind(kind, dog, cat)) == []
    assert labels_told(old, other_kind(kind, dog)) == [("main", '"cat"')]
    assert labels_told(other_kind(kind, dog), other_kind(kind)) == [("main", '"dog"')]
    assert labels_told(other_kind(kind), old) == []
    assert labels_told(old, in_pipeline(other_kind("scaler"), other_kind(kind, cat))) == [("main", '"dog"')]
    assert labels_told(in_pipeline(other_kind("scaler"), old), in_pipeline(other_kind(kind, cat))) == [
        ("1 main", '"dog"')
    ]
    if int in fields:
        packed, single = [
            other_kind(kind, *held)
            for held in (
                [(fields[int], varints([7, -1, 300]))],
                [(fields[int], number) for number in (7, -1, 300)],
            )
        ]
        assert labels_told(packed, single) == []
        assert labels_told(single, packed) == []
        assert labels_told(packed, other_kind(kind, (fields[int], 7))) == [("main", "-1, 300")]
        assert labels_told(old, packed) == [("main", '"cat", "dog"')]


def test_labels_that_cannot_be_read_are_unknown() -> None:
    whole = other_kind("glmClassifier", ((100, 1), b"cat"))
    for path, held in (((100, 1), b"\xff"), ((101,), b"\x0a\x03ab"), ((101,), b"\x08\xff"), ((101,), b"\x0b")):
        broken = other_kind("glmClassifier", (path, held))
        for difference in (breaking(whole, broken), breaking(broken, whole)):
            assert difference.same is None
            assert difference.notes == ("m: the labels of this glmClassifier cannot be read, and are not compared",)


def test_labels_of_other_compiled_models_are_unknown() -> None:
    class Compiled(TextModel):
        def __init__(self, kind: str) -> None:
            super().__init__(PROGRAM.encode(), "m.mlmodelc", None)
            self.type = kind

    (note,) = breaking(other_kind("glmClassifier", ((100, 1), b"cat")), Compiled("glmClassifier")).notes
    assert note == "m.mlmodelc: the labels of this glmClassifier cannot be read, and are not compared"
    assert breaking(Compiled("glmClassifier"), Compiled("glmClassifier")).same is None
    assert breaking(Compiled("scaler"), Compiled("scaler")).same is True


def test_classes_of_an_app() -> None:
    def told(*models: SpecModel) -> list[tuple[str, str | None]]:
        return [(each.kind, each.new) for each in breaking(*models).changes]

    for kind, path in CLASSES.items():
        old, new, both = [
            other_kind(kind, *((path, name) for name in names)) for names in ([b"A"], [b"B"], [b"A", b"B"])
        ]
        assert told(old, old) == []
        assert told(old, new) == [("class-added", '"B"')]
        assert told(new, in_pipeline(new)) == []
        if kind != "customModel":
            assert told(old, both) == [("class-added", '"B"')]
            assert told(both, old) == []


def test_the_fields_match_the_schema() -> None:
    schema = pytest.importorskip("coremltools.proto.Model_pb2").Model.DESCRIPTOR
    labels = {
        kind.name: {
            field.number: str if field.message_type.name == "StringVector" else int
            for field in kind.message_type.fields
            if field.containing_oneof is not None and field.containing_oneof.name in ("ClassLabels", "Tags")
        }
        for kind in schema.oneofs_by_name["Type"].fields
    }
    assert {kind: fields for kind, fields in labels.items() if fields} == LABELS
    for kind, path in CLASSES.items():
        fields = schema.fields_by_name[kind].message_type.fields_by_number
        *outer, last = path
        for number in outer:
            fields = fields[number].message_type.fields_by_number
        assert fields[last].name == "className"


def test_texts_are_compared_by_their_statements() -> None:
    def text(said: str) -> TextModel:
        return TextModel(said.encode(), "m.mil", None)

    other = PROGRAM.replace("[1, 4]> scale", "[?, 4]> scale").replace("fp32, [1, 4]> z", "fp16, [1, 4]> z")
    difference = breaking(text(PROGRAM), text(other))
    assert [(each.kind, each.name) for each in difference.changes] == [("output-type", "z")]
    assert [each.kind for each in breaking(text(other), text(PROGRAM)).changes] == ["input-shape", "output-type"]
    assert breaking(text(PROGRAM), text(PROGRAM)).same is True


def test_one_description_alone_is_unknown() -> None:
    made = model()
    typed("scale", array(1, 4, optional=True))(made)
    whole = SpecModel("mlmodel", "whole.mlmodel", None, None, made)
    bare = TextModel(PROGRAM.encode(), "bare.mil", None)
    for difference in (breaking(whole, bare), breaking(bare, whole)):
        assert difference.notes[0].startswith("bare.mil: there is no description; ")
    assert [each.kind for each in breaking(whole, bare).changes] == ["input-needed"]
    assert breaking(bare, whole).same is None


def test_other_kinds_of_models_compare_by_description() -> None:
    def network(*names: str) -> SpecModel:
        made = Model.FromString(b"\xa2\x1f\x00")  # an empty neuralNetwork
        made.specificationVersion = 4
        for name in names:
            made.description.output.add(name=name, type=FeatureType(int64Type=Int64FeatureType()))
        return SpecModel("mlmodel", "m", None, None, made)

    assert [(each.kind, each.name) for each in breaking(network("a", "b"), network("b")).changes] == [
        ("output-removed", "a")
    ]


def test_the_page_has_each_rule_with_its_reason() -> None:
    page = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| .* \| (.*) \|$", page, re.MULTILINE))
    assert rows == RULES
    told = {told[0] for *_, told in BREAKING} | {"function-removed", "default-function", "label-removed", "class-added"}
    assert told == {*RULES}


def test_forms() -> None:
    models = [SpecModel("mlmodel", name, None, None, model()) for name in ("old", "new")]
    assert breaking(*models).to_text() == "no breaking change\n"
    without("output", "z")(models[1].spec)
    difference = breaking(*models)
    assert difference.to_text() == "--- old\n+++ new\n- output-removed z: fp32 [1,4]\n"
    assert difference.to_json()["breaking"] is True
    for form in (difference.to_markdown(), difference.to_html(), difference.to_unified(), difference.to_stat()):
        assert "output-removed z" in form or form == "model: 1 change\n"
