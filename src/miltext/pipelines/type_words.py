"""The form of a feature's type in a message: `fp32 [1, 4]`, `an image of 64 x 32, RGB`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.schema.features import COLORS, ELEMENTS, KINDS, word_of

if TYPE_CHECKING:
    from miltext.schema.proto import ArrayFeatureType, FeatureType

FLEXIBLE = {"shapeRange": " in ranges", "enumeratedShapes": " among others"}


def type_words(feature_type: FeatureType) -> str:
    """Return the form of a type in a message."""
    kind = feature_type.WhichOneof("Type") or ""
    words = KINDS.get(kind, "nothing")
    if kind == "multiArrayType":
        return _array(feature_type.multiArrayType)
    if kind == "stateType":
        return f"{words} of {_array(feature_type.stateType.arrayType)}"
    if kind == "imageType":
        image = feature_type.imageType
        return f"{words} of {image.width} x {image.height}, {word_of(image.colorSpace, COLORS) or image.colorSpace}"
    return words


def _array(array: ArrayFeatureType) -> str:
    shape = f" {list(array.shape)}" if array.shape else ""
    element = word_of(array.dataType, ELEMENTS) or array.dataType
    return f"{element}{shape}{FLEXIBLE.get(array.WhichOneof('ShapeFlexibility') or '', '')}"
