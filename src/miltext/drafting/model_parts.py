"""Models as parts of another one: their chosen functions, descriptions and weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.new_model import rename_files
from miltext.descriptions.kinds import ProgramFeature, new_entry
from miltext.descriptions.losses import DescriptionLoss
from miltext.diagnostics import codes
from miltext.files.refusals import refusal
from miltext.ir.graph import Graph
from miltext.schema.features import PREDICTIONS, function_features
from miltext.schema.function_io import interface
from miltext.schema.stamps import STAMP
from miltext.weight_files.model_weights import blob_values

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.building.choices import BuildChoices
    from miltext.building.new_model import NewModel
    from miltext.ir.functions import Function as GraphFunction
    from miltext.models.model import Model
    from miltext.schema.function_io import Types
    from miltext.schema.proto import FeatureDescription, Function, FunctionDescription, ModelDescription
    from miltext.schema.tensors import InType


class Claimed(NamedTuple):
    """The weight files of a part by their names in the whole, and its arrays to store by their marks there."""

    files: dict[str, Path]
    arrays: dict[str, InType]


@dataclass(kw_only=True)
class ModelPart:
    """A model that becomes a part of another one, by its name: the model as it would be built, and its function.

    `source` is the model, whose draft is completed, and `choices` are for its build. `claimed` are its weights in the
    whole.
    """

    name: str
    source: Model
    choices: BuildChoices
    built: NewModel
    function: str
    claimed: Claimed = field(default_factory=lambda: Claimed({}, {}))

    def __post_init__(self) -> None:
        self.sides: Mapping[str, Types] = interface(self.message).sides

    @property
    def message(self) -> Function:
        """The message of the chosen function."""
        return self.built.spec.mlProgram.functions[self.function]

    @property
    def described(self) -> ModelDescription | FunctionDescription:
        """The part of the description about the chosen function."""
        return function_features(self.built.spec.description, self.function)

    def entries(self, side: str) -> dict[str, FeatureDescription]:
        """Return the entries of the description on a side, by name."""
        return {entry.name: entry for entry in getattr(self.described, side)}

    def entry(self, side: str, name: str) -> FeatureDescription:
        """Return the entry of an input, state or output, made from its type if the model describes none."""
        known = self.entries(side).get(name)
        if known is not None:
            return known
        return new_entry(ProgramFeature(name, self.sides[side][name], side, self.function), is_bounded=False)

    def graph(self) -> GraphFunction:
        """Return the chosen function in a graph of its own. Raise ModelError (MIL485) for undefined names."""
        function = Graph(self.built.spec.mlProgram).functions[self.function]
        if function.undefined:
            name = next(iter(function.undefined))
            message = f"`{self.name}` uses `{name}`, which nothing defines: another model would define it by chance"
            raise refusal(codes.IMPOSSIBLE_LINK, message, self.source.name)
        return function

    def replace(self, source: Model, choices: BuildChoices, built: NewModel) -> None:
        """Take another form of the model, as with other sizes."""
        self.source, self.choices, self.built = source, choices, built
        self.sides = interface(self.message).sides

    def claim(self, prefix: str) -> None:
        """Make the names of weight files and of arrays different from those of other parts, by a prefix."""
        program = self.built.spec.mlProgram
        arrays = self.built.storing.arrays if self.built.storing is not None else {}
        rename_files(program, {name: f"{prefix}/{name}" for name in self.built.files})
        for held in blob_values(program) if arrays else ():
            blob = held.value.blobFileValue
            blob.fileName = f"{blob.fileName}#{prefix}" if blob.fileName in arrays else blob.fileName
        files = {f"{prefix}/{name}": path for name, path in self.built.files.items()}
        self.claimed = Claimed(files, {f"{mark}#{prefix}": array for mark, array in arrays.items()})


def name_predictions(
    description: ModelDescription | FunctionDescription,
    given: Iterable[tuple[ModelPart, Mapping[str, str]]],
    losses: list[DescriptionLoss],
) -> None:
    """Name the outputs of the last classifier whose label is an output of the whole.

    `given` are the parts with the names in the whole of their outputs, by their own.
    """
    label, probabilities = PREDICTIONS
    before = ""
    for part, names in given:
        stated = [getattr(part.described, field) for field in PREDICTIONS]
        if not stated[0]:
            continue
        if stated[0] not in names:
            message = f"the label `{stated[0]}` of `{part.name}` is not an output, so that model classifies nothing"
            losses.append(DescriptionLoss(message, is_meant=True))
            continue
        own = f"{part.name}.{stated[0]}"
        if before:
            losses.append(DescriptionLoss(f"`{before}` is no longer a predicted label: a model has one, `{own}`"))
        before = own
        setattr(description, label, names[stated[0]])
        setattr(description, probabilities, names.get(stated[1], ""))


def take_metadata(description: ModelDescription, parts: Iterable[ModelPart], losses: list[DescriptionLoss]) -> None:
    """Take the metadata of the first model that has some; record the facts of the others that differ."""
    first = ""
    for part in parts:
        own = part.built.spec.description
        if not own.HasField("metadata") or not own.metadata.ByteSize():
            continue
        if not first:
            first = part.name
            description.metadata.CopyFrom(own.metadata)
        elif lost := [*_different(description, own)]:
            losses.append(DescriptionLoss(f"the metadata are those of `{first}`; `{part.name}` had {', '.join(lost)}"))


def _different(one: ModelDescription, other: ModelDescription) -> Iterator[str]:
    """Yield the names of the metadata of another description that this one lacks or has with another value; stamps of
    tools do not count.
    """
    for listed, value in other.metadata.ListFields():
        if listed.name == "userDefined":
            known = one.metadata.userDefined
            yield from (key for key in sorted(value) if not key.startswith(STAMP) and known.get(key) != value[key])
        elif getattr(one.metadata, listed.name) != value:
            yield f"another {listed.name}" if getattr(one.metadata, listed.name) else f"a {listed.name}"
