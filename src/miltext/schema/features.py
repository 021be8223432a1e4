"""How features of a description relate to MIL's types: the words and numbers for elements, colours and labels."""

from __future__ import annotations

from miltext.schema.proto import ArrayFeatureType, ImageFeatureType

ELEMENTS = {
    "fp16": ArrayFeatureType.FLOAT16,
    "fp32": ArrayFeatureType.FLOAT32,
    "fp64": ArrayFeatureType.DOUBLE,
    "int32": ArrayFeatureType.INT32,
    "int8": ArrayFeatureType.INT8,
}
"""The data types that a multi-array has."""

COLORS = {
    "GRAYSCALE": ImageFeatureType.GRAYSCALE,
    "RGB": ImageFeatureType.RGB,
    "BGR": ImageFeatureType.BGR,
    "GRAYSCALE_FLOAT16": ImageFeatureType.GRAYSCALE_FLOAT16,
}
"""The colour spaces that an image has, by their names in the schema."""

LABELS = ("string", "int64")
"""The data types of class labels, of which each is one: a scalar, or a key of the dictionary of probabilities."""

ANY_SIZE = -1
"""A range's upper bound where it has none."""
