"""The parts of a description that do not fit its program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from miltext.descriptions.entries import feature
from miltext.descriptions.spelling import spell_feature
from miltext.descriptions.words import FUNCTIONS, TYPES
from miltext.diagnostics import ModelError, codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.printing.flexible_shapes import flexible
from miltext.schema.features import COLORS, ELEMENTS, IMAGE_ELEMENTS, LABEL_ELEMENTS, PREDICTIONS, word_of
from miltext.schema.proto import FeatureDescription, FeatureType
from miltext.schema.types import DictionaryType, StateType, TensorType, read_type, show, spelled
from miltext.toml.reading import Mistake
from miltext.toml.writing import key_text, value_text

if TYPE_CHECKING:
    from miltext.printing.flexible_shapes import Flexible
    from miltext.schema.dynamic import Fields
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import ArrayFeatureType, ModelDescription, ValueType
    from miltext.schema.types import Shape, Type
    from miltext.toml.reading import Keys


IMAGE_KEYS = ("width", "enumeratedSizes", "widthRange")
ARRAY_KEYS = ("shape", "enumeratedShapes", "shapeRange")
"""The keys for the size of a feature, for sizes in a list, and for ranges."""


def misfits(found: Mapping[str, Interface], description: ModelDescription, at: Keys) -> Iterator[Mistake]:
    """Yield the misfits between a description and the functions of an ML Program, each with its place in the text."""
    if not description.functions:
        if len(found) == 1:
            yield from _function(description, *next(iter(found.items())), at)
        else:
            listed = ", ".join(f"`{name}`" for name in found)
            message = f"the program has {len(found)} functions: write a `[[function]]` for each of {listed}"
            yield Mistake(codes.DESCRIPTION_OF_NOTHING, message, at)
        return
    names = [function.name for function in description.functions]
    for index, function in enumerate(description.functions):
        where = (*at, FUNCTIONS, index)
        if function.name in found and function.name not in names[:index]:
            yield from _function(function, function.name, found[function.name], where)
        else:
            yield _stranger(function.name, "function", names[:index], found, where, "the program")
    for name in [each for each in found if each not in names]:
        message = f"the function `{name}` of the program is not described: add a `[[function]]`"
        yield Mistake(codes.DESCRIPTION_OF_NOTHING, message, (*at, FUNCTIONS, len(names) - 1))
    default = description.defaultFunctionName
    if default not in (*names, ""):
        message = f"there is no function `{default}`{did_you_mean(nearest(default, names))}"
        yield Mistake(codes.DESCRIPTION_OF_NOTHING, message, (*at, "defaultFunctionName"))


def _stranger(name: str, noun: str, before: Fields, known: Fields, at: Keys, where: str) -> Mistake:
    """Return the mistake of a repeated entry, or of one that the program does not have."""
    if name in before:
        return Mistake(codes.DESCRIPTION_OF_NOTHING, f"the {noun} `{name}` is described twice", (*at, "name"))
    near = nearest(name, known)
    way = "" if near else ": names are those of the program, which `miltext rename` changes"
    message = f"{where} has no {noun} `{name}`{did_you_mean(near)}{way}"
    return Mistake(
        codes.DESCRIPTION_OF_NOTHING, message, (*at, "name"), suggestion=None if near is None else value_text(near)
    )


def _function(described: Fields, name: str, interface: Interface, at: Keys) -> Iterator[Mistake]:
    """Yield the misfits in the description of one function."""
    for side, types in interface.sides.items():
        entries = getattr(described, side)
        names = [entry.name for entry in entries]
        for index, entry in enumerate(entries):
            where = (*at, side, index)
            if entry.name in names[:index] or entry.name not in types:
                yield _stranger(entry.name, side, names[:index], types, where, f"`{name}`")
            elif (said := types[entry.name]) is not None:
                yield from misfit(entry, said, side, where)
        for missing in [each for each in types if each not in names]:
            place = (*at, side, len(entries) - 1) if entries else at
            yield Mistake(codes.DESCRIPTION_OF_NOTHING, _missing(missing, types[missing], side, name), place)
    for key in PREDICTIONS:
        predicted = getattr(described, key)
        if predicted and predicted not in interface.outputs:
            near = did_you_mean(nearest(predicted, interface.outputs))
            yield Mistake(
                codes.DESCRIPTION_OF_NOTHING, f"`{key}` names no output of `{name}`: `{predicted}`{near}", (*at, key)
            )


def _missing(name: str, value_type: ValueType | None, side: str, function: str) -> str:
    """Return the message for a missing entry, with the keys that describe it."""
    try:
        table = spell_feature(feature(name, value_type, side, function))
    except ModelError as failure:
        return failure.diagnostics[0].message
    keys = ", ".join(f"{key_text(key)} = {value_text(value)}" for key, value in table.items())
    return f"the {side} `{name}` of `{function}` is not described: add a `[[{side}]]` with {keys}"


# ---- one entry and the type of its value


def misfit(entry: FeatureDescription, value_type: ValueType, side: str, at: Keys = ()) -> Iterator[Mistake]:
    """Yield the misfits between an entry and the type of its value."""
    declared = read_type(value_type)
    member = entry.type.WhichOneof("Type")
    kind = next((word for word, each in TYPES.items() if each == member), None)
    allowed = _kinds(declared)
    called = f"`{entry.name}`, which is {spelled(declared)} in the program"
    if not allowed:
        return
    if kind not in allowed:
        said = "has no `type`" if kind is None else f'cannot be of the type "{kind}"'
        place = at if kind is None else (*at, "type")
        words = " or ".join(f'"{each}"' for each in allowed)
        yield Mistake(codes.DESCRIPTION_OF_OTHER_TYPE, f"{called}, {said}: write {words}", place)
        return
    found = _problem(entry, kind, declared, side)
    if found is not None:
        key, problem = found
        yield Mistake(codes.DESCRIPTION_OF_OTHER_TYPE, f"{called}, {problem}", (*at, key))
    elif side == "input" and isinstance(declared, TensorType):
        yield from _unbounded(entry, declared.shape, called, at)


def _unbounded(entry: FeatureDescription, declared: Shape, called: str, at: Keys) -> Iterator[Mistake]:
    """Yield the first dimension of an input that may be of any size, or of a `?` without a stated size."""
    said = flexible(entry)
    is_image = entry.type.WhichOneof("Type") == "imageType"
    if said is None or _is_listed(entry):
        return
    for index, size in enumerate(declared if not said.ranges else ()):
        if size is None:
            keys = "`widthRange` and `heightRange`" if is_image else "a `shapeRange`"
            added = f"add {keys}, each with a least and a greatest size"
            message = f"{called}, may be of any size in the dimension {index}: {added}"
            yield Mistake(codes.INPUT_WITHOUT_RANGE, message, at)
            return
    for index, (least, most) in enumerate(said.ranges):
        if most < 0:
            key = {2: "heightRange", 3: "widthRange"}[index] if is_image else "shapeRange"
            example = f"[{least}, {4 * max(least, 1)}]"
            message = f"{called}, has no greatest size in the dimension {index}: write one, as in `{example}`"
            yield Mistake(codes.INPUT_WITHOUT_RANGE, message, (*at, key))
            return


def _is_listed(entry: FeatureDescription) -> bool:
    """Return whether the sizes of an image or an array are in a list, even an empty one."""
    image, array = entry.type.imageType, entry.type.multiArrayType
    fields = image.WhichOneof("SizeFlexibility"), array.WhichOneof("ShapeFlexibility")
    return "enumeratedSizes" in fields or "enumeratedShapes" in fields


def _kinds(type: Type) -> tuple[str, ...]:
    """Return the words for `type` for a MIL type."""
    if isinstance(type, StateType):
        return ("state",)
    if isinstance(type, DictionaryType):
        return ("dictionary",)
    if not isinstance(type, TensorType):
        return ()
    if type.dtype in LABEL_ELEMENTS and not type.shape:
        return (type.dtype,)
    is_image = type.dtype in IMAGE_ELEMENTS and len(type.shape) == 4
    return ("multiArray", "image") if is_image else ("multiArray",)


def _problem(entry: FeatureDescription, kind: str, type: Type, side: str) -> tuple[str, str] | None:
    """Return the key that does not fit the type, and the reason."""
    if isinstance(type, DictionaryType) and isinstance(type.key, TensorType):
        member = entry.type.dictionaryType.WhichOneof("KeyType")
        wanted = type.key.dtype
        return None if member == f"{wanted}KeyType" else ("keyType", f'has the `keyType` "{wanted}"')
    if kind == "image":
        return _lacking(entry) or _sizes(entry, type, IMAGE_KEYS, side)
    array = entry.type.multiArrayType if kind == "multiArray" else entry.type.stateType.arrayType
    wrapped = type.wrapped if isinstance(type, StateType) else type
    if kind not in ("multiArray", "state") or not isinstance(wrapped, TensorType):
        return None
    return _element(array, wrapped) or _sizes(_as_array(array), wrapped, ARRAY_KEYS, side)


def _lacking(entry: FeatureDescription) -> tuple[str, str] | None:
    """Return the missing keys of an image, at its type."""
    image = entry.type.imageType
    lacking = [key for key in ("colorSpace", "width", "height") if not getattr(image, key)]
    if image.WhichOneof("SizeFlexibility") == "imageSizeRange":
        lacking += [key for key in ("widthRange", "heightRange") if not image.imageSizeRange.HasField(key)]
    return ("type", f"needs {' and '.join(f'`{key}`' for key in lacking)} to be an image") if lacking else None


def _element(array: ArrayFeatureType, type: TensorType) -> tuple[str, str] | None:
    wanted = ELEMENTS.get(type.dtype)
    if wanted is None or array.dataType == wanted:
        return None
    word = word_of(array.dataType, ELEMENTS)
    said = f'not "{word}"' if word else "which is left out"
    return "dataType", f'has the `dataType` "{type.dtype}", {said}'


def _as_array(array: ArrayFeatureType) -> FeatureDescription:
    return FeatureDescription(type=FeatureType(multiArrayType=array))


def _sizes(entry: FeatureDescription, type: Type, keys: tuple[str, ...], side: str) -> tuple[str, str] | None:
    """Return the stated size that the shape of the type does not allow."""
    said = flexible(entry)
    assert isinstance(type, TensorType)
    if said is None:
        return None
    one, listed, ranged = keys
    if not said.default and type.shape and side != "output":
        return "type", f"needs a `{one}`"
    for key, shapes in ((listed, said.shapes), (one, [said.default])):
        for shape in shapes:
            if not _is_allowed(shape, type.shape) and not (side == "output" and not shape):
                return key, f"cannot be {show(tuple(shape))}{_as_image(entry)}"
    return _ranges(said, type.shape, ranged)


def _is_allowed(shape: list[int], declared: Shape) -> bool:
    if not declared and shape == [1]:  # coremltools describes a scalar input so
        return True
    return len(shape) == len(declared) and all(b in (None, a) for a, b in zip(shape, declared, strict=True))


def _as_image(entry: FeatureDescription) -> str:
    """Return the form of an image as a tensor, after its shape."""
    color = word_of(entry.type.imageType.colorSpace, COLORS)
    is_image = entry.type.WhichOneof("Type") == "imageType"
    return f', as which an image of the `colorSpace` "{color}" is passed' if is_image else ""


def _ranges(said: Flexible, declared: Shape, key: str) -> tuple[str, str] | None:
    if not said.ranges:
        return None
    if len(said.ranges) != len(declared):
        return key, f"has {len(declared)} dimensions, and the ranges are {len(said.ranges)}"
    for index, ((least, most), size) in enumerate(zip(said.ranges, declared, strict=True)):
        if size is not None and (least, most) != (size, size):
            return key, f"has only the size {size} in the dimension {index}: write a `?` there in the program"
        if said.default and not (least <= said.default[index] and (most < 0 or said.default[index] <= most)):
            return key, f"has the size {said.default[index]} in the dimension {index}, which its range leaves out"
    return None
