"""Updates after an edit of a program: its description, the pipelines around it, and the specification version.

In pipelines, inputs and outputs of the model keep their connections. A new name is applied at both ends, also in other
models. An input or output of the pipeline itself gets a new type; if another model would need a new type, the edit is
refused. A new input that no earlier model outputs becomes an input of the pipeline, and a new output that no later
model uses becomes its output, as in `coremltools.utils.make_pipeline`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

from miltext.descriptions.losses import DescriptionLoss
from miltext.descriptions.program_descriptions import required_version, update
from miltext.diagnostics import codes, warning
from miltext.files.contents import stages
from miltext.files.refusals import refusal
from miltext.pipelines.connections import (
    OUTER,
    WHOLE,
    Connection,
    Entries,
    PipelinePlace,
    agree,
    connections,
    given,
    is_described,
    places,
    taken,
)
from miltext.pipelines.renaming import name_in_use, rename_connections
from miltext.pipelines.type_words import type_words
from miltext.schema.features import PREDICTIONS, features
from miltext.schema.function_io import interfaces

if TYPE_CHECKING:
    from miltext.building.choices import BuildChoices
    from miltext.building.new_model import NewModel
    from miltext.descriptions.changes import Counterparts
    from miltext.descriptions.counterparts import Counterpart, Names, Version
    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.dynamic import Fields
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import FeatureDescription, FeatureType
    from miltext.schema.proto import Model as Spec


class StillThere(NamedTuple):
    """The new names of the remaining inputs and outputs of a model, by the old ones."""

    taken: Names
    given: Names


class Carried(NamedTuple):
    """The losses of the descriptions around a model, and warnings about changed inputs and outputs of its pipelines."""

    losses: list[DescriptionLoss]
    warnings: list[Diagnostic]


def pipelines_around(way: Sequence[Spec], check: bool) -> list[PipelineAround]:
    """Return the pipelines around the last model of a path, the innermost first, before that model is edited.

    Without `check`, mismatches (MIL456, MIL457) are only warnings.
    """
    inside = places(way)
    around = [WHOLE, *(place for _, place in inside)]
    found = [PipelineAround(spec, index, place, check) for spec, (index, _), place in zip(way, inside, around)]  # noqa: B905
    return found[::-1]


def carry(around: Iterable[PipelineAround], spec: Spec, known: Mapping[str, Counterpart]) -> Carried:
    """Update the pipelines around a model to its edited description; `known` are the former counterparts of its
    functions.

    Raise ModelError: MIL431 for a name in use there, MIL456 for a type that another model does not accept, MIL457 for a
    connection that would be lost, and the errors of renaming at the other ends.
    """
    carried = Carried([], [])
    kept: StillThere | None = None
    for each in around:
        kept = each.carry(kept or _kept(each, spec, known))
        carried.losses.extend(each.losses)
        carried.warnings.extend(each.warnings)
    return carried


def _kept(around: PipelineAround, spec: Spec, known: Mapping[str, Counterpart]) -> StillThere:
    """Return the remaining inputs and outputs of a model's default function."""
    was = known.get(spec.description.defaultFunctionName) or next(iter(known.values()), None)
    old, new = (was.interface.sides, was.sides) if was else ({}, {})

    def still(entries: Entries, now: Entries, *sides: str) -> Names:
        names = {name: new[side].get(name, "") for side in sides for name in old.get(side, ())}
        return {name: names.get(name, name) for name in entries if names.get(name, name) in now}

    return StillThere(still(around.taken, taken(spec), "input", "state"), still(around.given, given(spec), "output"))


class PipelineAround:
    """A pipeline around an edited model; `taken` and `given` are the model's former inputs and outputs.

    `losses` and `warnings` grow during the edit.
    """

    def __init__(self, spec: Spec, index: int, place: PipelinePlace, check: bool) -> None:
        self._spec, self._index, self._place, self._check = spec, index, place, check
        self._connections = connections(spec)
        self.taken, self.given = deepcopy(taken(self._model)), deepcopy(given(self._model))
        self.losses: list[DescriptionLoss] = []
        self.warnings: list[Diagnostic] = []

    @property
    def _model(self) -> Spec:
        return stages(self._spec)[self._index]

    @property
    def _name(self) -> PipelinePlace:
        return self._place.inside(self._spec, self._index)

    def carry(self, kept: StillThere) -> StillThere:
        """Apply an edit to this pipeline, and return its remaining inputs and outputs."""
        self._part(kept)
        old = {each: each.name for each in self._connections}
        chosen = {each: new for each in old if (new := self._new_name(each, kept)) != each.name}
        rename_connections(self._spec, self._connections, chosen, self._place, but=self._index)
        for each in old:
            each.name = chosen.get(each, each.name)
        for each, old_name in old.items():
            self._retype(each, old_name)
        self._join(kept)
        return StillThere(
            {old[each]: each.name for each in old if each.giver == OUTER},
            {old[each]: each.name for each in old if OUTER in each.takers},
        )

    def _new_name(self, connection: Connection, kept: StillThere) -> str:
        name = connection.name
        if connection.giver == self._index:
            return kept.given[name]
        return kept.taken[name] if self._index in connection.takers else name

    # ---- removed features

    def _part(self, kept: StillThere) -> None:
        """Remove the model from the connections of its removed inputs and outputs."""
        for each in [*self._connections]:
            if each.giver == self._index and each.name not in kept.given:
                self._lose_given(each)
            elif self._index in each.takers and each.name not in kept.taken:
                self._lose_taken(each)

    def _lose_given(self, connection: Connection) -> None:
        name = connection.name
        for taker in connection.takers:
            if taker != OUTER:
                user = self._place.inside(self._spec, taker)
                self._refuse(
                    codes.PIPELINE_CONNECTION_LOST,
                    f"{self._name} no longer has the output `{name}`, an input of {user}",
                )
        self._connections.remove(connection)
        if OUTER in connection.takers:
            listed = features(self._spec.description)
            self._remove(listed.output, name)
            for prediction in PREDICTIONS:
                if getattr(listed, prediction) == name:
                    listed.ClearField(prediction)
            self._warn(f"{self._place} no longer has the output `{name}`, which was an output of {self._name}")

    def _lose_taken(self, connection: Connection) -> None:
        connection.takers.remove(self._index)
        if connection.takers or connection.giver not in (OUTER, None):
            return
        self._connections.remove(connection)
        if connection.giver == OUTER:
            listed = features(self._spec.description)
            for entries in (listed.input, listed.state, self._spec.description.trainingInput):
                self._remove(entries, connection.name)
            self._warn(f"{self._place} no longer has the input `{connection.name}`, which only {self._name} used")

    def _remove(self, entries: Fields, name: str) -> None:
        """Remove the entries of a name from a repeated field of the pipeline's description."""
        for index in reversed(range(len(entries))):
            if entries[index].name == name:
                if entries[index].shortDescription:
                    message = f"`{name}` of {self._place} was removed, and had a short description"
                    self.losses.append(DescriptionLoss(message, is_meant=True))
                del entries[index]

    def _warn(self, message: str) -> None:
        self.warnings.append(warning(codes.PIPELINE_DESCRIPTION_CHANGED, message))

    def _refuse(self, code: str, message: str) -> None:
        if self._check:
            raise refusal(code, message)
        self.warnings.append(warning(code, message))

    # ---- changed types

    def _retype(self, connection: Connection, old_name: str) -> None:
        """Update the ends of a connection to its new type in the model."""
        if connection.giver == self._index:
            self._fit(connection, self.given[old_name], given(self._model)[connection.name])
        elif self._index in connection.takers:
            self._fit(connection, self.taken[old_name], taken(self._model)[connection.name])

    def _fit(self, connection: Connection, old: FeatureDescription | None, new: FeatureDescription | None) -> None:
        if old is None or new is None or old.type == new.type:
            return
        self._check_models(connection, new.type)
        listed = features(self._spec.description)
        ends = [*listed.input, *listed.state] if connection.giver == OUTER else []
        for entry in (*ends, *(listed.output if OUTER in connection.takers else ())):
            if entry.name == connection.name:
                self._follow(entry, old.type, new.type)

    def _check_models(self, connection: Connection, new: FeatureType) -> None:
        for place in (connection.giver, *connection.takers):
            if place not in (None, OUTER, self._index):
                self._check_end(connection, place, new)

    def _check_end(self, connection: Connection, place: int, new: FeatureType) -> None:
        """Refuse a type that another model at the end of a connection does not accept."""
        end, model = self._place.inside(self._spec, place), stages(self._spec)[place]
        is_giver = place == connection.giver
        entry = (given(model) if is_giver else taken(model))[connection.name]
        if entry is not None and not agree(entry.type, new):
            other = f"{end} {'gives' if is_giver else 'takes'} {type_words(entry.type)}"
            does = "gives" if connection.giver == self._index else "takes"
            self._refuse(
                codes.PIPELINE_TYPE_CLASH,
                f"{self._name} {does} `{connection.name}` as {type_words(new)} now, but {other}",
            )

    def _follow(self, entry: FeatureDescription, old: FeatureType, new: FeatureType) -> None:
        """Give a feature of the pipeline itself its new type in the model."""
        was, made = deepcopy(entry.type), deepcopy(new)
        made.isOptional = was.isOptional
        entry.type.CopyFrom(made)
        old = deepcopy(old)
        old.isOptional = was.isOptional
        if was not in (old, made):
            message = f"the type of `{entry.name}` of {self._place} now follows {self._name}, and was"
            self.losses.append(DescriptionLoss(f"{message} {type_words(was)}"))

    # ---- new features

    def _join(self, kept: StillThere) -> None:
        """Connect the new features of the model; an empty description of the pipeline stays empty."""
        if not is_described(self._spec):
            return
        for name, entry in taken(self._model).items():
            if name not in kept.taken.values() and entry is not None:
                self._join_taken(entry)
        for name, entry in given(self._model).items():
            if name not in kept.given.values() and entry is not None:
                self._join_given(entry)

    def _join_taken(self, entry: FeatureDescription) -> None:
        found = [each for each in self._connections if each.name == entry.name]
        there = [each for each in found if each.giver is not None and each.giver < self._index]
        if there:
            there[-1].takers.append(self._index)
            self._check_giver(there[-1], entry)
        elif found:
            raise name_in_use(self._spec, found[0], entry.name, self._place)
        else:
            listed = features(self._spec.description)
            entries = listed.state if entry.type.WhichOneof("Type") == "stateType" else listed.input
            entries.add().CopyFrom(entry)
            self._connections.append(Connection(entry.name, OUTER, [self._index]))
            self._warn(f"{self._place} takes `{entry.name}`, too, which {self._name} takes now")

    def _check_giver(self, connection: Connection, entry: FeatureDescription) -> None:
        """Refuse a new input of another type than its source."""
        assert connection.giver is not None
        if connection.giver != OUTER:
            self._check_end(connection, connection.giver, entry.type)
        outer = taken(self._spec).get(entry.name) if connection.giver == OUTER else None
        if outer is not None and not agree(outer.type, entry.type):
            message = f"{self._name} takes `{entry.name}` as {type_words(entry.type)} now, but {self._place} takes "
            self._refuse(codes.PIPELINE_TYPE_CLASH, message + type_words(outer.type))

    def _join_given(self, entry: FeatureDescription) -> None:
        found = [each for each in self._connections if each.name == entry.name]
        if not found:
            features(self._spec.description).output.add().CopyFrom(entry)
            self._connections.append(Connection(entry.name, self._index, [OUTER]))
            return
        (first, *others) = found
        if others or first.giver is not None or not all(each == OUTER or each > self._index for each in first.takers):
            raise name_in_use(self._spec, first, entry.name, self._place)
        first.giver = self._index
        self._check_models(first, entry.type)


def follow(new: NewModel, way: Sequence[Spec], before: Version, choices: BuildChoices) -> None:
    """Update the descriptions and versions of a model, and of the pipelines around it, to its edited program and the
    requested sizes; note the former counterparts of its functions.
    """
    spec = way[-1]
    *_, place = WHOLE, *(place for _, place in places(way))
    known: Counterparts = {}
    after = interfaces(spec.mlProgram)
    needed = required_version(before.program, spec.description) if before.program else 0
    if choices.asked or _listed(after) != _listed(before.interfaces):
        pipelines = pipelines_around(way, choices.check)
        losses, known = update(
            spec.description, before, spec.mlProgram, after, choices.asked, keeps_names=choices.edit is not None
        )
        carried = carry(pipelines, spec, known)
        new.losses += [*losses, *carried.losses]
        new.warnings += carried.warnings
    version = required_version(spec.mlProgram, spec.description)
    for each in way if version > needed else ():
        each.specificationVersion = max(each.specificationVersion, version)
    new.known[place.path] = known


def _listed(interfaces: Mapping[str, Interface]) -> list[tuple[str, list[list[object]]]]:
    """Return the inputs and outputs of functions, in their order."""
    return [(name, [[*types.items()] for types in each.sides.values()]) for name, each in interfaces.items()]
