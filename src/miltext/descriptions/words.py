"""The words of a description: for each table its keys, and the place of each in the schema's messages.

The words are the schema's own nouns; the fields in a oneof of a feature's type are beside `type`.
"""

from __future__ import annotations

from miltext.descriptions.forms import (
    INT32,
    SIZES,
    Choice,
    Default,
    Flag,
    Form,
    ImageSizes,
    Member,
    Number,
    Range,
    Ranges,
    RequiredText,
    Shape,
    Shapes,
    Text,
)
from miltext.schema.features import COLORS, ELEMENTS, PREDICTIONS

UNSPELLED = "unspelled"
"""The key of parts without words: bytes as hexadecimal digits, which are merged into the table's message."""

LABELS = "classLabels"

TYPES = {
    "image": "imageType",
    "multiArray": "multiArrayType",
    "int64": "int64Type",
    "double": "doubleType",
    "string": "stringType",
    "dictionary": "dictionaryType",
    "sequence": "sequenceType",
    "state": "stateType",
}
"""The words for `type`, and their members of FeatureType."""

Words = dict[str, Form]


def _array(way: str) -> Words:
    return {
        "dataType": Choice(f"{way}.dataType", ELEMENTS),
        "shape": Shape(f"{way}.shape"),
        "enumeratedShapes": Shapes(f"{way}.enumeratedShapes", "shapes"),
        "shapeRange": Ranges(f"{way}.shapeRange", "sizeRanges"),
        "default": Default(f"{way}.default"),
    }


BY_TYPE: dict[str, Words] = {
    "image": {
        "colorSpace": Choice("type.imageType.colorSpace", COLORS),
        "width": Number("type.imageType.width", (0, SIZES[1])),
        "height": Number("type.imageType.height", (0, SIZES[1])),
        "enumeratedSizes": ImageSizes("type.imageType.enumeratedSizes", "sizes"),
        "widthRange": Range("type.imageType.imageSizeRange.widthRange"),
        "heightRange": Range("type.imageType.imageSizeRange.heightRange"),
    },
    "multiArray": _array("type.multiArrayType"),
    "dictionary": {
        "keyType": Member("type.dictionaryType.KeyType", {"int64": "int64KeyType", "string": "stringKeyType"}),
    },
    "sequence": {
        "elementType": Member("type.sequenceType.Type", {"int64": "int64Type", "string": "stringType"}),
        "sizeRange": Range("type.sequenceType.sizeRange"),
    },
    "state": _array("type.stateType.arrayType"),
}
"""The words of each `type`."""

FEATURE: Words = {
    "name": RequiredText("name"),
    "shortDescription": Text("shortDescription"),
    "isOptional": Flag("type.isOptional"),
    "type": Member("type.Type", TYPES),
}
"""The words of any input, output, state or training input."""

FUNCTION: Words = {"name": RequiredText("name"), **{key: Text(key) for key in PREDICTIONS}}

METADATA: Words = {key: Text(key) for key in ("shortDescription", "versionString", "author", "license")}

USER_DEFINED = "userDefined"

MODEL: Words = {
    "specificationVersion": Number("specificationVersion", (0, INT32[1])),
    "isUpdatable": Flag("isUpdatable"),
    **{key: Text(f"description.{key}") for key in (*PREDICTIONS, "defaultFunctionName")},
}
"""The words of a model at its top, or in the table of a pipeline's stage."""

STAGE = ("name", "kind")
"""The further keys of a stage's table."""

FUNCTION_SIDES = ("input", "output", "state")
SIDES = (*FUNCTION_SIDES, "trainingInput")
"""The arrays of tables for features, of a function and of a model."""

FUNCTIONS, STAGES = "function", "model"
"""The arrays of tables for functions and for the stages of a pipeline."""
