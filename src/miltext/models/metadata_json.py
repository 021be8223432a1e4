"""The `metadata.json` of a compiled model, and the ModelDescription that can be had from it.

It lists features for people and for Xcode: all values are strings, and what no feature type shows is not there, such
as default values, training inputs and the names of what a classifier predicts. How each type is shown: coremltools'
`mlmodel/src/FeatureType.cpp`, and the bundles of Apple's compiler, which add Float16 and states.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from miltext.diagnostics import refusing
from miltext.models.contents import specification_version
from miltext.models.refusals import refusal
from miltext.schema.proto import (
    ArrayFeatureType,
    FeatureDescription,
    FeatureType,
    FunctionDescription,
    ImageFeatureType,
    Metadata,
    ModelDescription,
    SizeRange,
    StateFeatureType,
)

FILE_NAME = "metadata.json"

ELEMENTS = {
    "Float16": ArrayFeatureType.FLOAT16,
    "Float32": ArrayFeatureType.FLOAT32,
    "Double": ArrayFeatureType.DOUBLE,
    "Int32": ArrayFeatureType.INT32,
    "Int8": ArrayFeatureType.INT8,
}

COLORS = {"RGB": ImageFeatureType.RGB, "BGR": ImageFeatureType.BGR, "Grayscale": ImageFeatureType.GRAYSCALE}

METADATA_KEYS = {
    "shortDescription": "shortDescription",
    "versionString": "version",
    "author": "author",
    "license": "license",
}
"""The field of Metadata to the key of `metadata.json`."""

KEY_TYPES = {"String": "stringKeyType", "Int64": "int64KeyType"}
PLAIN_TYPES = {"Int64": "int64Type", "Double": "doubleType", "String": "stringType"}

Entry = Mapping[str, Any]


class Facts(NamedTuple):
    """What `coremldata.bin` says, too: the specification version and the names of inputs and outputs."""

    specification_version: int
    inputs: list[str]
    outputs: list[str]


class MetadataJson:
    """A `metadata.json` that was read; `facts` can be compared with those of `coremldata.bin`."""

    def __init__(self, data: bytes, path: str | os.PathLike[str]) -> None:
        """Raise ModelError (MIL258) when the bytes are not the JSON that Apple's compiler writes."""
        self._path = path
        with self._refusing("is not what Apple's compiler writes"):
            self._model: Entry = json.loads(data)[0]
            self.facts = Facts(
                specification_version(int(self._model["specificationVersion"])),
                [entry["name"] for entry in self._model["inputSchema"]],
                [entry["name"] for entry in self._model["outputSchema"]],
            )

    def description(self) -> ModelDescription:
        """Return the ModelDescription, less what the file does not have.

        Raise ModelError (MIL258) for a feature of a type that cannot be read back.
        """
        with self._refusing("shows a feature in an unknown way"):
            return _description(self._model)

    def _refusing(self, what: str) -> AbstractContextManager[None]:
        return refusing(lambda failure: refusal("MIL258", f"{FILE_NAME} {what}: {failure!r}", self._path))


def _description(model: Entry) -> ModelDescription:
    metadata = Metadata(userDefined=model.get("userDefinedMetadata", {}))
    for field, key in METADATA_KEYS.items():
        setattr(metadata, field, model.get(key, ""))
    description = ModelDescription(metadata=metadata)
    if "functions" not in model:
        _add_features(description, model)
        return description
    description.defaultFunctionName = model.get("defaultFunctionName", "")  # whose features are those outside them, too
    for function in model["functions"]:
        _add_features(description.functions.add(name=function["name"]), function)
    return description


def _add_features(described: ModelDescription | FunctionDescription, entry: Entry) -> None:
    described.input.extend(map(_feature, entry["inputSchema"]))
    described.output.extend(map(_feature, entry["outputSchema"]))
    described.state.extend(map(_feature, entry.get("stateSchema", ())))


def _feature(entry: Entry) -> FeatureDescription:
    made = _type(entry)
    made.isOptional = entry.get("isOptional") == "1"
    return FeatureDescription(name=entry["name"], shortDescription=entry.get("shortDescription", ""), type=made)


def _type(entry: Entry) -> FeatureType:
    kind, made = entry["type"], FeatureType()
    if kind == "MultiArray":
        return FeatureType(multiArrayType=_array(entry))
    if kind == "State":
        return FeatureType(stateType=StateFeatureType(arrayType=_array(entry)))
    if kind == "Image":
        return FeatureType(imageType=_image(entry))
    if kind == "Dictionary":
        getattr(made.dictionaryType, KEY_TYPES[entry["keyType"]]).SetInParent()
    else:
        getattr(made, PLAIN_TYPES[kind]).SetInParent()
    return made


def _array(entry: Entry) -> ArrayFeatureType:
    array = ArrayFeatureType(shape=json.loads(entry["shape"]), dataType=ELEMENTS[entry["dataType"]])
    if "shapeRange" in entry:
        array.shapeRange.sizeRanges.extend(_ranges(entry["shapeRange"]))
    for shape in json.loads(entry.get("enumeratedShapes", "[]")):
        array.enumeratedShapes.shapes.add(shape=shape)
    return array


def _image(entry: Entry) -> ImageFeatureType:
    width, height, color = int(entry["width"]), int(entry["height"]), COLORS[entry["colorspace"]]
    image = ImageFeatureType(width=width, height=height, colorSpace=color)
    if "sizeRange" in entry:
        widths, heights = _ranges(entry["sizeRange"])
        image.imageSizeRange.widthRange.CopyFrom(widths)
        image.imageSizeRange.heightRange.CopyFrom(heights)
    for width, height in json.loads(entry.get("enumeratedSizes", "[]")):
        image.enumeratedSizes.sizes.add(width=width, height=height)
    return image


def _ranges(text: str) -> list[SizeRange]:
    return [SizeRange(lowerBound=lower, upperBound=upper) for lower, upper in json.loads(text)]
