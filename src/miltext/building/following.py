"""Fixes of a description that contradicts its program: the entries follow the program's inputs, states and outputs.

An entry keeps all that still holds. Entries and values are paired by name; a single entry without a value and a single
value without an entry, of the same side and type, are one feature with two names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.editing import require_fit
from miltext.building.new_model import models_with_programs
from miltext.descriptions.contract import ProgramPlace
from miltext.descriptions.counterparts import Counterpart, Version
from miltext.descriptions.losses import DescriptionLoss
from miltext.descriptions.mismatches import entry_contradictions
from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION, follow, lone_probabilities, required_version
from miltext.files.contents import stages
from miltext.pipelines.connections import WHOLE
from miltext.pipelines.renaming import rename_values
from miltext.schema.features import PREDICTIONS
from miltext.schema.function_io import SIDES, Interface, interfaces
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.descriptions.counterparts import Names
    from miltext.schema.function_io import Types
    from miltext.schema.proto import FeatureDescription, FunctionDescription, ModelDescription
    from miltext.schema.proto import Model as Spec

    Described = ModelDescription | FunctionDescription


class _OtherName(NamedTuple):
    """A feature with two names: `described` in the description, `name` in the program's `function`."""

    function: str
    side: str
    described: str
    name: str


def follow_programs(spec: Spec) -> list[DescriptionLoss]:
    """Fix the descriptions of a model's programs; return their losses.

    The descriptions of pipelines, and all programs, stay. Raise ModelError for a type that cannot be described, as
    `program_descriptions.update` does.
    """
    losses: list[DescriptionLoss] = []
    for way in _ways(spec):
        losses += _follow_program(way[-1])
        for each in way:
            each.specificationVersion = max(each.specificationVersion, way[-1].specificationVersion)
    return losses


def follow_descriptions(spec: Spec) -> None:
    """Give inputs, states and outputs of programs their names in the descriptions, where one feature has two names.

    Raise ModelError: MIL426 for a name that is not an identifier, MIL431 for a name of another value in the function.
    """
    for described in models_with_programs(spec):
        for each in _other_names(described):
            require_fit(each.described)
            rename_values(described.mlProgram, {each.name: each.described}, WHOLE, each.function)


def _ways(spec: Spec) -> Iterator[list[Spec]]:
    """Yield the messages from a model to each of its ML Programs."""
    if spec.WhichOneof("Type") == PROGRAM:
        yield [spec]
    for stage in stages(spec):
        yield from ([spec, *way] for way in _ways(stage))


def _other_names(spec: Spec) -> list[_OtherName]:
    """Return the features of an ML Program that have two names; an entry without a name has one."""
    _, known = _paired(spec)
    return [
        _OtherName(function, side, old, new)
        for function, was in known.items()
        for side, names in was.sides.items()
        for old, new in names.items()
        if old and old != new
    ]


def _follow_program(spec: Spec) -> list[DescriptionLoss]:
    described, program = spec.description, spec.mlProgram
    _unite(described)
    for function in described.functions:
        _unite(function)
    before, known = _paired(spec)
    was = {counterpart.name: counterpart for counterpart in known.values()}
    for name, each in _functions(described, known).items():
        _predict_by_old_names(each, was[name].sides["output"] if name in was else {})
    losses = follow(described, before, program, known)
    after = interfaces(program)
    for name, each in _functions(described, after).items():
        losses += _drop_predictions(each, name, after[name].outputs if name in after else {})
    spec.specificationVersion = max(spec.specificationVersion, required_version(program, described))
    return losses


def _predict_by_old_names(described: Described, names: Names) -> None:
    """Give the fields that name a classifier's outputs the described names of these, which are updated then."""
    old = {new: each for each, new in names.items()}
    for prediction in PREDICTIONS:
        predicted = getattr(described, prediction)
        setattr(described, prediction, old.get(predicted, predicted))


def _drop_predictions(described: Described, function: str, outputs: Types) -> Iterator[DescriptionLoss]:
    """Clear the fields that name a classifier's outputs if the function lacks such an output; yield the losses."""
    for prediction in PREDICTIONS:
        predicted = getattr(described, prediction)
        if predicted and predicted not in outputs:
            described.ClearField(prediction)
            message = f"the {prediction} `{predicted}` was removed: it is not an output of `{function}`"
            yield DescriptionLoss(message, is_meant=True)
    yield from lone_probabilities(described)


def _unite(described: Described) -> None:
    """Remove repeated entries of a description."""
    for side in SIDES:
        entries = getattr(described, side)
        first = {entry.name: index for index, entry in reversed([*enumerate(entries)])}
        for index in reversed(range(len(entries))):
            if first[entries[index].name] != index or not entries[index].name:
                del entries[index]


def _functions(description: ModelDescription, after: Iterable[str]) -> dict[str, Described]:
    """Return the description of each described function by name; without a list of functions, of `main`, or of the only
    function.
    """
    if description.functions:
        return {each.name: each for each in description.functions}
    names = [*after]
    only = names[0] if len(names) == 1 else DEFAULT_FUNCTION
    return {only: description}


def _paired(spec: Spec) -> tuple[Version, dict[str, Counterpart]]:
    """Return the functions as they are described, and the description of each function of the program."""
    after = interfaces(spec.mlProgram)
    described = _functions(spec.description, after)
    names = {name: name for name in described if name in after}
    names |= _only([name for name in described if name not in names], [name for name in after if name not in names])
    sides = {old: _sides(described[old], after[new]) for old, new in names.items()}
    before: dict[str, Interface] = {}
    for old, each in described.items():
        types = after[names[old]].sides if old in names else {}
        before[old] = Interface(
            *(_types(each, side, types.get(side, {}), sides.get(old, {}).get(side, {})) for side in SIDES)
        )
    known = {new: Counterpart(old, before[old], sides[old]) for old, new in names.items()}
    return Version(before, None), known


def _only(old: Sequence[str], new: Sequence[str]) -> Names:
    return {old[0]: new[0]} if len(old) == len(new) == 1 else {}


def _sides(described: Described, interface: Interface) -> dict[str, Names]:
    """Return the program's name of each described feature, by side."""
    return {side: _names(getattr(described, side), types, side) for side, types in interface.sides.items()}


def _names(entries: Iterable[FeatureDescription], types: Types, side: str) -> Names:
    listed = {entry.name: entry for entry in entries}
    found = {name: name for name in listed if name in types}
    more = _only([name for name in listed if name not in types], [name for name in types if name not in listed])
    return found | {old: new for old, new in more.items() if _matches(listed[old], types, new, side)}


def _matches(entry: FeatureDescription, types: Types, name: str, side: str) -> bool:
    """Return whether an entry matches the value of a name."""
    declared = types.get(name)
    return declared is not None and not any(entry_contradictions(entry, declared, (), ProgramPlace(side=side)))


def _types(described: Described, side: str, types: Types, names: Names) -> Types:
    """Return the types of described features, as in the program; None for a feature that does not match it."""
    return {
        entry.name: types[names[entry.name]]
        if entry.name in names and _matches(entry, types, names[entry.name], side)
        else None
        for entry in getattr(described, side)
    }
