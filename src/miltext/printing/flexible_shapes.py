"""FlexibleShapeInformation: the attribute that Apple's compiler gives a function whose inputs have flexible shapes.

It is not in the proto; the compiler makes it from the model's description. Its form with ranges, seen in nine texts:

    (("DefaultShapes", {{"x", [1, 1]}}), ("RangeDims", {{"x", [[1, 1], [1, 8]]}}))

and with enumerated shapes, seen in one, where each key is an unpublished hash of eight hexadecimal digits:

    (("DefaultShapes", {{"x", [4]}}), ("EnumeratedShapes", {{"543d0f94", {{"x", [1]}}}, {"9e38c1a4", {{"x", [4]}}}}))

Numbers of eight digits stand in for the hashes here, so that every column is right. Inputs of a fixed shape are not
listed (seen in one text); the sorting of several inputs by name is unproven, and so are all facts about images.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from miltext.diagnostics import PrintError, codes, error
from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, ImageFeatureType, Value
from miltext.schema.types import DictionaryType, ListType, TensorType, TupleType
from miltext.schema.value_builders import STRING, Data, immediate, text_of

ATTRIBUTE = "FlexibleShapeInformation"

SHAPES = DictionaryType(STRING, TensorType("int32", (None,)))

SECTIONS = {
    "DefaultShapes": SHAPES,
    "EnumeratedShapes": DictionaryType(STRING, SHAPES),
    "RangeDims": DictionaryType(STRING, ListType(TensorType("int32", (2,)), None)),
}
"""The parts of the attribute, in order: a name, and the type of its value."""

KEYS = "numbers in place of the keys of enumerated shapes"
"""The doubt about enumerated shapes of any input."""

Sizes = list[int]


class Flexible(NamedTuple):
    """The allowed shapes of an input: `ranges` contains a least and a greatest size for each dimension, -1 for none.

    Without `shapes` and `ranges`, only the default is allowed. `doubts` are the unproven facts of the attribute made
    from them.
    """

    default: Sizes
    shapes: list[Sizes]
    ranges: list[Sizes]
    doubts: tuple[str, ...] = ()

    def allows(self, shape: Sequence[int]) -> bool:
        """Return whether a shape is allowed."""
        sizes = [*shape]
        if sizes == self.default or self.shapes:
            return sizes == self.default or sizes in self.shapes
        return len(sizes) == len(self.ranges) and all(map(_is_within, sizes, self.ranges))

    def allows_all(self, limits: Sequence[tuple[int, int]]) -> bool:
        """Return whether all shapes between a least and a greatest size for each dimension are allowed."""
        if self.ranges and not self.shapes:
            return all(self.allows(corner) for corner in zip(*limits, strict=True))
        if prod(greatest - least + 1 for least, greatest in limits) > len(self.shapes) + 1:
            return False
        return all(self.allows(shape) for shape in product(*(range(least, most + 1) for least, most in limits)))


def _is_within(size: int, limits: Sizes) -> bool:
    """Return whether a size is between a least and a greatest one, -1 for none."""
    least, greatest = limits
    return least <= size and (greatest < 0 or size <= greatest)


def shape_information(inputs: Iterable[FeatureDescription]) -> tuple[Value | None, list[str]]:
    """Return the attribute for a function's inputs, None for fixed shapes, and the unproven facts about it.

    Raise PrintError (MIL213) for a size that int32 does not hold.
    """
    features = sorted(inputs, key=lambda feature: feature.name.encode())
    read = {feature.name: flexible(feature) for feature in features}
    found = {name: each for name, each in read.items() if each is not None and (each.shapes or each.ranges)}
    for name, each in found.items():
        _refuse_wide(name, each)
    if not found:
        return None, []
    sections: dict[str, Data] = {
        "DefaultShapes": {name: each.default for name, each in found.items()},
        "EnumeratedShapes": _enumeration(found),
        "RangeDims": {name: each.ranges for name, each in found.items() if each.ranges},
    }
    sections = {name: section for name, section in sections.items() if section}
    parts = [TupleType((STRING, SECTIONS[name])) for name in sections]
    doubts = [f"{doubt} (`{name}`)" for name, each in found.items() for doubt in each.doubts]
    if len(sections) > 2:
        doubts.append("ranges beside enumerated shapes")
    return immediate(TupleType(tuple(parts)), list(sections.items())), doubts


def _enumeration(found: dict[str, Flexible]) -> dict[str, dict[str, Sizes]]:
    """Return the first shapes of all inputs that enumerate theirs, then the second ones, and so on."""
    listed = {name: each.shapes for name, each in found.items() if each.shapes}
    count = max(map(len, listed.values()), default=0)
    return {
        f"{index:08x}": {name: shapes[index] for name, shapes in listed.items() if index < len(shapes)}
        for index in range(count)
    }


def _refuse_wide(name: str, sizes: Flexible) -> None:
    limits = BY_NAME["int32"]
    each = [size for shape in (sizes.default, *sizes.shapes, *sizes.ranges) for size in shape]
    if not all(limits.minimum <= size <= limits.maximum for size in each):
        message = f"the input `{name}` has a size that the int32 of {ATTRIBUTE} cannot hold: correct the description"
        raise PrintError([error(codes.FLEXIBLE_SIZE_OUT_OF_RANGE, message)])


def read_information(attribute: Value | None) -> dict[str, Flexible]:
    """Return the contents of FlexibleShapeInformation, by the input's name; nothing in another form."""
    sections = {} if attribute is None else dict(filter(None, map(_section, attribute.immediateValue.tuple.values)))
    ranges = sections.get("RangeDims", {})
    enumerated = [_entries(each) for each in sections.get("EnumeratedShapes", {}).values()]
    return {
        name: Flexible(
            _sizes(default),
            [_sizes(each[name]) for each in enumerated if name in each],
            [_sizes(limits) for limits in ranges[name].immediateValue.list.values] if name in ranges else [],
        )
        for name, default in sections.get("DefaultShapes", {}).items()
    }


def information_of(attribute: Value | None, names: Collection[str]) -> Value | None:
    """Return a FlexibleShapeInformation with the entries of some inputs only; None if it has none of them."""
    found = read_information(attribute)
    if attribute is None or all(name in names for name in found):
        return attribute
    if not any(name in names for name in found):
        return None
    made = attribute.__class__()
    made.CopyFrom(attribute)
    parts, types = made.immediateValue.tuple.values, made.type.tupleType.types
    for place in reversed(range(len(parts))):
        _keep_entries(parts[place].immediateValue.tuple.values[1], names)
        if not parts[place].immediateValue.tuple.values[1].immediateValue.dictionary.values:
            del parts[place], types[place]
    return made


def _keep_entries(dictionary: Value, names: Collection[str]) -> None:
    """Keep the entries of some inputs in a part of the attribute; for enumerated shapes, under each key."""
    pairs = dictionary.immediateValue.dictionary.values
    for place in reversed(range(len(pairs))):
        is_key = pairs[place].value.immediateValue.WhichOneof("value") == "dictionary"
        if is_key:
            _keep_entries(pairs[place].value, names)
        if not _entries(pairs[place].value) if is_key else text_of(pairs[place].key) not in names:
            del pairs[place]


def say_the_same(one: Value, other: Value) -> bool:
    """Return whether two attributes are equal, apart from the keys of enumerated shapes, and so their order."""
    return _sections(one) == _sections(other)


def _sections(attribute: Value) -> tuple[object, ...]:
    read = read_information(attribute)
    listed = {name: each.shapes for name, each in sorted(read.items()) if each.shapes}
    rows = sorted(zip(*listed.values(), strict=False))
    counts = {name: len(shapes) for name, shapes in listed.items()}
    return {name: (each.default, each.ranges) for name, each in read.items()}, counts, rows


def _section(part: Value) -> tuple[str, dict[str, Value]] | None:
    """Return the name of a part of the attribute, and its value for each input or, of enumerated shapes, each key."""
    pair = part.immediateValue.tuple.values
    return (text_of(pair[0]), _entries(pair[1])) if len(pair) == 2 else None


def _entries(dictionary: Value) -> dict[str, Value]:
    return {text_of(pair.key): pair.value for pair in dictionary.immediateValue.dictionary.values}


def _sizes(value: Value) -> Sizes:
    return list(value.immediateValue.tensor.ints.values)


def flexible(feature: FeatureDescription) -> Flexible | None:
    """Return the allowed shapes of an array or an image; None for other types."""
    kind = feature.type.WhichOneof("Type")
    if kind == "multiArrayType":
        return _array(feature.type.multiArrayType)
    return _image(feature.type.imageType) if kind == "imageType" else None


def _array(array: ArrayFeatureType) -> Flexible:
    shapes = [list(shape.shape) for shape in array.enumeratedShapes.shapes]
    ranges = [[size.lowerBound, size.upperBound] for size in array.shapeRange.sizeRanges]
    return Flexible(default_shape(array), shapes, ranges, _doubts(shapes, ranges))


def default_shape(array: ArrayFeatureType) -> Sizes:
    """Return the shape of an array, or without one, Core ML's default: the first of its shapes, or the least sizes.

    Source: coremltools' `mlmodel/src/FeatureType.cpp`.
    """
    if array.shape:
        return list(array.shape)
    if array.enumeratedShapes.shapes:
        return list(array.enumeratedShapes.shapes[0].shape)
    return [size.lowerBound for size in array.shapeRange.sizeRanges]


def channels_of(image: ImageFeatureType) -> int:
    """Return the number of channels of an image; for Core ML, an image without a color space is RGB."""
    return 1 if image.colorSpace in (ImageFeatureType.GRAYSCALE, ImageFeatureType.GRAYSCALE_FLOAT16) else 3


def _image(image: ImageFeatureType) -> Flexible:
    """Return the tensor for an image in the program: a batch of 1, its channels, its height and its width."""
    channels = channels_of(image)
    shapes = [[1, channels, size.height, size.width] for size in image.enumeratedSizes.sizes]
    ranges: list[Sizes] = []
    if image.WhichOneof("SizeFlexibility") == "imageSizeRange":
        sides = image.imageSizeRange.heightRange, image.imageSizeRange.widthRange
        ranges = [[1, 1], [channels, channels], *([side.lowerBound, side.upperBound] for side in sides)]
    default = [1, channels, *_default_size(shapes, ranges, image)]
    return Flexible(default, shapes, ranges, ("images", *_doubts(shapes, ranges)))


def _default_size(shapes: list[Sizes], ranges: list[Sizes], image: ImageFeatureType) -> Sizes:
    """Return the height and the width of an image, or without both, Core ML's default, as for an array.

    Source: coremltools' `mlmodel/src/Validation/InterfaceValidators.cpp`.
    """
    if image.height > 0 and image.width > 0:
        return [image.height, image.width]
    if shapes:
        return shapes[0][2:]
    return [least for least, _ in ranges[2:]] or [image.height, image.width]


def _doubts(shapes: list[Sizes], ranges: list[Sizes]) -> tuple[str, ...]:
    doubts = {
        KEYS: bool(shapes),
        "a range without an end": any(greatest < 0 for _, greatest in ranges),
    }
    return tuple(doubt for doubt, applies in doubts.items() if applies)
