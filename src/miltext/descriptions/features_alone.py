"""The contradictions in an entry of a description by itself, which Core ML refuses for any kind of model.

Source of all errors: IV, `validateFeatureDescription` and `validateOptionalOutputs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.descriptions.kinds import array_of, has_list, rule_of
from miltext.descriptions.words import TYPES
from miltext.diagnostics import codes
from miltext.printing.flexible_shapes import flexible
from miltext.schema.dtypes import BY_NAME
from miltext.schema.features import COLORS, DEFAULT_FIELDS, ELEMENTS, word_of
from miltext.schema.proto import ArrayFeatureType
from miltext.schema.types import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.descriptions.contract import Severity
    from miltext.schema.proto import FeatureDescription, SizeRange


class Flaw(NamedTuple):
    """A contradiction in an entry: the `key` of its part, the fact, and the way out."""

    key: str
    fact: str
    way_out: str
    severity: Severity = "error"
    code: str = codes.DESCRIPTION_OF_OTHER_TYPE


def flaws(entry: FeatureDescription, side: str, *, is_typed: bool) -> Iterator[Flaw]:
    """Yield the contradictions in an entry on a side; its type is another rule's if the program types it."""
    if not entry.name:
        yield Flaw("name", f"an {side} has no name", "add the name", code=codes.DESCRIPTION_ENTRY_COUNT)
    kind = entry.type.WhichOneof("Type")
    if not is_typed and kind is None:
        yield Flaw("type", f"an {side} has no `type`", "write one")
    if kind is not None and not is_typed:
        yield from _side(entry, kind, side)
        yield from _unstated(entry, kind, side)
    yield from _FLAWS.get(kind or "", _none)(entry)
    if side == "output" and entry.type.isOptional:
        yield Flaw("isOptional", f"the output `{entry.name}` is optional, as only an input can be", "leave it out")


def _none(_: FeatureDescription) -> Iterator[Flaw]:
    yield from ()


def _side(entry: FeatureDescription, kind: str, side: str) -> Iterator[Flaw]:
    """Yield a state on another side; an input may be one, for old models (IV, `FeatureIOType`)."""
    is_state = kind == "stateType"
    if (side == "state" and not is_state) or (side == "output" and is_state):
        word = next(word for word, each in TYPES.items() if each == kind)
        yield Flaw("type", f'the {side} `{entry.name}` has the type "{word}"', "only a state has, and every state")


def _unstated(entry: FeatureDescription, kind: str, side: str) -> Iterator[Flaw]:
    """Yield the missing parts of a type that no program states."""
    array = array_of(entry)
    if kind in ("multiArrayType", "stateType") and not word_of(array.dataType, ELEMENTS):
        yield Flaw("dataType", f"`{entry.name}` has the unknown `dataType` {array.dataType}", _one_of(ELEMENTS))
    sizes = flexible(entry)
    if kind == "multiArrayType" and side == "input" and sizes is not None and not sizes.default:
        yield Flaw("type", f"`{entry.name}` needs a `shape`", "add it")
    if kind == "dictionaryType" and entry.type.dictionaryType.WhichOneof("KeyType") is None:
        yield Flaw("keyType", f"the dictionary `{entry.name}` has no `keyType`", 'write "int64" or "string"')
    if kind == "sequenceType" and entry.type.sequenceType.WhichOneof("Type") is None:
        yield Flaw("elementType", f"the sequence `{entry.name}` has no `elementType`", 'write "int64" or "string"')


def _one_of(words: dict[str, int]) -> str:
    return "write " + " or ".join(f'"{word}"' for word in words)


# ---- images


def _image(entry: FeatureDescription) -> Iterator[Flaw]:
    image = entry.type.imageType
    lacking = [] if image.colorSpace else ["colorSpace"]
    if image.WhichOneof("SizeFlexibility") is None:
        lacking += [key for key in ("width", "height") if getattr(image, key) <= 0]
    ranges = image.imageSizeRange
    is_ranged = image.WhichOneof("SizeFlexibility") == "imageSizeRange"
    lacking += [key for key in ("widthRange", "heightRange") if is_ranged and not ranges.HasField(key)]
    if lacking:
        yield Flaw("type", f"`{entry.name}` needs {' and '.join(f'`{key}`' for key in lacking)} to be an image", "")
        return
    if not word_of(image.colorSpace, COLORS):
        yield Flaw(
            "colorSpace", f"the image `{entry.name}` has the unknown color space {image.colorSpace}", _one_of(COLORS)
        )
    if is_ranged:
        for key, size in (("heightRange", image.height), ("widthRange", image.width)):
            yield from _range(entry, key, getattr(ranges, key), size or None)
    else:
        yield from _listed(entry)


# ---- arrays


def _array(entry: FeatureDescription) -> Iterator[Flaw]:
    array = entry.type.multiArrayType
    if negative := [size for size in array.shape if size < 0]:
        yield Flaw("shape", f"`{entry.name}` has the size {negative[0]}", "write a size from 0 on")
    ranges, shape = array.shapeRange.sizeRanges, array.shape
    if array.WhichOneof("ShapeFlexibility") == "shapeRange" and shape and len(ranges) != len(shape):
        fact = f"`{entry.name}` has {len(shape)} dimensions, and the ranges are {len(ranges)}"
        yield Flaw("shapeRange", fact, "write one for each")
    else:
        for index, limits in enumerate(ranges):
            yield from _range(entry, "shapeRange", limits, shape[index] if shape else None, index)
    if any(not shape.shape for shape in array.enumeratedShapes.shapes):
        fact = f"`{entry.name}` lists a shape without dimensions"
        yield Flaw("enumeratedShapes", fact, "leave it out", code=codes.DESCRIPTION_ENTRY_COUNT)
    yield from _listed(entry)
    yield from _default(entry)


_INT8 = BY_NAME["int8"]


def _default(entry: FeatureDescription) -> Iterator[Flaw]:
    """Yield a default value of another type, or of a required input (FeatureTypes.proto)."""
    array = entry.type.multiArrayType
    field = array.WhichOneof("defaultOptionalValue")
    if field is None:
        return
    word = word_of(array.dataType, ELEMENTS)
    number = getattr(array, field)
    if word and field != DEFAULT_FIELDS.get(array.dataType):
        fact = f"`{entry.name}` has the default {number:.9g} in the field `{field}`, but is {word}"
        yield Flaw("default", fact, f"use `{DEFAULT_FIELDS[array.dataType]}`")
    elif array.dataType == ArrayFeatureType.INT8 and not _INT8.minimum <= number <= _INT8.maximum:
        yield Flaw("default", f"`{entry.name}` has the default {number}, which int8 cannot hold", "write a smaller one")
    elif not entry.type.isOptional:
        fact = f"`{entry.name}` has the default {number:.9g}, but is not optional"
        yield Flaw("default", fact, "the default is without effect", "note")


# ---- sizes


def _range(
    entry: FeatureDescription, key: str, limits: SizeRange, size: int | None, index: int | None = None
) -> Iterator[Flaw]:
    """Yield a range whose end is before its start, or which leaves out the stated size; below 0, it has no end."""
    least, most = limits.lowerBound, limits.upperBound
    where = "" if index is None else f" in the dimension {index}"
    if 0 < most < least:
        yield Flaw(key, f"`{entry.name}` has the range [{least}, {most}]{where}, which is empty", "turn it around")
    elif size is not None and not (least <= size and (most < 0 or size <= most)):
        fact = f"`{entry.name}` has the size {size}{where}, which its range leaves out"
        yield Flaw(key, fact, f"widen the range, which is [{least}, {most}]")


def _listed(entry: FeatureDescription) -> Iterator[Flaw]:
    """Yield an empty list of sizes, or one without the preferred size."""
    sizes, (preferred, listed, _) = flexible(entry), rule_of(entry).keys
    if sizes is None or not has_list(entry):
        return
    if not sizes.shapes:
        fact = f"`{listed}` of `{entry.name}` is empty"
        yield Flaw(listed, fact, "leave it out, or list sizes", code=codes.DESCRIPTION_ENTRY_COUNT)
    elif sizes.default not in sizes.shapes:
        fact = f"`{entry.name}` has the size {show(tuple(sizes.default))}, which `{listed}` leaves out"
        yield Flaw(preferred, fact, "list it, too")


# ---- states


def _state(entry: FeatureDescription) -> Iterator[Flaw]:
    array, name = array_of(entry), f"the state `{entry.name}`"
    if entry.type.isOptional:
        yield Flaw("isOptional", f"{name} is optional", "leave it out")
    if not array.shape:
        yield Flaw("type", f"{name} needs a `shape`", "add it")
    if negative := [size for size in array.shape if size < 0]:
        yield Flaw("shape", f"{name} has the size {negative[0]}", "write a size from 1 on")
    if array.dataType not in (ArrayFeatureType.FLOAT16, ArrayFeatureType.INT8) and word_of(array.dataType, ELEMENTS):
        word = word_of(array.dataType, ELEMENTS)
        yield Flaw("dataType", f'{name} has the `dataType` "{word}"', 'a state is of "fp16"')
    if flexibility := array.WhichOneof("ShapeFlexibility"):
        yield Flaw(flexibility, f"{name} has several shapes", "leave out all but one")
    if array.WhichOneof("defaultOptionalValue"):
        yield Flaw("default", f"{name} has a default value", "leave it out")


_FLAWS: dict[str, Callable[[FeatureDescription], Iterator[Flaw]]] = {
    "imageType": _image,
    "multiArrayType": _array,
    "stateType": _state,
}
