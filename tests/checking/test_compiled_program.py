"""What a compiled program takes and gives has to be what its description says; messages name both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.pipelines import of_text

import miltext
from miltext.checking.compiled.program import program_findings
from miltext.checking.contract.interface import interface_findings
from miltext.checking.findings import located
from miltext.parsing.parser import parse_tree
from miltext.printing.coremlc import as_coremlc
from miltext.schema.proto import ArrayFeatureType, ImageFeatureType, Model, SizeRange

ONE = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 3, 8, 6]> image, state<tensor<fp16, [4]>> kept, tensor<fp32, [2]> more) {
            tensor<fp16, [4]> read = read_state(input = kept)[name = string("read")];
            tensor<fp32, [2]> y = relu(x = more)[name = string("y")];
            tensor<fp32, [1, 3, 8, 6]> z = relu(x = image)[name = string("z")];
        } -> (read, y, z);
}
"""


def plain() -> Model:
    return of_text(ONE)


def ranged() -> Model:
    made = of_text(ONE.replace("[2]", "[?]"))
    array = made.description.input[1].type.multiArrayType
    array.shape[:] = [2]
    array.ClearField("shapeRange")
    array.shapeRange.sizeRanges.add(lowerBound=1, upperBound=4)
    return made


def told(spec: Model, change: Callable[[Model], object] | None = None, **words: str) -> list[tuple[str, str]]:
    """What is told of the text that a model is compiled to, once its description, or words of the text, changed: each
    message, and the place, up to its first bracket.
    """
    text = as_coremlc(spec.mlProgram, spec.specificationVersion, spec.description, on_warning=lambda _: None)
    if change is not None:
        change(spec)
    for old, new in words.items():
        text = text.replace(old, new)
    dialect = "1.3" if "program(1.3)" in text else "1.0"
    described = miltext.parse(text), spec.specificationVersion, spec.description
    findings = [*interface_findings(*described), *program_findings(*described, dialect)]
    placed = located(findings, parse_tree(text, whole=True).root)
    return [
        (f"{each.severity}: {each.message}", text[each.span.start : each.span.end].partition("(")[0])
        for each in placed
        if each.span is not None
    ]


def found(spec: Model, change: Callable[[Model], object] | None = None, **words: str) -> list[str]:
    return [message for message, _ in told(spec, change, **words)]


def set_type(spec: Model) -> None:
    spec.description.input[1].type.multiArrayType.dataType = ArrayFeatureType.INT32


def set_shape(spec: Model) -> None:
    spec.description.input[1].type.multiArrayType.shape[:] = [3]


def set_image(spec: Model) -> None:
    made = ImageFeatureType(width=6, height=9, colorSpace=ImageFeatureType.RGB)
    spec.description.input[0].type.imageType.CopyFrom(made)


def set_color(spec: Model) -> None:
    made = ImageFeatureType(width=6, height=8, colorSpace=ImageFeatureType.RGB)
    spec.description.input[0].type.imageType.CopyFrom(made)
    spec.description.input[0].type.imageType.MergeFromString(b"\x18\x15")


def set_state(spec: Model) -> None:
    spec.description.state[0].type.stateType.arrayType.shape[:] = [5]


def set_kind(spec: Model) -> None:
    spec.description.output[1].type.doubleType.SetInParent()


def turn_outputs(spec: Model) -> None:
    entries = [*spec.description.output][::-1]
    del spec.description.output[:]
    spec.description.output.extend(entries)


def predict(spec: Model) -> None:
    spec.description.predictedFeatureName = "gone"


def lower_version(spec: Model) -> None:
    spec.specificationVersion = 8


def take_out(spec: Model) -> None:
    del spec.description.input[1]


def double(spec: Model) -> None:
    spec.description.input.add().CopyFrom(spec.description.input[1])


def name_function(spec: Model) -> None:
    spec.description.functions.add(name="other")
    spec.description.defaultFunctionName = "gone"


HEAD = "func main<ios18>"
ALSO = "; the original has this error, too"
NO_NAME = "names must be those of the program; `miltext rename` changes them"

CHANGED: dict[str, tuple[Callable[[Model], object], str, list[str]]] = {
    "a data type": (
        set_type,
        "tensor<fp32, [2]> more",
        [
            (
                'error: `more`, which is tensor<fp32, [2]> in the program, has the `dataType` "fp32", not "int32" '
                "(description: input `more`, dataType)"
            )
        ],
    ),
    "a shape": (
        set_shape,
        "tensor<fp32, [2]> more",
        ["error: `more`, which is tensor<fp32, [2]> in the program, cannot be [3] (description: input `more`, shape)"],
    ),
    "the size of an image": (
        set_image,
        "tensor<fp32, [1, 3, 8, 6]> image",
        [
            (
                "error: `image`, which is tensor<fp32, [1, 3, 8, 6]> in the program, cannot be [1, 3, 9, 6], as which "
                'an image of the `colorSpace` "RGB" is passed (description: input `image`, width)'
            )
        ],
    ),
    "an unknown color": (
        set_color,
        "tensor<fp32, [1, 3, 8, 6]> image",
        [
            (
                "error: the image `image` has the unknown color space 21 (description: input `image`, colorSpace): "
                'write "GRAYSCALE" or "RGB" or "BGR" or "GRAYSCALE_FLOAT16"'
            )
        ],
    ),
    "a state": (
        set_state,
        "state<tensor<fp16, [4]>> kept",
        [
            (
                "error: `kept`, which is state<tensor<fp16, [4]>> in the program, cannot be [5] "
                "(description: state `kept`, shape)"
            )
        ],
    ),
    "another kind": (
        set_kind,
        "y",
        [
            (
                'error: `y`, which is tensor<fp32, [2]> in the program, cannot be of the type "double" '
                '(description: output `y`, type): write "multiArray"'
            )
        ],
    ),
    "no kind": (
        lambda spec: spec.description.output[1].type.ClearField("multiArrayType"),
        "y",
        [
            (
                "error: `y`, which is tensor<fp32, [2]> in the program, has no `type` (description: output `y`, type): "
                'write "multiArray"'
            )
        ],
    ),
    "no name": (
        lambda spec: spec.description.output[1].ClearField("name"),
        HEAD,
        [
            "error: an output has no name (description: output 1, name): add the name",
            "error: the output `y` of `main` is not described",
        ],
    ),
    "the order of outputs": (
        turn_outputs,
        HEAD,
        ["note: coremldata.bin lists the outputs of `main` in another order: `z` in place of `read`"],
    ),
    "what is predicted": (
        predict,
        "main",
        ["error: `predictedFeatureName` names no output of `main`: `gone`"],
    ),
    "one less": (
        take_out,
        "tensor<fp32, [2]> more",
        ["error: the input `more` of `main` is not described"],
    ),
    "one twice": (
        double,
        HEAD,
        ["warning: the input `more` is described twice (description: input `more`, name)"],
    ),
    "a lower version": (
        lower_version,
        "program",
        [
            "error: `specificationVersion` is 8, but the model needs 9: write 9, or nothing",
            "warning: the compiler writes models of the specification version 8 in the dialect 1.0, and not 1.3",
        ],
    ),
    "functions": (
        name_function,
        "program",
        [
            f"error: the program has no function `other` (description: function `other`, name): {NO_NAME}",
            *(
                f"error: a `[[{side}]]` is beside a `[[function]]` (description: {side} `{name}`): "
                f"write it as `[[function.{side}]]` below its function"
                for side, name in (("input", "image"), ("output", "read"), ("state", "kept"))
            ),
            "error: there is no function `gone` (description: defaultFunctionName)",
            "warning: the function `main` of the program is not described: add a `[[function]]`",
        ],
    ),
}


def listing(*names: str, default: str = "main") -> Callable[[Model], None]:
    """What lists functions, each of which is described as `main` is."""

    def change(spec: Model) -> None:
        description = spec.description
        sides = {"input": [*description.input], "output": [*description.output], "state": [*description.state]}
        for name in names:
            description.functions.add(name=name, **sides)
        for side in sides:
            description.ClearField(side)
        description.defaultFunctionName = default

    return change


ANOTHER = ONE[ONE.index("    func") : ONE.rindex("}")]
TWO = ONE.replace(ANOTHER, ANOTHER + ANOTHER.replace(" main<", " more<"))
GONE = f"error: the program has no function `gone` (description: function `gone`, name): {NO_NAME}"

FUNCTIONS: dict[str, tuple[str, Callable[[Model], None] | None, list[str]]] = {
    "main": (ONE, None, []),
    "another name, not listed": (
        ONE.replace("main", "mein"),
        None,
        ["error: the program has no function `main`, but `mein`: write a `[[function]]` for `mein`"],
    ),
    "main among several, not listed": (
        TWO,
        None,
        ["warning: the program has 2 functions: write a `[[function]]` for each of `main`, `more`"],
    ),
    "several without main, not listed": (
        TWO.replace("main", "mein"),
        None,
        ["error: the program has 2 functions: write a `[[function]]` for each of `mein`, `more`"],
    ),
    "another name": (ONE.replace("main", "mein"), listing("mein", default="mein"), []),
    "several": (TWO, listing("main", "more"), []),
    "several in another order": (TWO, listing("more", "main", default="more"), []),
    "one twice": (
        TWO,
        listing("main", "more", "main"),
        ["warning: the function `main` is described twice (description: function `main`, name)"],
    ),
    "one more": (TWO, listing("main", "more", "gone"), [GONE]),
    "one less": (
        TWO,
        listing("main"),
        ["warning: the function `more` of the program is not described: add a `[[function]]`"],
    ),
    "no default": (
        TWO,
        listing("main", "more", default=""),
        [
            (
                "error: the description lists functions, and does not name the default one "
                "(description: defaultFunctionName): add `defaultFunctionName`"
            )
        ],
    ),
    "another default": (
        TWO,
        listing("main", "more", default="gone"),
        ["error: there is no function `gone` (description: defaultFunctionName)"],
    ),
}


@pytest.mark.parametrize(("text", "change", "messages"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_equal_the_described_ones(
    text: str, change: Callable[[Model], None] | None, messages: list[str]
) -> None:
    spec = plain()
    spec.mlProgram.CopyFrom(miltext.parse(text))
    assert found(spec, change) == messages


def test_a_compiled_program_fits() -> None:
    assert found(plain()) == []
    assert found(ranged()) == []


@pytest.mark.parametrize(("change", "place", "messages"), CHANGED.values(), ids=CHANGED)
def test_a_contradiction_of_the_description_is_reported(
    change: Callable[[Model], object], place: str, messages: list[str]
) -> None:
    assert found(plain(), change) == messages
    assert told(plain(), change)[0][1] == place


@pytest.mark.parametrize("is_piped", [False, True], ids=["", "in a pipeline"])
@pytest.mark.parametrize(("change", "place", "messages"), CHANGED.values(), ids=CHANGED)
def test_a_build_reports_the_findings_of_its_check(
    change: Callable[[Model], object], place: str, messages: list[str], is_piped: bool, tmp_path: Path
) -> None:
    """Apart from what only a text has: its dialect, and the order in it."""
    spec = plain()
    change(spec)
    whole = Model(specificationVersion=9) if is_piped else spec
    if is_piped:
        whole.pipeline.models.extend([plain(), spec])
    (tmp_path / "M.mlmodel").write_bytes(whole.SerializeToString())
    where = "the model 1: " if is_piped else ""
    expected = [
        "warning: " + each.split(": ", 1)[1]
        for each in messages
        if not each.startswith("note") and "dialect" not in each
    ]
    errors = [f"warning: {each.removeprefix('error: ')}{ALSO}" for each in messages if each.startswith("error")]
    for output, told_there in (("M.mlmodelc", expected), ("M.mlpackage", errors)):
        is_compiled = output == "M.mlmodelc"
        built = miltext.build(tmp_path / "M.mlmodel", tmp_path / output, allow_unproven=is_compiled)
        said = [f"{each.severity}: {each.message.removeprefix(where)}" for each in built if each.code == "MIL265"]
        assert sorted(said) == sorted(told_there)
        notes = [note.message for each in built if each.code == "MIL265" for note in each.notes]
        assert (
            not is_piped or not said or any("model 1" in each for each in [*notes, *(each.message for each in built)])
        )
    unchecked = miltext.build(
        tmp_path / "M.mlmodel", tmp_path / "M.mlmodelc", check=False, force=True, allow_unproven=True
    )
    assert "MIL265" not in {each.code for each in unchecked}


def test_the_compiler_sorts_inputs() -> None:
    messages = found(plain(), None, **{"> kept, ": "> zzz, ", "input = kept": "input = zzz"})
    assert "warning: the compiler sorts the inputs of `main` by their names: `more` is before `zzz`" in messages


def other_range(spec: Model) -> None:
    spec.description.input[1].type.multiArrayType.shapeRange.sizeRanges[0].upperBound = 5


def no_range(spec: Model) -> None:
    spec.description.input[1].type.multiArrayType.ClearField("shapeRange")


def no_end(spec: Model) -> None:
    spec.description.input[1].type.multiArrayType.shapeRange.sizeRanges[0].upperBound = -1


def sizes(spec: Model) -> None:
    shapes = spec.description.input[1].type.multiArrayType.enumeratedShapes.shapes
    shapes.add(shape=[2])
    shapes.add(shape=[3])


RANGES: dict[str, tuple[Callable[[Model], object], str]] = {
    "another": (other_range, "but by coremldata.bin it is [2] by default, in the ranges [[1, 5]]"),
    "none": (no_range, "but by coremldata.bin it has one shape"),
    "sizes in place of them": (sizes, "but by coremldata.bin it is [2] by default, one of [[2], [3]]"),
}


@pytest.mark.parametrize(("change", "message"), RANGES.values(), ids=RANGES)
def test_flexible_shapes_are_compared(change: Callable[[Model], object], message: str) -> None:
    begins = "warning: FlexibleShapeInformation states [2] by default, in the ranges [[1, 4]] for `more`, "
    assert any(each.startswith(begins + message) for each in found(ranged(), change))


def test_a_missing_attribute_is_reported() -> None:
    spec = ranged()
    text = as_coremlc(spec.mlProgram, 9, spec.description, on_warning=lambda _: None)
    start = text.index(" [FlexibleShapeInformation")
    attribute = text[start : text.index(" {\n", start)]
    assert "FlexibleShapeInformation states nothing for `more`" in found(ranged(), None, **{attribute: ""})[0]


def imaged(spec: Model, *, sizes: bool = False, ranges: bool = False) -> Model:
    """A model whose input `image` is one, as its description has it once it is compiled."""
    image = spec.description.input[0].type.imageType
    image.CopyFrom(ImageFeatureType(width=6, height=8, colorSpace=ImageFeatureType.RGB))
    for height in (8, 10) if sizes else ():
        image.enumeratedSizes.sizes.add(width=6, height=height)
    if ranges:
        image.imageSizeRange.widthRange.CopyFrom(SizeRange(lowerBound=6, upperBound=6))
        image.imageSizeRange.heightRange.CopyFrom(SizeRange(lowerBound=8, upperBound=12))
    return spec


@pytest.mark.parametrize("kind", [{"sizes": True}, {"ranges": True}], ids=str)
def test_unproven_facts_of_images_are_not_compared(kind: dict[str, bool]) -> None:
    text = ONE.replace("[1, 3, 8, 6]", "[1, 3, ?, 6]")
    spec = of_text(text)
    assert found(imaged(spec, **kind)) == []  # as it is written here
    spec = of_text(text)
    assert found(spec, lambda made: imaged(made, **kind)) == []  # without the attribute


def test_an_image_of_one_size_has_no_flexible_shape() -> None:
    spec = imaged(of_text(ONE.replace("[1, 3, 8, 6]", "[1, 3, ?, 6]")), sizes=True)
    image = spec.description.input[0].type.imageType
    assert any(
        "by coremldata.bin it has one shape" in each
        for each in found(spec, lambda _: image.ClearField("enumeratedSizes"))
    )


def test_unproven_facts_of_flexible_shapes_are_not_compared() -> None:
    told_of_range = found(ranged(), no_end)
    assert len(told_of_range) == 1
    assert "has no greatest size in the dimension 0 (description: input `more`, shapeRange)" in told_of_range[0]


def test_several_inputs_of_flexible_shape_are_not_compared() -> None:
    def change(spec: Model) -> None:
        other_range(spec)
        spec.description.input.add(name="another").type.multiArrayType.shapeRange.sizeRanges.add(upperBound=2)

    gone = f"error: `main` has no input `another` (description: input `another`, name): {NO_NAME}"
    assert found(ranged(), change) == [gone]


def test_sizes_are_compared_under_any_keys() -> None:
    spec = ranged()
    sizes(spec)
    assert found(spec, None, **{'"00000000"': '"543d0f94"', '"00000001"': '"9e38c1a4"'}) == []
    turned = spec.description.input[1].type.multiArrayType.enumeratedShapes.shapes
    assert found(spec, lambda _: turned.add(shape=[4])) != []
