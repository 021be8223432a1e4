"""Mismatches between a description and its program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from miltext.descriptions.entries import feature
from miltext.descriptions.kinds import has_list, rule_of
from miltext.descriptions.spelling import spell_feature
from miltext.descriptions.words import FUNCTIONS, TYPES
from miltext.diagnostics import ModelError, codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.printing.flexible_shapes import flexible
from miltext.schema.features import IMAGE_ELEMENTS, LABEL_ELEMENTS, PREDICTIONS
from miltext.schema.types import DictionaryType, StateType, TensorType, read_type, spelled
from miltext.toml.reading import Mistake
from miltext.toml.writing import key_text, value_text

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Fields
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import FeatureDescription, ModelDescription, ValueType
    from miltext.schema.types import Shape, Type
    from miltext.toml.reading import Keys


def mismatches(found: Mapping[str, Interface], description: ModelDescription, at: Keys) -> Iterator[Mistake]:
    """Yield the mismatches of a description and the functions of an ML Program, each with its place in the text."""
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
    """Return the mistake of a repeated entry, or of an entry without a value in the program."""
    if name in before:
        return Mistake(codes.DESCRIPTION_OF_NOTHING, f"the {noun} `{name}` is described twice", (*at, "name"))
    near = nearest(name, known)
    way = "" if near else ": names must be those of the program; `miltext rename` changes them"
    message = f"{where} has no {noun} `{name}`{did_you_mean(near)}{way}"
    return Mistake(
        codes.DESCRIPTION_OF_NOTHING, message, (*at, "name"), suggestion=None if near is None else value_text(near)
    )


def _function(described: Fields, name: str, interface: Interface, at: Keys) -> Iterator[Mistake]:
    """Yield the mismatches in the description of one function."""
    for side, types in interface.sides.items():
        entries = getattr(described, side)
        names = [entry.name for entry in entries]
        for index, entry in enumerate(entries):
            where = (*at, side, index)
            if entry.name in names[:index] or entry.name not in types:
                yield _stranger(entry.name, side, names[:index], types, where, f"`{name}`")
            elif (said := types[entry.name]) is not None:
                yield from entry_mismatches(entry, said, side, where)
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


def entry_mismatches(entry: FeatureDescription, value_type: ValueType, side: str, at: Keys = ()) -> Iterator[Mistake]:
    """Yield the mismatches between an entry and the type of its value."""
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
    problem = rule_of(entry).problem
    found = problem(entry, declared, side) if problem else None
    if found is not None:
        key, reason = found
        yield Mistake(codes.DESCRIPTION_OF_OTHER_TYPE, f"{called}, {reason}", (*at, key))
    elif side == "input" and isinstance(declared, TensorType):
        yield from _unbounded(entry, declared.shape, called, at)


def _unbounded(entry: FeatureDescription, declared: Shape, called: str, at: Keys) -> Iterator[Mistake]:
    """Yield the mistake for the first dimension of an input without a greatest size, or of a `?` without a
    stated size.
    """
    said = flexible(entry)
    is_image, is_listed = rule_of(entry).outlives_types, has_list(entry)
    if said is None or is_listed:
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
