"""What a feature's type is called in a message: `fp32 [1, 4]`, `an RGB image of 64 x 32`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.schema.proto import ArrayFeatureType, ImageFeatureType

if TYPE_CHECKING:
    from miltext.schema.proto import FeatureType

WORDS = {"int64Type": "an int64", "doubleType": "a double", "stringType": "a string"}
SHORT = {"FLOAT32": "fp32", "FLOAT16": "fp16", "DOUBLE": "fp64"}


def type_words(feature_type: FeatureType) -> str:
    """Return what a type is called."""
    kind = feature_type.WhichOneof("Type") or "nothing"
    if kind == "multiArrayType":
        return _array(feature_type.multiArrayType)
    if kind == "stateType":
        return f"a state of {_array(feature_type.stateType.arrayType)}"
    if kind == "imageType":
        image = feature_type.imageType
        color = _word(ImageFeatureType, "ColorSpace", image.colorSpace)
        return f"an image of {image.width} x {image.height}, {color}"
    return WORDS.get(kind, f"a {kind.removesuffix('Type')}")


def _array(array: ArrayFeatureType) -> str:
    dtype = _word(ArrayFeatureType, "ArrayDataType", array.dataType)
    shape = f" {list(array.shape)}" if array.shape else ""
    flexibility = {"shapeRange": " in ranges", "enumeratedShapes": " among others"}
    return f"{SHORT.get(dtype, dtype.lower())}{shape}{flexibility.get(array.WhichOneof('ShapeFlexibility') or '', '')}"


def _word(message: type[ArrayFeatureType | ImageFeatureType], enum: str, number: int) -> str:
    known = message.DESCRIPTOR.enum_types_by_name[enum].values_by_number.get(number)
    return known.name if known else str(number)
