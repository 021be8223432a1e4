"""The relation of a description's features to MIL's types: the words and numbers for elements, colours and labels."""

from __future__ import annotations

from collections.abc import Mapping

from miltext.schema.proto import ArrayFeatureType, FunctionDescription, ImageFeatureType, ModelDescription

ELEMENTS = {
    "fp16": ArrayFeatureType.FLOAT16,
    "fp32": ArrayFeatureType.FLOAT32,
    "fp64": ArrayFeatureType.DOUBLE,
    "int32": ArrayFeatureType.INT32,
    "int8": ArrayFeatureType.INT8,
}
"""The data types of multi-arrays."""

COLORS = {
    "GRAYSCALE": ImageFeatureType.GRAYSCALE,
    "RGB": ImageFeatureType.RGB,
    "BGR": ImageFeatureType.BGR,
    "GRAYSCALE_FLOAT16": ImageFeatureType.GRAYSCALE_FLOAT16,
}
"""The colour spaces of images, by their names in the schema."""

IMAGE_ELEMENTS = ("fp32", "fp16")
"""The data types of tensors for images outside of the program: coremltools 9.0 makes fp16 of GRAYSCALE_FLOAT16, else
fp32 (`converters/mil/input_types.py`).
"""

DEFAULT_FIELDS = {
    ArrayFeatureType.FLOAT16: "floatDefaultValue",
    ArrayFeatureType.FLOAT32: "floatDefaultValue",
    ArrayFeatureType.DOUBLE: "doubleDefaultValue",
    ArrayFeatureType.INT32: "intDefaultValue",
    ArrayFeatureType.INT8: "intDefaultValue",
}
"""The field of a multi-array's default value, by its data type."""

LABEL_ELEMENTS = ("string", "int64")
"""The data types of class labels, in a scalar or as keys of the dictionary of probabilities."""

ANY_SIZE = -1
"""The upper bound of a range without an end."""

PREDICTIONS = ("predictedFeatureName", "predictedProbabilitiesName")
"""The fields of a description that name the outputs of a classifier."""

KINDS = {
    "int64Type": "an integer",
    "doubleType": "a number",
    "stringType": "a string",
    "imageType": "an image",
    "multiArrayType": "a multi-array",
    "dictionaryType": "a dictionary",
    "sequenceType": "a sequence",
    "stateType": "a state",
}
"""Names of the types of an entry, in words."""


def word_of(number: int, words: Mapping[str, int]) -> str:
    """Return the word for a number; empty if it has none."""
    return next((word for word, known in words.items() if known == number), "")


def features(description: ModelDescription) -> ModelDescription | FunctionDescription:
    """Return the description with the features of a model: its own, or its default function's."""
    functions = {function.name: function for function in description.functions}
    default = functions.get(description.defaultFunctionName)
    return description if default is None else default


def function_features(description: ModelDescription, function: str) -> ModelDescription | FunctionDescription:
    """Return the description with the features of a function: its own, or the model's, which has a single function."""
    return next((each for each in description.functions if each.name == function), description)
