"""The `metadata.json` of a compiled model, and the ModelDescription made from it.

It lists features for people and for Xcode: all values are strings, and facts outside feature types are missing, such as
default values, training inputs and the names of a classifier's predictions. Sources for the form of each type:
coremltools' `mlmodel/src/FeatureType.cpp`, and the bundles of Apple's compiler, which add Float16 and states.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from miltext.diagnostics import codes, refusing
from miltext.diagnostics.dynamic import Json
from miltext.files.contents import specification_version
from miltext.files.json_keys import repeated_key
from miltext.files.refusals import reason_of, refusal
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

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

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

Entry = Mapping[str, Json]

_MOST_DIGITS = 300
"""The most digits of a whole number; for thousands of digits, Python raises an error of its own."""


class MetadataFacts(NamedTuple):
    """The facts that `coremldata.bin` has, too: the specification version and the names of inputs and outputs."""

    specification_version: int
    inputs: list[str]
    outputs: list[str]


class MetadataJson:
    """The contents of a `metadata.json`; `facts` can be compared with the facts of `coremldata.bin`."""

    def __init__(self, data: bytes, path: str | os.PathLike[str]) -> None:
        """Raise ModelError (MIL258) when the bytes are not the JSON that Apple's compiler writes."""
        self._path = path
        self._model: Entry = read_metadata(data, path)
        with _refusing("is not what Apple's compiler writes", path):
            self.facts = MetadataFacts(
                specification_version(int(self._model["specificationVersion"])),
                [entry["name"] for entry in self._model["inputSchema"]],
                [entry["name"] for entry in self._model["outputSchema"]],
            )

    def description(self) -> ModelDescription:
        """Return the ModelDescription, without the parts that the file lacks.

        Raise ModelError (MIL258) for a feature of a type that cannot be read back.
        """
        with _refusing("shows a feature in an unknown way", self._path):
            return _description(self._model)


def read_metadata(data: bytes, path: str | os.PathLike[str]) -> Record:
    """Return the object of the one model in the bytes of a file.

    Raise ModelError (MIL258) for bytes other than JSON, for a repeated key, and for anything except a list of one
    object.
    """
    with _refusing("is not what Apple's compiler writes", path):
        found = json.loads(data, object_pairs_hook=_object, parse_constant=_no_number, parse_int=_integer)
        if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], dict):
            raise ValueError("it is not a list of one object")
        return found[0]


def _refusing(what: str, path: str | os.PathLike[str]) -> AbstractContextManager[None]:
    return refusing(
        lambda failure: refusal(codes.UNREADABLE_COMPILED_DESCRIPTION, f"{FILE_NAME} {what}: {_reason(failure)}", path)
    )


def _reason(failure: Exception) -> str:
    """Return the description of an error in JSON."""
    if isinstance(failure, json.JSONDecodeError):
        message = failure.msg[:1].lower() + failure.msg[1:]
        return f"{message} in line {failure.lineno}, column {failure.colno}"
    if isinstance(failure, RecursionError):
        return "it is nested too deeply"
    if isinstance(failure, UnicodeError):
        return "it is not Unicode"
    return reason_of(failure)


def _object(pairs: Sequence[tuple[str, Json]]) -> Record:
    key = repeated_key(pairs)
    if key is not None:
        raise ValueError(f"it has the key `{key}` twice")
    return dict(pairs)


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"`{word}` is not a number of JSON")


def _description(model: Entry) -> ModelDescription:
    metadata = Metadata(userDefined=model.get("userDefinedMetadata", {}))
    for field, key in METADATA_KEYS.items():
        setattr(metadata, field, model.get(key, ""))
    description = ModelDescription(metadata=metadata)
    if "functions" not in model:
        _add_features(description, model)
        return description
    description.defaultFunctionName = model.get("defaultFunctionName", "")  # with its features outside, too
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
