"""Renaming of the inputs and outputs of a model: in its description and inside it, through all models of a pipeline.

Only names change: each model keeps its connections and all other bytes. A name that is already in use there is refused,
as is a model with unknown inner names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Note, codes
from miltext.files.contents import kind_of_model, stages
from miltext.files.refusals import refusal
from miltext.ir.graph import Graph
from miltext.pipelines.connections import (
    OUTER,
    WHOLE,
    PipelinePlace,
    connections,
    given,
    is_pipeline,
    places,
    taken,
)
from miltext.pipelines.inner_names import BLOB, GIVEN, INNER_NAMES, TAKEN, inner_names, rename_inside
from miltext.printing.renaming import rename_all
from miltext.schema.features import PREDICTIONS
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.diagnostics import ModelError
    from miltext.pipelines.connections import Connection
    from miltext.schema.proto import FunctionDescription, ModelDescription, Program
    from miltext.schema.proto import Model as Spec

Names = Mapping[str, str]
"""New names by the old ones."""


class Renames(NamedTuple):
    """The new names of a model's inputs, and of its outputs."""

    taken: Names
    given: Names

    @property
    def all(self) -> Names:
        """The new names of both sides together, for a model that does not distinguish them inside."""
        return {**self.taken, **self.given}


def rename_features(way: Sequence[Spec], names: Names) -> None:
    """Rename features of the last model in a path: inputs, outputs, and in a pipeline the connections of its models.

    In an ML Program, any value can be renamed. An input or output is also renamed in each enclosing pipeline to which
    it is connected. `names` may exchange names. Raise ModelError: MIL430 for an unknown name, MIL431 for a taken or
    empty one, MIL458 for a model that cannot be renamed inside.
    """
    scopes = [WHOLE, *(place for _, place in places(way))]
    while len(way) > 1 and names.keys() <= {*taken(way[-1]), *given(way[-1])}:
        way = way[:-1]
    spec, place = way[-1], scopes[len(way) - 1]
    found = connections(spec) if is_pipeline(spec) else []
    there = {each.name for each in found} if is_pipeline(spec) else _own_names(spec)
    for old, new in names.items():
        if old not in there:
            raise _unknown(old, there, spec, place)
        if not new or new == old:
            raise refusal(codes.NAME_IN_USE, f"`{old}` is its name already" if new else "the new name is empty")
    if is_pipeline(spec):
        rename_connections(spec, found, {each: names[each.name] for each in found if each.name in names}, place)
    else:
        _rename_model(spec, Renames(names, names), place if place.path else PipelinePlace(name="this model"))


def rename_connections(
    spec: Spec,
    found: Sequence[Connection],
    chosen: Mapping[Connection, str],
    place: PipelinePlace,
    but: int | None = None,
) -> Renames:
    """Rename connections of a pipeline, in it and in its models, except in the model at `but`, which has the new names
    already.

    `found` are all connections. Return the new names of the pipeline's own features. Raise as `rename_features` does.
    """
    for one, new in chosen.items():
        for other in found:
            if other.name != one.name and chosen.get(other, other.name) == new:
                raise name_in_use(spec, other, new, place)
    for index, model in enumerate(stages(spec)):
        if index != but:
            _rename_model(model, _of(chosen, index), place.inside(spec, index))
    inner = _of(chosen, OUTER)
    outer = Renames(taken=inner.given, given=inner.taken)
    _rename_description(spec.description, outer)
    return outer


def _of(chosen: Mapping[Connection, str], index: int) -> Renames:
    """Return the new names of the inputs and outputs of the model at an index."""
    return Renames(
        {each.name: new for each, new in chosen.items() if index in each.takers},
        {each.name: new for each, new in chosen.items() if each.giver == index},
    )


def _rename_model(spec: Spec, renames: Renames, place: PipelinePlace) -> None:
    if not renames.all:
        return
    kind = kind_of_model(spec) or ""
    if is_pipeline(spec):
        found = connections(spec)
        chosen = {each: new for each in found if (new := _new_name(each, renames, place)) != each.name}
        rename_connections(spec, found, chosen, place)
        return
    if kind == PROGRAM:
        _refuse_two_names(spec, renames, place)
        rename_values(spec.mlProgram, renames.all, place)
    elif kind in INNER_NAMES:
        _rename_inside(spec, renames, place)
    else:
        raise refusal(
            codes.UNRENAMABLE_MODEL, f"{place} is a `{kind}`, in which {_list(renames.all)} cannot be renamed"
        )
    _rename_description(spec.description, renames)


def _new_name(connection: Connection, renames: Renames, place: PipelinePlace) -> str:
    """Return the new name of a connection when its pipeline's features are renamed."""
    name = connection.name
    names = {renames.taken.get(name, name)} if connection.giver == OUTER else set()
    names |= {renames.given.get(name, name)} if OUTER in connection.takers else set()
    if len(names) > 1:
        raise _two_names(name, place)
    return names.pop() if names else name


def _rename_inside(spec: Spec, renames: Renames, place: PipelinePlace) -> None:
    """Rename features in a model with known Fields; in a neural network, they are values."""
    blobs = {*inner_names(spec, BLOB)}
    if blobs:
        _refuse_two_names(spec, renames, place)
    for new in renames.all.values():
        if new in blobs - renames.all.keys():
            raise refusal(codes.NAME_IN_USE, f"{place} already has a value `{new}`")
    roles = {TAKEN: renames.taken, GIVEN: renames.given, BLOB: renames.all}
    rename_inside(spec, lambda role, name: roles[role].get(name, name))


def _refuse_two_names(spec: Spec, renames: Renames, place: PipelinePlace) -> None:
    """Refuse different names for an input and an output that are the same value."""
    for name in taken(spec).keys() & given(spec).keys():
        if renames.taken.get(name, name) != renames.given.get(name, name):
            raise _two_names(name, place)


def _rename_description(description: ModelDescription, renames: Renames) -> None:
    for entry in description.trainingInput:
        entry.name = renames.taken.get(entry.name, entry.name)
    described: list[ModelDescription | FunctionDescription] = [description, *description.functions]
    for listed in described:
        for entry in (*listed.input, *listed.state):
            entry.name = renames.taken.get(entry.name, entry.name)
        for entry in listed.output:
            entry.name = renames.given.get(entry.name, entry.name)
        for prediction in PREDICTIONS:
            name = getattr(listed, prediction)
            if name in renames.given:
                setattr(listed, prediction, renames.given[name])


# ---- refusals


def _two_names(name: str, place: PipelinePlace) -> ModelError:
    message = f"`{name}` is both an input and an output of {place}, and cannot get two names"
    return refusal(codes.PIPELINE_CONNECTION_LOST, message)


def _own_names(spec: Spec) -> set[str]:
    """Return the names of a model by itself: of features, and of an ML Program's values."""
    values = value_names(spec.mlProgram) if spec.WhichOneof("Type") == PROGRAM else set()
    return {*taken(spec), *given(spec), *values}


def _unknown(name: str, there: set[str], spec: Spec, place: PipelinePlace) -> ModelError:
    from difflib import get_close_matches

    noun = "feature" if is_pipeline(spec) else "value"
    close = [each for each in sorted(there) if name and name in each][:3] or get_close_matches(name, there, 3)
    notes = [Note(f"did you mean `{each}`?") for each in close]
    for index, model in enumerate(stages(spec)):
        if name in (*_own_names(model), *(each.name for each in connections(model))):
            inner = place.inside(spec, index)
            notes.append(Note(f"it is inside {inner}: choose this model in the pipeline"))
    return refusal(codes.UNKNOWN_NAME, f"unknown {noun} `{name}`", None, *notes)


def name_in_use(spec: Spec, connection: Connection, name: str, place: PipelinePlace) -> ModelError:
    """Return the error for a new name that a connection already has, with its source, otherwise its first user."""
    there = connection.giver if connection.giver is not None else connection.takers[0]
    if there == OUTER:
        who = f"it is an {'input' if connection.giver == OUTER else 'output'}"
    else:
        who = f"{place.inside(spec, there)} {'takes' if connection.giver is None else 'gives'} it"
    return refusal(codes.NAME_IN_USE, f"{place} already has a feature `{name}`: {who}")


def _list(names: Names) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


# ---- names inside programs


def rename_values(program: Program, names: Mapping[str, str], place: object, only: str | None = None) -> None:
    """Rename the values of a Program, by their old names, which may be exchanged.

    Each function with such a value is changed, or the function `only`. Raise ModelError (MIL431) for a new name of
    another value in the function; `place` is the model's name in the error.
    """
    graph = Graph(program)
    for function_name, function in graph.functions.items():
        there = {value.name for value in function.defined()}
        if there.isdisjoint(names) or only not in (None, function_name):
            continue
        kept = Counter(names.get(name, name) for name in there)
        for new in names.values():
            if kept[new] > 1:
                raise refusal(
                    codes.NAME_IN_USE, f"the function `{function_name}` of {place} already has a value `{new}`"
                )
        rename_all(function, names)
    program.CopyFrom(graph.program())


def value_names(program: Program) -> set[str]:
    """Return the names of all values of a Program."""
    return {value.name for function in Graph(program).functions.values() for value in function.defined()}
