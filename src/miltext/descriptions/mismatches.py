"""The contradictions between a description and its program, function by function.

The reasons for which Core ML refuses an ML Program are in RR, such as MODEL_MAIN_INPUT_COUNT_MISMATCHED,
MODEL_MAIN_INPUT_OUTPUT_MISSING, MODEL_MAIN_INPUT_SHAPE_MISMATCHED and PROGRAM_MAIN_FUNCTION_MISSING. Issues quote the
texts: "MIL program input, 'k_cache', not found in Core ML model inputs", "Model image output 'pred_matte' has a
different shape than its corresponding return value to main." (coremltools, 2049).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.descriptions.contract import Contradiction, ProgramPlace
from miltext.descriptions.entries import feature
from miltext.descriptions.features_alone import flaws
from miltext.descriptions.kinds import has_list, rule_of
from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION
from miltext.descriptions.spelling import spell_feature
from miltext.descriptions.words import FUNCTIONS, TYPES
from miltext.diagnostics import ModelError, codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.printing.flexible_shapes import flexible
from miltext.schema.features import IMAGE_ELEMENTS, LABEL_ELEMENTS, PREDICTIONS
from miltext.schema.types import DictionaryType, StateType, TensorType, read_type, spelled
from miltext.toml.writing import key_text, value_text

if TYPE_CHECKING:
    from miltext.descriptions.contract import Severity
    from miltext.diagnostics.dynamic import Fields
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import FeatureDescription, ModelDescription, ValueType
    from miltext.schema.types import Shape, Type
    from miltext.toml.reading import Keys


def mismatches(found: Mapping[str, Interface], description: ModelDescription) -> Iterator[Contradiction]:
    """Yield the contradictions between a description and the functions of an ML Program."""
    if not description.functions:
        yield from _unlisted(found, description)
        return
    names = [function.name for function in description.functions]
    for index, function in enumerate(description.functions):
        keys = (FUNCTIONS, index)
        if function.name in found and function.name not in names[:index]:
            yield from _function(function, function.name, found[function.name], keys)
        else:
            yield _stranger(
                function.name, "function", names[:index], found, keys, "the program", ProgramPlace(function.name)
            )
    for name in [each for each in found if each not in names]:
        fact, way = f"the function `{name}` of the program is not described", f"add a `[[{FUNCTIONS}]]`"
        place, near = ProgramPlace(name), (FUNCTIONS, len(names) - 1)
        yield Contradiction(codes.DESCRIPTION_OF_NOTHING, "warning", fact, way, (FUNCTIONS,), place, near)


def _unlisted(found: Mapping[str, Interface], description: ModelDescription) -> Iterator[Contradiction]:
    """Yield the contradictions of a description without a list of functions, which describes `main` alone."""
    has_main = DEFAULT_FUNCTION in found
    others = [name for name in found if name != DEFAULT_FUNCTION]
    severity: Severity = "warning" if has_main else "error"
    if len(found) > 1:
        listed = ", ".join(f"`{name}`" for name in found)
        fact, way = f"the program has {len(found)} functions", f"write a `[[{FUNCTIONS}]]` for each of {listed}"
        place = ProgramPlace(others[0])
        yield Contradiction(codes.DESCRIPTION_OF_NOTHING, severity, fact, way, (FUNCTIONS,), place, near=())
    elif others:
        fact = f"the program has no function `{DEFAULT_FUNCTION}`, but `{others[0]}`"
        way = f"write a `[[{FUNCTIONS}]]` for `{others[0]}`"
        place = ProgramPlace(others[0])
        yield Contradiction(codes.DESCRIPTION_OF_NOTHING, severity, fact, way, (FUNCTIONS,), place, near=())
    only = DEFAULT_FUNCTION if has_main else others[0] if len(found) == 1 else None
    if only is not None:
        yield from _function(description, only, found[only], ())


def _stranger(
    name: str, noun: str, before: Fields, known: Fields, keys: Keys, where: str, place: ProgramPlace
) -> Contradiction:
    """Return the contradiction of a repeated entry, or of an entry without a value in the program."""
    keys = (*keys, "name")
    if name in before:
        fact = f"the {noun} `{name}` is described twice"
        return Contradiction(codes.DESCRIPTION_OF_NOTHING, "warning", fact, "", keys, place)
    near = nearest(name, known)
    fact = f"{where} has no {noun} `{name}`{did_you_mean(near)}"
    way = "" if near else "names must be those of the program; `miltext rename` changes them"
    suggestion = None if near is None else value_text(near)
    return Contradiction(codes.DESCRIPTION_OF_NOTHING, "error", fact, way, keys, place, suggestion=suggestion)


class _Entry(NamedTuple):
    """An entry, its name and the keys to it."""

    entry: FeatureDescription
    name: str
    keys: Keys


def _entries(described: Fields, side: str, keys: Keys) -> list[_Entry]:
    """Return the entries of a side; a state may also be among the inputs (IV, `FeatureIOType`)."""
    inside = [_Entry(entry, entry.name, (*keys, side, index)) for index, entry in enumerate(getattr(described, side))]
    if side == "state":
        inside += [each for each in _all_inputs(described, keys) if _is_state(each.entry)]
    return inside if side != "input" else [each for each in inside if not _is_state(each.entry)]


def _all_inputs(described: Fields, keys: Keys) -> list[_Entry]:
    return [_Entry(entry, entry.name, (*keys, "input", index)) for index, entry in enumerate(described.input)]


def _is_state(entry: FeatureDescription) -> bool:
    return entry.type.WhichOneof("Type") == "stateType"


def _function(described: Fields, name: str, interface: Interface, keys: Keys) -> Iterator[Contradiction]:
    """Yield the contradictions in the description of one function."""
    for side, types in interface.sides.items():
        entries = _entries(described, side, keys)
        names = [each.name for each in entries]
        for index, (entry, called, at) in enumerate(entries):
            place = ProgramPlace(name, side, called)
            is_known = called in types and called not in names[:index]
            if called and not is_known:
                yield _stranger(called, side, names[:index], types, at, f"`{name}`", place._replace(name=""))
            else:
                yield from entry_contradictions(entry, types.get(called), at, place)
        for missing in [each for each in types if each not in names]:
            near = (*keys, side, len(getattr(described, side)) - 1) if getattr(described, side) else keys
            yield _missing(missing, types[missing], ProgramPlace(name, side, missing), (*keys, side), near)
    for key in PREDICTIONS:
        predicted = getattr(described, key)
        if predicted and predicted not in interface.outputs:
            near_name = did_you_mean(nearest(predicted, interface.outputs))
            fact = f"`{key}` names no output of `{name}`: `{predicted}`{near_name}"
            yield Contradiction(codes.DESCRIPTION_OF_NOTHING, "error", fact, "", (*keys, key), ProgramPlace(name))


def alone(
    entry: FeatureDescription, side: str, keys: Keys, place: ProgramPlace, *, is_typed: bool
) -> Iterator[Contradiction]:
    """Yield the contradictions in an entry by itself."""
    for flaw in flaws(entry, side, is_typed=is_typed):
        is_unread = FUNCTIONS in keys and side == "output" and flaw.key == "isOptional"  # IV looks at no functions
        severity = "warning" if is_unread else flaw.severity
        yield Contradiction(flaw.code, severity, flaw.fact, flaw.way_out, (*keys, flaw.key), place)
    if side == "state" and "input" in keys:
        fact = f"the state `{entry.name}` is among the inputs, as in old models"
        way = "write it as a `[[state]]`"
        yield Contradiction(codes.DESCRIPTION_OF_OTHER_TYPE, "note", fact, way, keys, place)


def _missing(name: str, value_type: ValueType | None, place: ProgramPlace, keys: Keys, near: Keys) -> Contradiction:
    """Return the contradiction of a missing entry; its way out has the keys that describe the value."""
    side, function = place.side, place.function
    try:
        table = spell_feature(feature(name, value_type, side, function))
    except ModelError as failure:
        fact, way = failure.diagnostics[0].message, ""
    else:
        written = ", ".join(f"{key_text(key)} = {value_text(value)}" for key, value in table.items())
        fact = f"the {side} `{name}` of `{function}` is not described"
        way = f"add a `[[{side}]]` with {written}"
    return Contradiction(codes.DESCRIPTION_OF_NOTHING, "error", fact, way, keys, place, near)


# ---- one entry and the type of its value


def entry_contradictions(
    entry: FeatureDescription, value_type: ValueType | None, keys: Keys, place: ProgramPlace
) -> Iterator[Contradiction]:
    """Yield the contradictions in an entry, and between it and the type of its value, if known."""
    own = [*alone(entry, place.side, keys, place, is_typed=value_type is not None)]
    yield from own
    if value_type is not None and all(each.severity != "error" for each in own):
        yield from _beside_type(entry, value_type, keys, place)


def _beside_type(
    entry: FeatureDescription, value_type: ValueType, keys: Keys, place: ProgramPlace
) -> Iterator[Contradiction]:
    """Yield the contradictions between an entry and the type of its value."""
    declared = read_type(value_type)
    member = entry.type.WhichOneof("Type")
    kind = next((word for word, each in TYPES.items() if each == member), None)
    allowed = _kinds(declared)
    called = f"`{entry.name}`, which is {spelled(declared)} in the program"
    code = codes.DESCRIPTION_OF_OTHER_TYPE
    if not allowed:
        return
    if kind not in allowed:
        said = "has no `type`" if kind is None else f'cannot be of the type "{kind}"'
        words = " or ".join(f'"{each}"' for each in allowed)
        near = keys if kind is None else None
        yield Contradiction(code, "error", f"{called}, {said}", f"write {words}", (*keys, "type"), place, near)
        return
    problem = rule_of(entry).problem
    found = problem(entry, declared, place.side) if problem else None
    if found is not None:
        yield Contradiction(code, found.severity, f"{called}, {found.reason}", "", (*keys, found.key), place)
    elif place.side == "input" and isinstance(declared, TensorType):
        yield from _unbounded(entry, declared.shape, called, keys, place)


def _unbounded(
    entry: FeatureDescription, declared: Shape, called: str, keys: Keys, place: ProgramPlace
) -> Iterator[Contradiction]:
    """Yield the first dimension of an input without a greatest size, or of a `?` without a stated size.

    coremltools 9.0 refuses a conversion to such a model, "For mlprogram, inputs with infinite upper_bound is not
    allowed" (`converters/_converters_entry.py`), but writes one of a program for it; Apple's validators accept it.
    """
    said = flexible(entry)
    is_image, is_listed = rule_of(entry).outlives_types, has_list(entry)
    if said is None or is_listed:
        return
    for index, size in enumerate(declared if not said.ranges else ()):
        if size is None:
            keys_ = "`widthRange` and `heightRange`" if is_image else "a `shapeRange`"
            fact = f"{called}, may be of any size in the dimension {index}"
            way = f"add {keys_}, each with a least and a greatest size"
            at = (*keys, "widthRange" if is_image else "shapeRange")
            yield Contradiction(codes.INPUT_WITHOUT_RANGE, "warning", fact, way, at, place, near=keys)
            return
    for index, (least, most) in enumerate(said.ranges):
        if most < 0:
            key = {2: "heightRange", 3: "widthRange"}[index] if is_image else "shapeRange"
            fact = f"{called}, has no greatest size in the dimension {index}"
            way = f"write one, as in `[{least}, {4 * max(least, 1)}]`"
            yield Contradiction(codes.INPUT_WITHOUT_RANGE, "note", fact, way, (*keys, key), place)
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
