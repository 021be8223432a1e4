"""Contradictions between the types of a description and of its program: elements, shapes, images, sizes, states."""

from __future__ import annotations

from typing import Any

from support.contradictions.contradicted import Case, Inapplicable, contradiction, equivalent, is_array, is_fixed, some

from miltext.schema.features import COLORS, DEFAULT_FIELDS, ELEMENTS
from miltext.schema.proto import ArrayFeatureType

SAME = "a feature has the type of its value in the program"
SIZES = "the sizes of a feature are among those of its value in the program"
GRAY = (COLORS["GRAYSCALE"], COLORS["GRAYSCALE_FLOAT16"])


# ---- elements and kinds


@contradiction("interface", "other elements", SAME)
def _other_elements(case: Case) -> str:
    entry, array = case.array("input", "output")
    array.dataType = case.pick(each for each in ELEMENTS.values() if each != array.dataType)
    return f"`{entry.name}` has the data type {array.dataType}"


@contradiction("interface", "elements of no type", "FeatureTypes.proto: INVALID_ARRAY_DATA_TYPE is no type")
def _no_elements(case: Case) -> str:
    entry, array = case.array("input", "output")
    array.dataType = 0
    return f"`{entry.name}` has no data type"


@contradiction("interface", "no type", "a feature has a type")
def _no_type(case: Case) -> str:
    entry = case.entry("input", "output", "state")
    entry.type.Clear()
    return f"`{entry.name}` has no type"


@contradiction("interface", "a scalar kind", "a tensor is a multi-array or an image")
def _scalar_kind(case: Case) -> str:
    entry = case.entry("input", "output", where=is_array)
    kind = case.pick(["int64Type", "doubleType", "stringType"])
    getattr(entry.type, kind).SetInParent()
    return f"`{entry.name}` is of {kind}"


@contradiction("interface", "a collection", "a tensor is a multi-array or an image")
def _collection(case: Case) -> str:
    entry = case.entry("input", "output", where=is_array)
    kind = case.pick(["dictionaryType", "sequenceType"])
    inner = getattr(entry.type, kind)
    (inner.stringKeyType if kind == "dictionaryType" else inner.stringType).SetInParent()
    return f"`{entry.name}` is of {kind}"


@contradiction("interface", "an array for a label", "a label is a string or an integer, its probabilities a dictionary")
def _array_for_label(case: Case) -> str:
    kinds = ("stringType", "int64Type", "dictionaryType")
    entry = case.entry("output", where=lambda each: each.type.WhichOneof("Type") in kinds)
    entry.type.multiArrayType.dataType = ELEMENTS["fp32"]
    entry.type.multiArrayType.shape.append(1)
    return f"`{entry.name}` is an array"


# ---- shapes


@contradiction("interface", "another size", SIZES)
def _another_size(case: Case) -> str:
    entry, array = case.array("input", "output", where=is_fixed)
    index = case.random.randrange(len(array.shape))
    array.shape[index] += case.pick([1, 7, -1] if array.shape[index] > 1 else [1, 7])
    return f"`{entry.name}` has the shape {[*array.shape]}"


@contradiction("interface", "a size of zero or less", "a size is at least 1")
def _no_size(case: Case) -> str:
    entry, array = case.array("input", "output", where=is_fixed)
    array.shape[case.random.randrange(len(array.shape))] = case.pick([0, -1])
    return f"`{entry.name}` has the shape {[*array.shape]}"


@contradiction("interface", "a dimension more", SIZES)
def _dimension_more(case: Case) -> str:
    entry, array = case.array("input", "output", where=is_fixed)
    array.shape.insert(case.random.randint(0, len(array.shape)), 1)
    return f"`{entry.name}` has the shape {[*array.shape]}"


@contradiction("interface", "a dimension less", SIZES)
def _dimension_less(case: Case) -> str:
    entry, array = case.array("input", "output", where=lambda each: is_fixed(each) and len(each.shape) > 1)
    del array.shape[case.random.randrange(len(array.shape))]
    return f"`{entry.name}` has the shape {[*array.shape]}"


@contradiction("interface", "two sizes exchanged", SIZES)
def _sizes_exchanged(case: Case) -> str:
    entry, array = case.array("input", "output", where=lambda each: is_fixed(each) and len({*each.shape}) > 1)
    before = [*array.shape]
    first, second = case.pick([(a, b) for a in range(len(before)) for b in range(a) if before[a] != before[b]])
    array.shape[first], array.shape[second] = before[second], before[first]
    return f"`{entry.name}` has the shape {[*array.shape]}"


@contradiction("interface", "an input without a shape", "the shape of a multi-array input is required in an ML Program")
def _no_shape(case: Case) -> str:
    entry, array = case.array("input", where=is_fixed)
    array.ClearField("shape")
    return f"`{entry.name}` has no shape"


# ---- flexible sizes


@contradiction("interface", "a range of a fixed size", SIZES)
def _range_of_fixed(case: Case) -> str:
    entry, array = case.array("input", where=is_fixed)
    chosen = case.random.randrange(len(array.shape))
    for index, size in enumerate(array.shape):
        array.shapeRange.sizeRanges.add(lowerBound=size, upperBound=size + (5 if index == chosen else 0))
    return f"`{entry.name}` has a range"


def _ranged(array: Any) -> bool:
    return bool(array.WhichOneof("ShapeFlexibility") == "shapeRange")


def _open(case: Case) -> tuple[Any, Any, int]:
    """Return an entry with ranges, its array, and the index of a range of several sizes."""
    entry, array = case.array("input", where=_ranged)
    ranges = array.shapeRange.sizeRanges
    return (
        entry,
        array,
        case.pick(at for at, each in enumerate(ranges) if each.upperBound not in range(each.lowerBound + 1)),
    )


@contradiction("interface", "a range upside down", "a lower bound is not above its upper bound")
def _range_upside_down(case: Case) -> str:
    entry, array, index = _open(case)
    bounds = array.shapeRange.sizeRanges[index]
    bounds.lowerBound = abs(bounds.upperBound) + 3
    bounds.upperBound = bounds.lowerBound - 1
    return f"`{entry.name}` has the range {bounds.lowerBound} to {bounds.upperBound}"


@contradiction("interface", "a shape outside its range", "the default shape is one of the range")
def _outside_range(case: Case) -> str:
    entry, array, index = _open(case)
    bounds = array.shapeRange.sizeRanges[index]
    array.shape[index] = bounds.upperBound + 1 if bounds.upperBound > 0 else bounds.lowerBound - 1
    return f"`{entry.name}` has the shape {[*array.shape]}"


@contradiction("interface", "a range more", "there is a range for each dimension")
def _range_more(case: Case) -> str:
    entry, array = case.array("input", where=_ranged)
    array.shapeRange.sizeRanges.add(lowerBound=1, upperBound=1)
    return f"`{entry.name}` has {len(array.shapeRange.sizeRanges)} ranges"


@contradiction("interface", "a range less", "there is a range for each dimension")
def _range_less(case: Case) -> str:
    entry, array = case.array("input", where=_ranged)
    del array.shapeRange.sizeRanges[case.random.randrange(len(array.shapeRange.sizeRanges))]
    return f"`{entry.name}` has {len(array.shapeRange.sizeRanges)} ranges"


@contradiction("interface", "a fixed size in a range given others", SIZES)
def _fixed_in_range(case: Case) -> str:
    entry, array = case.array("input", where=_ranged)
    ranges = array.shapeRange.sizeRanges
    value = _declared(case, entry.name)
    fixed = [at for at, each in enumerate(value.dimensions) if each.HasField("constant")]
    bounds = ranges[case.pick(fixed)]
    bounds.upperBound += 4
    return f"`{entry.name}` has the range {bounds.lowerBound} to {bounds.upperBound}"


def _declared(case: Case, name: str) -> Any:
    return case.pick(each for each in case.function.inputs if each.name == name).type.tensorType


def _enumerated(array: Any) -> bool:
    return bool(array.WhichOneof("ShapeFlexibility") == "enumeratedShapes")


@contradiction("interface", "an enumeration without the default shape", "the default shape is one of those enumerated")
def _without_default(case: Case) -> str:
    entry, array = case.array("input", where=lambda each: _enumerated(each) or is_fixed(each))
    shapes = array.enumeratedShapes.shapes
    kept = [[*each.shape] for each in shapes if [*each.shape] != [*array.shape]]
    del shapes[:]
    for each in kept or [[size + 1 for size in array.shape]]:
        shapes.add().shape.extend(each)
    return f"`{entry.name}` has an enumeration without {[*array.shape]}"


@contradiction("interface", "an enumerated shape of another rank", SIZES)
def _enumerated_rank(case: Case) -> str:
    entry, array = case.array("input", where=_enumerated)
    case.pick(array.enumeratedShapes.shapes).shape.append(1)
    return f"`{entry.name}` has a shape of another rank"


@contradiction("interface", "an enumerated shape with another fixed size", SIZES)
def _enumerated_fixed(case: Case) -> str:
    entry, array = case.array("input", where=_enumerated)
    value = _declared(case, entry.name)
    index = case.pick(at for at, each in enumerate(value.dimensions) if each.HasField("constant"))
    case.pick(array.enumeratedShapes.shapes).shape[index] += 2
    return f"`{entry.name}` has an enumerated shape that does not fit"


@contradiction("interface", "an enumeration of nothing", "an enumeration has shapes")
def _enumerated_nothing(case: Case) -> str:
    entry, array = case.array("input", where=_enumerated)
    del array.enumeratedShapes.shapes[:]
    array.enumeratedShapes.SetInParent()
    return f"`{entry.name}` enumerates nothing"


@contradiction("interface", "fixed sizes in place of none known", "an unknown size needs a range or an enumeration")
def _no_longer_flexible(case: Case) -> str:
    entry, array = case.array("input", where=lambda each: _ranged(each) or _enumerated(each))
    array.ClearField(array.WhichOneof("ShapeFlexibility"))
    array.ClearField("shape")
    return f"`{entry.name}` has neither a shape nor sizes"


# ---- optional inputs


@contradiction("interface", "an optional output", "only inputs are optional")
def _optional_output(case: Case) -> str:
    entry = case.entry("output")
    entry.type.isOptional = True
    return f"the output `{entry.name}` is optional"


@contradiction("interface", "a default of another type", "FeatureTypes.proto: the default value is of the data type")
def _other_default(case: Case) -> str:
    entry, array = case.array("input")
    field = DEFAULT_FIELDS[array.dataType]
    if array.WhichOneof("defaultOptionalValue") != field and entry.type.isOptional:
        raise Inapplicable
    other = case.pick({*DEFAULT_FIELDS.values()} - {field})
    entry.type.isOptional = True
    setattr(array, other, 3)
    return f"`{entry.name}` has a {other}"


@contradiction("interface", "a default out of range", "InterfaceValidators.cpp: an INT8 has 8 bits")
def _default_out_of_range(case: Case) -> str:
    entry, array = case.array("input", where=lambda each: each.dataType == ELEMENTS["int8"])
    entry.type.isOptional = True
    array.intDefaultValue = case.pick([-129, 128, 2**31 - 1])
    return f"`{entry.name}` has the default {array.intDefaultValue}"


@contradiction("interface", "no input that is required", "InterfaceValidators.cpp: one of the inputs is not optional")
def _all_optional(case: Case) -> str:
    inputs = case.model.description.input
    for entry in some(inputs):
        entry.type.isOptional = True
    return f"{', '.join(f'`{entry.name}`' for entry in inputs)} are optional"


@contradiction("interface", "an enumeration beside a range", "Core ML refuses a mixture of the two")
def _mixture(case: Case) -> str:
    some(each for each in case.described.input if is_array(each) and _ranged(each.type.multiArrayType))
    entry, array = case.array("input", where=is_fixed)
    array.enumeratedShapes.shapes.add().shape.extend(array.shape)
    return f"`{entry.name}` has an enumeration"


# ---- images


@contradiction("images", "another height or width", SIZES)
def _image_size(case: Case) -> str:
    entry, image = case.image("input", "output")
    if image.WhichOneof("SizeFlexibility"):
        raise Inapplicable
    field = case.pick(["height", "width"])
    setattr(image, field, getattr(image, field) + case.pick([1, 93]))
    return f"the {field} of `{entry.name}` is {getattr(image, field)}"


@contradiction("images", "height and width exchanged", SIZES)
def _image_turned(case: Case) -> str:
    entry, image = case.image("input", "output")
    if image.height == image.width or image.WhichOneof("SizeFlexibility"):
        raise Inapplicable
    image.height, image.width = image.width, image.height
    return f"`{entry.name}` is turned"


@contradiction("images", "no height or width", "an image has a size")
def _image_nothing(case: Case) -> str:
    entry, image = case.image("input", "output")
    if image.WhichOneof("SizeFlexibility"):
        raise Inapplicable
    setattr(image, case.pick(["height", "width"]), 0)
    return f"`{entry.name}` has no size"


@contradiction("images", "channels of another colour space", "RGB and BGR have 3 channels, grayscale has 1")
def _image_channels(case: Case) -> str:
    entry, image = case.image("input", "output")
    image.colorSpace = case.pick(COLORS[each] for each in ("RGB", "BGR")) if image.colorSpace in GRAY else GRAY[0]
    return f"`{entry.name}` has the colour space {image.colorSpace}"


@contradiction("images", "no colour space, or an unknown one", "FeatureTypes.proto: INVALID_COLOR_SPACE is none")
def _image_unknown(case: Case) -> str:
    entry, image = case.image("input", "output")
    image.colorSpace = case.pick([0, 15, 99])
    return f"`{entry.name}` has the colour space {image.colorSpace}"


@contradiction("images", "an image of a tensor that is none", "an image is a tensor [1, channels, height, width]")
def _not_an_image(case: Case) -> str:
    def is_none(array: Any) -> bool:
        return is_fixed(array) and (len(array.shape) != 4 or array.shape[0] != 1 or array.shape[1] not in (1, 3))

    entry, array = case.array("input", "output", where=is_none)
    height, width = [*array.shape, 1, 1][-2:] if len(array.shape) < 2 else array.shape[-2:]
    image = entry.type.imageType
    image.height, image.width, image.colorSpace = height, width, COLORS[case.pick(COLORS)]
    return f"`{entry.name}` is an image"


@contradiction("images", "an image of integers", "images are floats in the program")
def _image_of_integers(case: Case) -> str:
    name = case.image("input")[0].name
    for each in case.function.inputs:
        if each.name == name:
            each.type.tensorType.dataType = 23  # int32
    return f"`{name}` is int32 in the program"


@contradiction("images", "sizes of an image of one size", SIZES)
def _image_flexible(case: Case) -> str:
    entry, image = case.image("input")
    if image.WhichOneof("SizeFlexibility"):
        raise Inapplicable
    for each, size in (
        (image.imageSizeRange.widthRange, image.width),
        (image.imageSizeRange.heightRange, image.height),
    ):
        each.lowerBound, each.upperBound = size, size + 8
    return f"`{entry.name}` has ranges"


@contradiction("images", "an image outside its sizes", "the default size is one of those allowed")
def _image_outside(case: Case) -> str:
    entry, image = case.image("input")
    kind = image.WhichOneof("SizeFlexibility")
    if kind is None:
        raise Inapplicable
    image.width = 7777
    if kind == "imageSizeRange":
        image.imageSizeRange.widthRange.lowerBound, image.imageSizeRange.widthRange.upperBound = 4, 5
    return f"`{entry.name}` has the width 7777"


@contradiction("images", "a range of an image upside down", "a lower bound is not above its upper bound")
def _image_upside_down(case: Case) -> str:
    entry, image = case.image("input")
    if image.WhichOneof("SizeFlexibility") != "imageSizeRange":
        raise Inapplicable
    bounds = getattr(image.imageSizeRange, case.pick(["widthRange", "heightRange"]))
    bounds.lowerBound, bounds.upperBound = 20, 10
    return f"`{entry.name}` has the range 20 to 10"


# ---- states


def _state(case: Case) -> tuple[Any, Any]:
    entry = case.entry("state")
    return entry, entry.type.stateType.arrayType


@contradiction("states", "a state of another size", SIZES)
def _state_size(case: Case) -> str:
    entry, array = _state(case)
    array.shape[case.random.randrange(len(array.shape))] += 1
    return f"the state `{entry.name}` has the shape {[*array.shape]}"


@contradiction("states", "a state of another rank", SIZES)
def _state_rank(case: Case) -> str:
    entry, array = _state(case)
    array.shape.append(1)
    return f"the state `{entry.name}` has the shape {[*array.shape]}"


@contradiction("states", "a state of other elements", SAME)
def _state_elements(case: Case) -> str:
    entry, array = _state(case)
    array.dataType = case.pick([ArrayFeatureType.FLOAT32, ArrayFeatureType.INT32, ArrayFeatureType.DOUBLE, 0])
    return f"the state `{entry.name}` has the data type {array.dataType}"


@contradiction("states", "an array for a state", "Model.proto: a state is of the type stateType")
def _state_array(case: Case) -> str:
    entry, array = _state(case)
    entry.type.multiArrayType.CopyFrom(type(array).FromString(array.SerializeToString()))
    return f"the state `{entry.name}` is an array"


@contradiction("states", "a state without its array", "FeatureTypes.proto: a state is of an array")
def _state_nothing(case: Case) -> str:
    entry, _ = _state(case)
    entry.type.stateType.Clear()
    entry.type.stateType.SetInParent()
    return f"the state `{entry.name}` has no type"


@contradiction("states", "a state for an input", "an input that the program does not keep is no state")
def _input_state(case: Case) -> str:
    entry, array = case.array("input")
    entry.type.stateType.arrayType.CopyFrom(type(array).FromString(array.SerializeToString()))
    return f"the input `{entry.name}` has the type of a state"


@contradiction("states", "an optional state", "InterfaceValidators.cpp: a state is not optional")
def _state_optional(case: Case) -> str:
    entry, _ = _state(case)
    entry.type.isOptional = True
    return f"the state `{entry.name}` is optional"


@contradiction("states", "a flexible state", "InterfaceValidators.cpp: a state has one shape")
def _state_flexible(case: Case) -> str:
    entry, array = _state(case)
    kind = case.pick(["enumeratedShapes", "shapeRange"])
    getattr(array, kind).SetInParent()
    return f"the state `{entry.name}` has an {kind}"


@contradiction("states", "a default of a state", "InterfaceValidators.cpp: a state has no default value")
def _state_default(case: Case) -> str:
    entry, array = _state(case)
    array.floatDefaultValue = 1
    return f"the state `{entry.name}` has a default"


@contradiction("states", "a state without a shape", "InterfaceValidators.cpp: a state has a shape")
def _state_shapeless(case: Case) -> str:
    entry, array = _state(case)
    array.ClearField("shape")
    return f"the state `{entry.name}` has no shape"


# ---- any value is right


@equivalent("interface", "an enumeration without a shape of its own", "FeatureTypes.proto: the first is the default")
def _enumerated_alone(case: Case) -> str:
    case.require_no_stages()
    entry, array = case.array("input", where=_enumerated)
    array.ClearField("shape")
    return f"`{entry.name}` has its enumeration alone"


@equivalent("interface", "a range without a shape of its own", "FeatureTypes.proto: the lower bounds are the default")
def _ranged_alone(case: Case) -> str:
    case.require_no_stages()
    entry, array = case.array("input", where=_ranged)
    array.ClearField("shape")
    return f"`{entry.name}` has its ranges alone"


@equivalent("images", "a flexible image without a size of its own", "InterfaceValidators.cpp: the sizes give one")
def _image_alone(case: Case) -> str:
    case.require_no_stages()
    entry, image = case.image("input")
    if not image.WhichOneof("SizeFlexibility"):
        raise Inapplicable
    image.ClearField("width")
    image.ClearField("height")
    return f"`{entry.name}` has its sizes alone"


@equivalent("interface", "a narrower range", "a model may take less than its program can")
def _narrower(case: Case) -> str:
    case.require_no_stages()
    entry, array, index = _open(case)
    bounds = array.shapeRange.sizeRanges[index]
    bounds.lowerBound = bounds.upperBound = array.shape[index]
    return f"`{entry.name}` has one size"


@equivalent("interface", "another enumerated shape", "a program of unknown sizes takes any")
def _more_enumerated(case: Case) -> str:
    case.require_no_stages()
    entry, array = case.array("input", where=_enumerated)
    value = _declared(case, entry.name)
    fixed = len([each for each in some(case.described.input) if each.type.multiArrayType.HasField("enumeratedShapes")])
    if fixed > 1:
        raise Inapplicable
    sizes = [each.constant.size if each.HasField("constant") else 9 for each in value.dimensions]
    array.enumeratedShapes.shapes.add().shape.extend(sizes)
    return f"`{entry.name}` has the shape {sizes}"


@equivalent("images", "RGB for BGR", "both have three channels, and the program's weights decide which it is")
def _colours_exchanged(case: Case) -> str:
    case.require_no_stages()
    entry, image = case.image("input", "output")
    if image.colorSpace in GRAY:
        raise Inapplicable
    image.colorSpace = COLORS["RGB"] + COLORS["BGR"] - image.colorSpace
    return f"`{entry.name}` has the colour space {image.colorSpace}"


@equivalent("images", "an array for an image", "each image is a tensor, which can be described as such")
def _array_for_image(case: Case) -> str:
    case.require_no_stages()
    entry, image = case.image("input")
    if image.WhichOneof("SizeFlexibility") or image.colorSpace == COLORS["GRAYSCALE_FLOAT16"]:
        raise Inapplicable
    channels, height, width = 1 if image.colorSpace in GRAY else 3, image.height, image.width
    declared = _declared(case, entry.name)
    if declared.dataType != 11:  # fp32
        raise Inapplicable
    entry.type.multiArrayType.dataType = ArrayFeatureType.FLOAT32
    entry.type.multiArrayType.shape.extend([1, channels, height, width])
    return f"`{entry.name}` is an array"


@equivalent("interface", "another default value", "any number of the type is one")
def _another_default(case: Case) -> str:
    case.require_no_stages()
    entry, array = case.array("input", where=lambda each: each.WhichOneof("defaultOptionalValue"))
    setattr(array, array.WhichOneof("defaultOptionalValue"), 5)
    return f"`{entry.name}` has another default"
