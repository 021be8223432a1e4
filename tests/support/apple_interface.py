"""Models of Apple's public tests of interfaces, each as an ML Program that fits its description, and Apple's answer.

The tests are those of coremltools: `mlmodel/tests/InterfaceTests.cpp` and `UtilsTests.cpp`. They state single features;
the program here takes each with the type that follows from its description, so that nothing else is wrong. Cases of the
refusals that have no test there name the function instead, in `InterfaceValidators.cpp` or `PipelineValidator.cpp`, or
the reason in `ResultReason.hpp`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from support.pipelines import piped, unary

import miltext
from miltext.printing.flexible_shapes import channels_of
from miltext.schema.features import ANY_SIZE, COLORS, ELEMENTS, word_of
from miltext.schema.opsets import OPSETS
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, ImageFeatureType, Model

FLOAT32, FLOAT16, DOUBLE, INT32, INT8 = (ELEMENTS[each] for each in ("fp32", "fp16", "fp64", "int32", "int8"))
NEWEST = OPSETS[-1].specification
Edit = Callable[[Any], object]


class Case(NamedTuple):
    """A case of a test, in words, with its model, and whether Apple refuses it."""

    test: str
    case: str
    is_refused: bool
    make: Callable[[], Model]


def _setting(field: str, value: object) -> Edit:
    """Return the edit that sets a field."""
    return lambda each: setattr(each, field, value)


# ---- the program of a description


def _array_text(array: ArrayFeatureType) -> str:
    word = word_of(array.dataType, ELEMENTS) or "fp32"
    sizes: list[Any] = [*array.shape]
    ranges = [(each.lowerBound, each.upperBound) for each in array.shapeRange.sizeRanges]
    listed = [[*each.shape] for each in array.enumeratedShapes.shapes]
    if ranges:
        sizes = ["?" if least != most else least for least, most in ranges]
    elif listed:
        sizes = ["?"] * len(listed[0])
    return f"tensor<{word}, [{', '.join(map(str, sizes or [1]))}]>"


def _image_text(image: ImageFeatureType) -> str:
    is_flexible = image.WhichOneof("SizeFlexibility") is not None
    sizes = ("?", "?") if is_flexible else (image.height or 1, image.width or 1)
    word = "fp16" if image.colorSpace == ImageFeatureType.GRAYSCALE_FLOAT16 else "fp32"
    channels = channels_of(image) if word_of(image.colorSpace, COLORS) else 3
    return f"tensor<{word}, [1, {channels}, {sizes[0]}, {sizes[1]}]>"


SCALARS = {"int64Type": "int64", "stringType": "string", "doubleType": "fp64"}


def _type_text(entry: FeatureDescription) -> str:
    """Return the type of the value that an entry describes, as far as it does."""
    kind = entry.type.WhichOneof("Type") or ""
    if kind == "imageType":
        return _image_text(entry.type.imageType)
    if kind == "stateType":
        return f"state<{_array_text(entry.type.stateType.arrayType)}>"
    if kind == "dictionaryType":
        key = entry.type.dictionaryType.WhichOneof("KeyType") or "stringKeyType"
        return f"dict<{key.removesuffix('KeyType')}, fp64>"
    return f"tensor<{SCALARS[kind]}, []>" if kind in SCALARS else _array_text(entry.type.multiArrayType)


def _output_text(entry: FeatureDescription, taken: list[FeatureDescription]) -> str:
    """Return the statement of an output: equal to an input of its type, or computed from nothing."""
    kind = _type_text(entry)
    same = [each.name for each in taken if _type_text(each) == kind]
    size, shape = f"tensor<int32, [{kind.count(',')}]>", kind[kind.index("[") : kind.index("]") + 1]
    word = kind[len("tensor<") :].partition(",")[0]
    call = f"identity(x = {same[0]})" if same else f"fill(shape = {size}({shape}), value = {word}(1))"
    return f'{kind} {entry.name} = {call}[name = string("{entry.name}")];'


def _function_text(described: Any, opset: str, name: str = "main") -> str:
    taken = [*described.input, *described.state]
    listed = ", ".join(f"{_type_text(each)} {each.name or 'unnamed'}" for each in taken)
    lines = [_output_text(each, taken) for each in described.output]
    lines += [
        f"{_type_text(each)[len('state<') : -1]} {each.name}_now = read_state(input = {each.name})"
        f'[name = string("{each.name}_now")];'
        for each in taken
        if each.type.HasField("stateType")
    ]
    body = "".join(f"            {line}\n" for line in lines)
    outputs = ", ".join(each.name for each in described.output)
    return f"    func {name}<{opset}>({listed}) {{\n{body}        }} -> ({outputs});\n"


def programmed(made: Model, version: int, opset: str = "") -> Model:
    """The Model with an ML Program of its description, in the opset of the version, or in another."""
    of_version = [each.text for each in OPSETS if each.specification <= version]
    functions = made.description.functions or [made.description]
    texts = [
        _function_text(each, opset or of_version[-1], getattr(each, "name", "main") or "unnamed") for each in functions
    ]
    made.specificationVersion = version
    made.mlProgram.CopyFrom(miltext.parse("program(1.3)\n{\n" + "".join(texts) + "}\n"))
    return made


def array(features: Any, name: str, data_type: int = FLOAT32, shape: tuple[int, ...] = (1,)) -> FeatureDescription:
    made: FeatureDescription = features.add(name=name)
    made.type.multiArrayType.dataType = data_type
    made.type.multiArrayType.shape.extend(shape)
    return made


def state(features: Any, name: str = "x") -> FeatureDescription:
    made: FeatureDescription = features.add(name=name)
    made.type.stateType.arrayType.dataType = FLOAT16
    made.type.stateType.arrayType.shape.append(1)
    return made


# ---- testFeatureDescriptions

FEATURES = "testFeatureDescriptions"


def _taken(edit: Edit, version: int = NEWEST) -> Model:
    made = Model()
    edit(made.description.input.add(name="x"))
    array(made.description.output, "y")
    return programmed(made, version)


def _given(data_type: int) -> Model:
    made = Model()
    array(made.description.input, "x", data_type)
    array(made.description.output, "y", data_type, ())
    return programmed(made, NEWEST)


def _bare(each: FeatureDescription) -> None:
    each.ClearField("name")
    each.type.int64Type.SetInParent()


def _elements(data_type: int, *shape: int) -> Edit:
    def edit(each: FeatureDescription) -> None:
        each.type.multiArrayType.dataType = data_type
        each.type.multiArrayType.shape.extend(shape)

    return edit


def _image(color: int, width: int = 10, height: int = 20) -> Edit:
    def edit(each: FeatureDescription) -> None:
        each.type.imageType.width, each.type.imageType.height = width, height
        each.type.imageType.colorSpace = color

    return edit


def _sizes(*sizes: tuple[int, int]) -> Edit:
    def edit(each: FeatureDescription) -> None:
        _image(ImageFeatureType.BGR, 6, 5)(each)
        for width, height in sizes:
            each.type.imageType.enumeratedSizes.sizes.add(width=width, height=height)

    return edit


def _size_ranges(width: tuple[int, int], height: tuple[int, int] = (2, 5)) -> Edit:
    def edit(each: FeatureDescription) -> None:
        _image(ImageFeatureType.BGR, 6, 5)(each)
        ranges = each.type.imageType.imageSizeRange
        ranges.widthRange.lowerBound, ranges.widthRange.upperBound = width
        ranges.heightRange.lowerBound, ranges.heightRange.upperBound = height

    return edit


def _shape_ranges(*ranges: tuple[int, int]) -> Edit:
    def edit(each: FeatureDescription) -> None:
        _elements(FLOAT32, 10, 5)(each)
        for least, most in ranges:
            each.type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=least, upperBound=most)

    return edit


def _shapes(*shapes: tuple[int, ...]) -> Edit:
    def edit(each: FeatureDescription) -> None:
        _elements(FLOAT32, 10, 5)(each)
        for shape in shapes:
            each.type.multiArrayType.enumeratedShapes.shapes.add(shape=shape)

    return edit


COLOR = ImageFeatureType
INPUTS: list[tuple[str, bool, Edit]] = [
    ("an input without a name", True, _bare),
    ("an input without a type", True, lambda each: None),
    ("an input with an empty type", True, lambda each: each.type.SetInParent()),
    ("an int64 input", False, lambda each: each.type.int64Type.SetInParent()),
    ("a string input", False, lambda each: each.type.stringType.SetInParent()),
    ("a double input", False, lambda each: each.type.doubleType.SetInParent()),
    ("a multi-array input without a data type and a shape", True, lambda each: each.type.multiArrayType.SetInParent()),
    ("a DOUBLE input without a shape", True, _elements(DOUBLE)),
    ("a FLOAT32 input without a shape", True, _elements(FLOAT32)),
    ("an INT32 input without a shape", True, _elements(INT32)),
    ("an INT32 input of the shape [128]", False, _elements(INT32, 128)),
    ("a dictionary input without a type of keys", True, lambda each: each.type.dictionaryType.SetInParent()),
    ("a dictionary input of strings", False, lambda each: each.type.dictionaryType.stringKeyType.SetInParent()),
    ("a dictionary input of int64", False, lambda each: each.type.dictionaryType.int64KeyType.SetInParent()),
    ("an image without a size and a color space", True, _image(COLOR.INVALID_COLOR_SPACE, 0, 0)),
    ("an image with a width alone", True, _image(COLOR.INVALID_COLOR_SPACE, 10, 0)),
    ("an image without a color space", True, _image(COLOR.INVALID_COLOR_SPACE)),
    ("an image of BGR", False, _image(COLOR.BGR)),
    ("an image of RGB", False, _image(COLOR.RGB)),
    ("an image of GRAYSCALE", False, _image(COLOR.GRAYSCALE)),
    ("an image of GRAYSCALE_FLOAT16", False, _image(COLOR.GRAYSCALE_FLOAT16)),
    ("an image of 6 x 5", False, _image(COLOR.BGR, 6, 5)),
    ("an image of 6 x 5, of the listed 6 x 5", False, _sizes((6, 5))),
    ("an image of 6 x 5, of the listed 10 x 5", True, _sizes((10, 5))),
    ("an image of 6 x 5, of the listed 10 x 5 and 6 x 5", False, _sizes((10, 5), (6, 5))),
    ("an image of 6 x 5, of a width from 1 and a height of 2 to 5", False, _size_ranges((1, ANY_SIZE))),
    ("an image of 6 x 5, of a width from 7", True, _size_ranges((7, ANY_SIZE))),
    ("an image of 6 x 5, of a width from 2", False, _size_ranges((2, ANY_SIZE))),
    ("an image of 6 x 5, of a width of 2 to 1", True, _size_ranges((2, 1))),
    ("an input of the shape [10, 5]", False, _elements(FLOAT32, 10, 5)),
    ("an input of the shape [10, 5], of ranges from 1, and 5 to 20", False, _shape_ranges((1, ANY_SIZE), (5, 20))),
    ("an input of the shape [10, 5], of ranges from 1, and 6 to 20", True, _shape_ranges((1, ANY_SIZE), (6, 20))),
    ("an input of the shape [10, 5], of the listed [6, 2]", True, _shapes((6, 2))),
    ("an input of the shape [10, 5], of the listed [6, 2] and [10, 5]", False, _shapes((6, 2), (10, 5))),
]

CASES = [
    *(Case(FEATURES, case, refused, partial(_taken, edit)) for case, refused, edit in INPUTS),
    *(
        Case(
            FEATURES,
            f"{'an' if name == 'INT32' else 'a'} {name} output without a shape",
            False,
            partial(_given, each),
        )
        for name, each in (("DOUBLE", DOUBLE), ("FLOAT32", FLOAT32), ("INT32", INT32))
    ),
]

# ---- several functions


def _functions(
    version: int = 9, names: tuple[str, ...] = ("foo",), default: str = "foo", edit: Edit | None = None
) -> Model:
    """A model of functions with an input and an output each; without names, of `main` alone, with the rest of it."""
    made = Model()
    for name in names:
        function = made.description.functions.add(name=name)
        array(function.input, "x")
        array(function.output, "y")
    programmed(made, version)
    made.description.defaultFunctionName = default
    if edit is not None:
        edit(made.description)
    return made


def _without_inputs(version: int = 9, is_listed: bool = True) -> Model:
    made = Model()
    function = made.description.functions.add(name="foo") if is_listed else made.description
    array(function.output, "y")
    programmed(made, version, "ios15")
    if is_listed:
        made.description.defaultFunctionName = "foo"
    return made


def _unlisted() -> Model:
    made = Model()
    array(made.description.input, "x")
    array(made.description.output, "y")
    programmed(made, 9)
    made.description.ClearField("input")
    made.description.ClearField("output")
    made.description.defaultFunctionName = "foo"
    return made


def _named_alone() -> Model:
    made = _taken(_elements(FLOAT32, 1), 9)
    made.description.defaultFunctionName = "main"
    return made


TOP = "testMultiFunctionTopLevelFeatureDescriptionsMustBeEmpty"
DEFAULT = "testMultiFunctionDefaultFunctionName"
SINCE = "testMultiFunctionSpecificationVersion"


CASES += [
    Case(SINCE, "a function in the version 8", True, lambda: _functions(8)),
    Case(SINCE, "a function in the version 9", False, lambda: _functions(9)),
    Case(DEFAULT, "a default function, and no functions", True, _unlisted),
    Case(DEFAULT, "a default function beside inputs and outputs", True, _named_alone),
    Case(DEFAULT, "an unlisted default function", True, lambda: _functions(names=("bar",))),
    Case(DEFAULT, "a default function that is listed", False, _functions),
    Case(TOP, "functions alone", False, _functions),
    Case(
        TOP, "functions, and an input beside them", True, lambda: _functions(edit=lambda each: array(each.input, "x"))
    ),
    Case(
        TOP, "functions, and an output beside them", True, lambda: _functions(edit=lambda each: array(each.output, "y"))
    ),
    Case(
        TOP,
        "functions, and a training input beside them",
        True,
        lambda: _functions(edit=lambda each: array(each.trainingInput, "z")),
    ),
    Case(TOP, "functions, and a state beside them", True, lambda: _functions(edit=lambda each: state(each.state, "s"))),
    Case(
        TOP,
        "functions, and a predictedFeatureName beside them",
        True,
        lambda: _functions(edit=_setting("predictedFeatureName", "y")),
    ),
    Case(
        TOP,
        "functions, and a predictedProbabilitiesName beside them",
        True,
        lambda: _functions(edit=_setting("predictedProbabilitiesName", "y")),
    ),
    Case("testMultiFunctionEmptyInput", "a function without inputs", False, _without_inputs),
    Case(
        "testEmptyInputModel_downgradeToIOS18", "no inputs in the version 9", False, lambda: _without_inputs(9, False)
    ),
    Case("testEmptyInputModel_downgradeToIOS18", "no inputs in the version 8", True, lambda: _without_inputs(8, False)),
    Case(
        "testMultiFunctionModel_downgradeToIOS18",
        "one function, listed, in the version 10",
        False,
        lambda: _functions(10),
    ),
]

# ---- states


def _stateful(edit: Edit | None = None, version: int = NEWEST, side: str = "state") -> Model:
    """A model whose state follows the edit; its program keeps a state of fp16 that is read."""
    made = Model()
    array(made.description.input, "a")
    array(made.description.output, "y")
    entry = state(getattr(made.description, side))
    programmed(made, version, "ios18")
    if edit is not None:
        edit(entry)
    return made


def _state_array(edit: Edit) -> Edit:
    return lambda entry: edit(entry.type.stateType.arrayType)


def _optional(entry: FeatureDescription) -> None:
    entry.type.isOptional = True


def _floats(kind: Any) -> None:
    kind.dataType = FLOAT32


CASES += [
    Case("testStateSpecificationVersion", "a state in the version 8", True, lambda: _stateful(version=8)),
    Case("testStateSpecificationVersion", "a state in the version 9", False, lambda: _stateful(version=9)),
    Case("testStateFeatureDescriptionInInputs", "a state among the inputs", False, lambda: _stateful(side="input")),
    Case("testStateFeatureIsNotFP16_shouldFail", "a state of FLOAT32", True, lambda: _stateful(_state_array(_floats))),
    Case("testStateFeatureIsOptional_shouldFail", "an optional state", True, lambda: _stateful(_optional)),
    Case(
        "testStateFeatureHasNoDefaultShape_shouldFail",
        "a state without a shape",
        True,
        lambda: _stateful(_state_array(lambda kind: kind.ClearField("shape"))),
    ),
    Case(
        "testStateFeatureHasNoArrayType_shouldFail",
        "a state without a multi-array",
        True,
        lambda: _stateful(lambda entry: entry.type.stateType.ClearField("arrayType")),
    ),
    Case(
        "testStateFeature_ArrayUsesRangeFlexibleShape_shouldFail",
        "a state of ranges",
        True,
        lambda: _stateful(_state_array(lambda kind: kind.shapeRange.SetInParent())),
    ),
    Case(
        "testStateFeature_ArrayUsesEnumeratedFlexibleShape_shouldFail",
        "a state of listed shapes",
        True,
        lambda: _stateful(_state_array(lambda kind: kind.enumeratedShapes.SetInParent())),
    ),
]

# ---- INT8


def _int8(version: int, default: int | None = None) -> Model:
    made = Model()
    kind = array(made.description.input, "x", INT8).type
    array(made.description.input, "a")
    array(made.description.output, "y")
    if default is not None:
        kind.multiArrayType.intDefaultValue = default
        kind.isOptional = True
    return programmed(made, version, "ios18")


OUT_OF_RANGE = "testArrayFeature_DefaultOptionalValueOutOfRange_shouldFail"
CASES += [
    Case("testArrayFeature_Int8_SpecificationVersion", "an INT8 input in the version 9", True, lambda: _int8(9)),
    Case("testArrayFeature_Int8_SpecificationVersion", "an INT8 input in the version 10", False, lambda: _int8(10)),
    Case(OUT_OF_RANGE, "the default value 1 of INT8", False, lambda: _int8(10, 1)),
    Case(OUT_OF_RANGE, "the default value 128 of INT8", True, lambda: _int8(10, 128)),
]

# ---- refusals of the functions that the tests call, in cases that no test there has

VALUES = "validateFeatureDescription"
NETWORK = "validateOptionalNN"


def _default(data_type: int, **default: float) -> Model:
    made = _taken(_elements(data_type, 4))
    for field, value in default.items():
        setattr(made.description.input[0].type.multiArrayType, f"{field}DefaultValue", value)
    made.description.input[0].type.isOptional = True
    array(made.description.input, "a")
    return programmed(made, NEWEST, "ios18")


def _unsized(edit: Edit, *cleared: str) -> Model:
    """A model whose input states no size of its own beside the ranges or the list."""

    def edited(each: FeatureDescription) -> None:
        edit(each)
        for field in cleared:
            (each.type.imageType if each.type.HasField("imageType") else each.type.multiArrayType).ClearField(field)

    return _taken(edited)


def _ranges_and_list() -> Model:
    made = _taken(_shapes((10, 5), (20, 5)))
    _shape_ranges((1, 20), (5, 5))(made.description.input.add(name="a"))
    return programmed(made, NEWEST)


def _lists(version: int, *others: tuple[int, ...]) -> Model:
    """A model with two inputs of listed shapes: of two, and of others."""
    made = _taken(_shapes((10, 5), (20, 5)))
    _shapes((10, 5), *others)(made.description.input.add(name="a"))
    return programmed(made, version)


def _all_optional(optional: int) -> Model:
    made = Model()
    for name in ("x", "a"):
        array(made.description.input, name)
    for entry in made.description.input[:optional]:
        entry.type.isOptional = True
    array(made.description.output, "y")
    return programmed(made, NEWEST)


def _edited(edit: Callable[[Model], object]) -> Model:
    made = _taken(_elements(FLOAT32, 1), 9)
    edit(made)
    return made


def _state_output(made: Model) -> None:
    made.description.output[0].type.ClearField("multiArrayType")
    made.description.output[0].type.stateType.arrayType.dataType = FLOAT16
    made.description.output[0].type.stateType.arrayType.shape.append(1)


CASES += [
    Case(
        VALUES,
        "an image without a size, of the listed 10 x 5 and 6 x 5",
        False,
        lambda: _unsized(_sizes((10, 5), (6, 5)), "width", "height"),
    ),
    Case(
        VALUES,
        "an image without a size, of a width of 2 to 9",
        False,
        lambda: _unsized(_size_ranges((2, 9)), "width", "height"),
    ),
    Case(
        VALUES,
        "an image without a size, of a width of 9 to 2",
        True,
        lambda: _unsized(_size_ranges((9, 2)), "width", "height"),
    ),
    Case(
        VALUES,
        "an image of no listed size",
        True,
        lambda: _taken(lambda each: (_image(COLOR.BGR)(each), each.type.imageType.enumeratedSizes.SetInParent())),
    ),
    Case(
        VALUES,
        "an input without a shape, of the listed [6, 2] and [10, 5]",
        False,
        lambda: _unsized(_shapes((6, 2), (10, 5)), "shape"),
    ),
    Case(
        VALUES,
        "an input without a shape, of ranges of 1 to 9, and 5 to 20",
        False,
        lambda: _unsized(_shape_ranges((1, 9), (5, 20)), "shape"),
    ),
    Case(
        VALUES,
        "an input without a shape, of ranges of 9 to 1, and 5 to 20",
        True,
        lambda: _unsized(_shape_ranges((9, 1), (5, 20)), "shape"),
    ),
    Case(
        VALUES,
        "an input of no listed shape",
        True,
        lambda: _taken(
            lambda each: (_elements(FLOAT32, 4)(each), each.type.multiArrayType.enumeratedShapes.SetInParent())
        ),
    ),
    Case(
        VALUES,
        "an input of a listed shape of no dimensions",
        True,
        lambda: _taken(
            lambda each: (_elements(FLOAT32, 4)(each), each.type.multiArrayType.enumeratedShapes.shapes.add())
        ),
    ),
    Case(VALUES, "an input of a shape of two dimensions, and one range", True, lambda: _taken(_shape_ranges((1, 20)))),
    Case(
        VALUES,
        "an input of the shape [-1]",
        True,
        lambda: _edited(lambda made: made.description.input[0].type.multiArrayType.shape.__setitem__(0, -1)),
    ),
    Case(VALUES, "a float default value of FLOAT32", False, lambda: _default(FLOAT32, float=1)),
    Case(VALUES, "a float default value of FLOAT16", False, lambda: _default(FLOAT16, float=1)),
    Case(VALUES, "a double default value of FLOAT32", True, lambda: _default(FLOAT32, double=1)),
    Case(VALUES, "a float default value of INT32", True, lambda: _default(INT32, float=1)),
    Case(VALUES, "an int default value of FLOAT16", True, lambda: _default(FLOAT16, int=1)),
    Case(VALUES, "a FLOAT16 input in the version 6", True, lambda: _taken(_elements(FLOAT16, 4), 6)),
    Case(VALUES, "a FLOAT16 input in the version 7", False, lambda: _taken(_elements(FLOAT16, 4), 7)),
    Case(
        VALUES,
        "an image of GRAYSCALE_FLOAT16 in the version 6",
        True,
        lambda: _taken(_image(COLOR.GRAYSCALE_FLOAT16), 6),
    ),
    Case(VALUES, "a multi-array among the states", True, lambda: _stateful(_elements(FLOAT16, 1))),
    Case(VALUES, "a state among the outputs", True, lambda: _edited(_state_output)),
    Case(
        VALUES,
        "a state with a default value",
        True,
        lambda: _stateful(_state_array(_setting("floatDefaultValue", 1))),
    ),
    Case(VALUES, "a state in the version 8, among the inputs", True, lambda: _stateful(version=8, side="input")),
    Case(NETWORK, "one of two inputs optional", False, lambda: _all_optional(1)),
    Case(NETWORK, "both inputs optional", True, lambda: _all_optional(2)),
    Case(
        "validateOptionalOutputs",
        "an optional output",
        True,
        lambda: _edited(lambda made: _optional(made.description.output[0])),
    ),
    Case(
        "validateFeatureDescriptions",
        "no outputs",
        True,
        lambda: _edited(lambda made: made.description.ClearField("output")),
    ),
    Case(
        "validateCanModelBeUpdatable",
        "an updatable ML Program",
        True,
        lambda: _edited(_setting("isUpdatable", True)),
    ),
    Case("validateGeneric", "the version 0", True, lambda: _edited(_setting("specificationVersion", 0))),
    Case("validateGeneric", "the version 11", True, lambda: _edited(_setting("specificationVersion", NEWEST + 1))),
    Case("MLNeuralNetworkUtilities", "an input of listed shapes beside one of ranges", True, _ranges_and_list),
]

ENUMERATED = "_validate_enumerated_shape_inputs"
CASES += [
    Case(ENUMERATED, "two inputs of listed shapes in the version 8", True, lambda: _lists(8, (30, 5))),
    Case(ENUMERATED, "two inputs of as many listed shapes in the version 9", False, lambda: _lists(9, (30, 5))),
    Case(ENUMERATED, "inputs of two and of three listed shapes", True, lambda: _lists(9, (30, 5), (40, 5))),
]

# ---- the reasons of `mlmodel/src/ResultReason.hpp`, which the validator of ML Programs gives; it is not public

PICTURE = (1, 3, 5, 6)


def _pictured(
    side: str, edit: Edit | None = None, program: tuple[int, ...] = PICTURE, data_type: int = FLOAT32
) -> Model:
    """A model with an image of 6 x 5 in BGR, whose value in the program is of the shape and data type."""
    made = Model()
    for each in ("input", "output"):
        array(getattr(made.description, each), each, data_type, program)
    programmed(made, NEWEST)
    kind = getattr(made.description, side)[0].type
    kind.ClearField("multiArrayType")
    kind.imageType.width, kind.imageType.height, kind.imageType.colorSpace = 6, 5, COLOR.BGR
    if edit is not None:
        edit(kind.imageType)
    return made


def _array_of(side: str, edit: Edit) -> Model:
    """A model of the shape [2, 3], whose description of one side follows the edit."""
    made = Model()
    for each in ("input", "output"):
        array(getattr(made.description, each), each, FLOAT32, (2, 3))
    programmed(made, NEWEST)
    edit(getattr(made.description, side))
    return made


def _multi(edit: Edit) -> Edit:
    return lambda entries: edit(entries[0].type.multiArrayType)


def _no_main() -> Model:
    made = _taken(_elements(FLOAT32, 1))
    made.mlProgram.functions["other"].CopyFrom(made.mlProgram.functions["main"])
    del made.mlProgram.functions["main"]
    return made


def _of_program(edit: Edit) -> Model:
    made = _taken(_elements(FLOAT32, 1))
    edit(made.mlProgram.functions["main"])
    return made


def _unknown_opset(function: Any) -> None:
    function.block_specializations["CoreML99"].CopyFrom(function.block_specializations[function.opset])
    del function.block_specializations[function.opset]
    function.opset = "CoreML99"


def _nameless_operation(function: Any) -> None:
    function.block_specializations[function.opset].operations[-1].type = "no_such_operation"


def _predicted(name: str) -> Model:
    return _edited(lambda made: setattr(made.description, "predictedFeatureName", name))


def _of_side(side: str) -> list[Case]:
    """Return the cases of the inputs, or of the outputs."""
    pictured, described = partial(_pictured, side), partial(_array_of, side)
    size, large = f"MODEL_MAIN_IMAGE_{side.upper()}_SIZE_BAD", f"MODEL_MAIN_{side.upper()}"
    rows: list[tuple[str, str, Callable[[], Model]]] = [
        (size, f"an image {side} of 7 x 5 for a value of 6 x 5", lambda: pictured(_setting("width", 7))),
        (size, f"an image {side} for a value of three dimensions", lambda: pictured(program=(3, 5, 6))),
        (size, f"an image {side} for a value of two images", lambda: pictured(program=(2, 3, 5, 6))),
        (size, f"an image {side} for a value with the channels last", lambda: pictured(program=(1, 5, 6, 3))),
        (
            size,
            f"an image {side} of GRAYSCALE for a value of three channels",
            lambda: pictured(_setting("colorSpace", COLOR.GRAYSCALE)),
        ),
        (size.replace("SIZE", "TYPE"), f"an image {side} for a value of int32", lambda: pictured(data_type=INT32)),
        (
            f"{large}_COUNT_MISMATCHED",
            f"an {side} of the description alone",
            lambda: described(lambda entries: array(entries, "ghost")),
        ),
        (
            f"{large}_COUNT_MISMATCHED",
            f"an {side} twice",
            lambda: described(lambda entries: entries.add().CopyFrom(entries[0])),
        ),
        (
            "MODEL_MAIN_INPUT_OUTPUT_MISSING",
            f"an {side} of another name",
            lambda: described(lambda entries: setattr(entries[0], "name", "z")),
        ),
        (
            f"{large}_RANK_MISMATCHED",
            f"an {side} of another rank",
            lambda: described(_multi(lambda kind: kind.shape.append(1))),
        ),
        (
            f"{large}_SHAPE_MISMATCHED",
            f"an {side} of another shape",
            lambda: described(_multi(lambda kind: kind.shape.__setitem__(0, 9))),
        ),
        (
            f"{large}_TYPE_MISMATCHED",
            f"an {side} of another data type",
            lambda: described(_multi(_setting("dataType", FLOAT16))),
        ),
    ]
    return [Case(reason, case, True, make) for reason, case, make in rows]


CASES += [*_of_side("input"), *_of_side("output")]
CASES += [
    Case("PROGRAM_MAIN_FUNCTION_MISSING", "a program without the function main", True, _no_main),
    Case("PROGRAM_NO_SUPPORTED_OPSET", "a program of an unknown opset", True, lambda: _of_program(_unknown_opset)),
    Case(
        "PROGRAM_VALIDATION_FAILED", "a program of an unknown operation", True, lambda: _of_program(_nameless_operation)
    ),
    Case("PROGRAM_CLASSIFIER_INCONSISTENT", "a predictedFeatureName of no output", True, lambda: _predicted("label")),
    Case("PROGRAM_CLASSIFIER_INCONSISTENT", "a predictedFeatureName of a multi-array", True, lambda: _predicted("y")),
]

# ---- pipelines, of PipelineValidator.cpp

PIPELINE = "validate, of pipelines"


def _chain(edit: Callable[[Model], object] | None = None, names: tuple[str, ...] = ()) -> Model:
    made = piped(unary("a", "b"), unary("b", "c"), names=names)
    if edit is not None:
        edit(made)
    return made


def _ungiven_option(made: Model) -> None:
    entry = array(made.pipeline.models[0].description.input, "z")
    entry.type.isOptional = True
    taken = made.pipeline.models[0].mlProgram.functions["main"].inputs
    taken.add().CopyFrom(taken[0])
    taken[-1].name = "z"
    entry.type.multiArrayType.CopyFrom(made.pipeline.models[0].description.input[0].type.multiArrayType)


def _shapeless(made: Model) -> None:
    made.pipeline.models[0].description.output[0].type.multiArrayType.ClearField("shape")


def _ranged_input(made: Model) -> None:
    for least, most in ((1, 1), (4, 4)):
        _inner(made).type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=least, upperBound=most)


def _inner(made: Model) -> Any:
    return made.pipeline.models[1].description.input[0]


CASES += [
    Case(PIPELINE, "a chain of two models", False, _chain),
    Case(PIPELINE, "no models", True, lambda: _chain(lambda made: made.pipeline.ClearField("models"))),
    Case(
        PIPELINE,
        "an input of a model that nothing gives",
        True,
        lambda: _chain(lambda made: setattr(made.description.input[0], "name", "z")),
    ),
    Case(
        PIPELINE,
        "an input of a model of another shape than its source",
        True,
        lambda: _chain(lambda made: _inner(made).type.multiArrayType.shape.append(1)),
    ),
    Case(
        PIPELINE,
        "an input of a model of another data type than its source",
        True,
        lambda: _chain(lambda made: setattr(_inner(made).type.multiArrayType, "dataType", FLOAT16)),
    ),
    Case(PIPELINE, "an optional input of a model that nothing gives", True, lambda: _chain(_ungiven_option)),
    Case(PIPELINE, "an input with a shape, whose source has none", True, lambda: _chain(_shapeless)),
    Case(PIPELINE, "an input of ranges, whose source has a shape", False, lambda: _chain(_ranged_input)),
    Case(
        PIPELINE,
        "an output that no model gives",
        True,
        lambda: _chain(lambda made: setattr(made.description.output[0], "name", "z")),
    ),
    Case(
        PIPELINE,
        "an output of another type than its source",
        True,
        lambda: _chain(lambda made: setattr(made.description.output[0].type.multiArrayType, "dataType", INT32)),
    ),
    Case(
        PIPELINE,
        "a model of the version 0",
        True,
        lambda: _chain(lambda made: setattr(made.pipeline.models[0], "specificationVersion", 0)),
    ),
    Case(
        PIPELINE,
        "an updatable model",
        True,
        lambda: _chain(lambda made: setattr(made.pipeline.models[1], "isUpdatable", True)),
    ),
    Case(
        PIPELINE,
        "an updatable pipeline of models that are not",
        True,
        lambda: _chain(_setting("isUpdatable", True)),
    ),
    Case(PIPELINE, "names of all models", False, lambda: _chain(names=("one", "two"))),
    Case(PIPELINE, "a name for one of two models", True, lambda: _chain(names=("one",))),
    Case(PIPELINE, "one name for both models", True, lambda: _chain(names=("one", "one"))),
]
