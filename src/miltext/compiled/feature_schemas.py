"""The inputs, outputs and states of a model in `metadata.json`: for people and for Xcode, all values as text.

It is the reverse of `metadata_json`, which contains the words. Sources: the known compiled models, for arrays with and
without ranges, images of one size, doubles; fixtures of github.com/rebeckerspecialties/mlmodelc-export for enumerated
shapes; coremltools' `mlmodel/src/DataType.cpp` for the rest, without a known compiled model. States have no source.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from miltext.compiled.doubts import Doubt
from miltext.compiled.metadata_json import COLORS, ELEMENTS, KEY_TYPES, PLAIN_TYPES
from miltext.diagnostics.dynamic import Json
from miltext.printing.flexible_shapes import default_shape
from miltext.schema.proto import ImageFeatureType

if TYPE_CHECKING:
    from miltext.schema.proto import ArrayFeatureType, FeatureDescription, FeatureType, SizeRange

Entry = dict[str, Json]

_TIMES = " \N{MULTIPLICATION SIGN} "

_ELEMENT_NAMES = {number: name for name, number in ELEMENTS.items()}
_COLOR_NAMES = {number: name for name, number in COLORS.items()}
_PLAIN_NAMES = {field: name for name, field in PLAIN_TYPES.items()}
_KEY_NAMES = {field: name for name, field in KEY_TYPES.items()}

_SOURCE = "coremltools' mlmodel/src/DataType.cpp"
"""The source of the words for types without a known compiled model."""

_IN_SOURCE = ("dictionaryType", "imageType", "int64Type", "sequenceType", "stringType")

_GRAY = (ImageFeatureType.GRAYSCALE, ImageFeatureType.GRAYSCALE_FLOAT16)


def schemas(features: Iterable[FeatureDescription], key: str) -> tuple[list[Entry], list[Doubt]]:
    """Return the entries of features under a key, and doubts about unseen ones."""
    entries: list[Entry] = []
    doubts: list[Doubt] = []
    for feature in features:
        shown, unseen = _type(feature.type)
        common = {"name": feature.name, "shortDescription": feature.shortDescription}
        entries.append({**common, "isOptional": str(int(feature.type.isOptional)), **shown})
        if unseen:
            source = _SOURCE if feature.type.WhichOneof("Type") in _IN_SOURCE else ""
            what = f"how metadata.json shows {unseen} (`{feature.name}`)"
            doubts.append(Doubt(what, (key, feature.name), source=source))
    return entries, doubts


def _type(made: FeatureType) -> tuple[Entry, str]:
    """Return the entry of a type, and its name if no compiled model shows it."""
    kind = made.WhichOneof("Type")
    if kind == "multiArrayType":
        return _array(made.multiArrayType)
    if kind == "imageType":
        return _image(made.imageType)
    if kind == "stateType":
        shown, _ = _array(made.stateType.arrayType)
        del shown["hasShapeFlexibility"]
        inner = shown["formattedType"].removeprefix("MultiArray ")
        return {**shown, "type": "State", "formattedType": f"State {inner}"}, "a state"
    if kind == "dictionaryType":
        key = _KEY_NAMES.get(made.dictionaryType.WhichOneof("KeyType") or "", "")
        return {
            "type": "Dictionary",
            "keyType": key,
            "formattedType": f"Dictionary ({key} \N{RIGHTWARDS ARROW} Double)",
        }, "a dictionary"
    name = _PLAIN_NAMES.get(kind or "", "")
    if name:
        return {"type": name, "formattedType": name}, "" if kind == "doubleType" else f"a feature of type {name}"
    return {"type": "Sequence", "formattedType": "Sequence"}, "a feature of this type"


def _array(array: ArrayFeatureType) -> tuple[Entry, str]:
    dtype, shape = _ELEMENT_NAMES.get(array.dataType, ""), default_shape(array)
    sizes = f" {_TIMES.join(map(str, shape))}" if shape else ""
    shown: Entry = {
        "type": "MultiArray",
        "dataType": dtype,
        "shape": _listed(shape),
        "formattedType": f"MultiArray ({dtype}{sizes})",
        "hasShapeFlexibility": "0",
    }
    flexibility = array.WhichOneof("ShapeFlexibility")
    if flexibility == "shapeRange":
        ranges = list(array.shapeRange.sizeRanges)
        shown |= {"hasShapeFlexibility": "1", "shapeFlexibility": _spans(ranges), "shapeRange": _ranges(ranges)}
    elif flexibility == "enumeratedShapes":
        shapes = [list(each.shape) for each in array.enumeratedShapes.shapes]
        written = " | ".join(_TIMES.join(map(str, each)) for each in shapes)
        shown |= {"hasShapeFlexibility": "1", "shapeFlexibility": written, "enumeratedShapes": _listed(shapes)}
    return shown, "" if dtype else "an array of this data type"


def _image(image: ImageFeatureType) -> tuple[Entry, str]:
    color, is_gray = _COLOR_NAMES.get(image.colorSpace, ""), image.colorSpace in _GRAY
    shown: Entry = {
        "type": "Image",
        "width": str(image.width),
        "height": str(image.height),
        "colorspace": color or "Grayscale16Half",
        "isColor": str(int(not is_gray)),
        "formattedType": f"Image ({'Grayscale' if is_gray else 'Color'} {image.width}{_TIMES}{image.height})",
        "hasSizeFlexibility": "0",
    }
    flexibility = image.WhichOneof("SizeFlexibility")
    if flexibility == "imageSizeRange":
        ranges = [image.imageSizeRange.widthRange, image.imageSizeRange.heightRange]
        shown |= {"hasSizeFlexibility": "1", "sizeFlexibility": _spans(ranges), "sizeRange": _ranges(ranges)}
    elif flexibility == "enumeratedSizes":
        sizes = [[size.width, size.height] for size in image.enumeratedSizes.sizes]
        written = " | ".join(_TIMES.join(map(str, each)) for each in sizes)
        shown |= {"hasSizeFlexibility": "1", "sizeFlexibility": written, "enumeratedSizes": _listed(sizes)}
    is_seen = image.colorSpace == ImageFeatureType.RGB and flexibility is None
    return shown, "" if is_seen else "an image that is flexible, or not RGB"


def _spans(ranges: list[SizeRange]) -> str:
    """Return ranges in people's form: a size, the first and the last, or the first alone without a last."""
    return _TIMES.join(map(_span, ranges))


def _span(size: SizeRange) -> str:
    if size.upperBound < 0:
        return f"{size.lowerBound}..."
    one = size.lowerBound == size.upperBound
    return str(size.lowerBound) if one else f"{size.lowerBound}...{size.upperBound}"


def _ranges(ranges: list[SizeRange]) -> str:
    return _listed([[size.lowerBound, size.upperBound] for size in ranges])


def _listed(numbers: list[Json]) -> str:
    return str(numbers)
