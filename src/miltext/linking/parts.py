"""The models to link: their names, their chosen functions, and the inputs and outputs of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from miltext.building.build import assemble
from miltext.building.choices import BuildChoices
from miltext.building.filling import program_of
from miltext.containers.sources import Source, is_text, model_of
from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION
from miltext.diagnostics import ModelError, Note, ParseError, codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.files.refusals import refusal
from miltext.files.writing import WITH_DESCRIPTION
from miltext.models.model import Model
from miltext.schema.features import function_features
from miltext.schema.function_io import interface
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.walk import own_block

if TYPE_CHECKING:
    from miltext.building.new_model import NewModel
    from miltext.descriptions.ranges import Range
    from miltext.linking.options import Models
    from miltext.schema.function_io import Types
    from miltext.schema.proto import FeatureDescription, Function, FunctionDescription, ModelDescription

Given = TypeVar("Given", bound=Source)

UNNAMED = "model"
"""The name of a source without a file."""


class End(NamedTuple):
    """An input, a state or an output of a linked model: the place of the model, the side, and the name."""

    part: int
    side: str
    name: str


@dataclass
class LinkedPart:
    """A model to link, by its name and place among the others: the model as it would be built, and its function.

    `source` is the model, whose draft is completed, and `choices` are for its build.
    """

    name: str
    place: int
    source: Model
    choices: BuildChoices
    built: NewModel
    function: str

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

    def message_names(self) -> list[str]:
        """Return the names of the inputs and states, in the order of the function."""
        return [value.name for value in self.message.inputs]

    def ends(self, *sides: str) -> Iterator[End]:
        """Yield the inputs, states or outputs of the model on some sides, in its order."""
        return (End(self.place, side, name) for side in sides for name in self.sides[side])

    def entries(self, side: str) -> dict[str, FeatureDescription]:
        """Return the entries of the description on a side, by name."""
        return {entry.name: entry for entry in getattr(self.described, side)}

    def rebuild(self, source: Model, choices: BuildChoices) -> None:
        """Take another form of the model, as with other sizes."""
        self.source, self.choices, self.built = source, choices, assemble(source, choices)
        self.sides = interface(self.message).sides


def read_parts(models: Models, functions: str | Mapping[str, str] | None, choices: BuildChoices) -> list[LinkedPart]:
    """Return the models to link. A draft is completed.

    Raise ModelError: MIL254 and MIL257 for a model that is not an ML Program, MIL430 for an unknown function, MIL485
    for no model, and for a function without a body; and the errors of a build.
    """
    named = _named(models)
    if not named:
        raise refusal(codes.IMPOSSIBLE_LINK, "no model is named")
    if "" in named:
        raise refusal(codes.IMPOSSIBLE_LINK, "the name of a model is empty")
    chosen = _chosen(functions, [*named])
    sources = {name: _ml_program(model_of(source)) for name, source in named.items()}
    sizes = _sizes(sources, choices)
    return [
        _part(place, name, source, chosen.get(name), _own(source, choices, sizes[name]))
        for place, (name, source) in enumerate(sources.items())
    ]


def _own(source: Model, choices: BuildChoices, sizes: Mapping[str, Range]) -> BuildChoices:
    """Return the choices that a model is built with; weights are given for programs by themselves."""
    weights = None if source.kind in WITH_DESCRIPTION else choices.weights
    return BuildChoices(weights=weights, ranges=sizes, check=choices.check)


def _named(models: Models) -> dict[str, Source]:
    """Return the models by their names, which are different."""
    if isinstance(models, Mapping):
        return dict(models)
    if isinstance(models, str | os.PathLike | Model) or not isinstance(models, Iterable):
        raise TypeError("`models` of link() is several models, or a mapping, such as a dict, of names to models")
    return named_models([("", each) for each in models])


def named_models(models: Iterable[tuple[str, Given]]) -> dict[str, Given]:
    """Return models by name; one without a name gets that of its file, with a number if another model has it.

    Raise ModelError (MIL485) for two models of one given name.
    """
    models = [*models]
    given = [name for name, _ in models if name]
    if twice := next((name for name in given if given.count(name) > 1), None):
        raise refusal(codes.IMPOSSIBLE_LINK, f"two models are named `{twice}`")
    found: dict[str, Given] = {}
    for name, each in models:
        stem = name or _stem(each)
        names = chain([stem], (f"{stem}_{number}" for number in count(2)))
        found[next(way for way in names if way == name or way not in {*found, *given})] = each
    return found


def _stem(source: Source) -> str:
    """Return the name of a source's file, without the ending."""
    path = source.path if isinstance(source, Model) else source
    if isinstance(path, str | os.PathLike) and not (isinstance(path, str) and is_text(path)):
        return Path(os.path.abspath(path)).stem or UNNAMED
    return UNNAMED


def _chosen(functions: str | Mapping[str, str] | None, names: list[str]) -> dict[str, str]:
    """Return the chosen functions by the names of models. Raise ModelError (MIL430) for an unknown model."""
    if not isinstance(functions, Mapping):
        return {} if functions is None else dict.fromkeys(names, functions)
    for name in functions:
        if name not in names:
            raise unknown_model(name, names)
    return dict(functions)


def unknown_model(name: str, names: Iterable[str]) -> ModelError:
    """Return the error about a name that no model has."""
    known = [*names]
    message = f"unknown model `{name}`{did_you_mean(nearest(name, known))}"
    return refusal(codes.UNKNOWN_NAME, message, None, Note(f"the models are {listed(known, 'and')}"))


def _ml_program(source: Model) -> Model:
    if source.type == PROGRAM:
        return source
    try:
        return source.select(None)
    except ModelError as failure:
        found = failure.diagnostics[0]
        way = "only ML Programs are linked: take one out of the pipeline, as with `miltext extract` and its `model=`"
        failure.diagnostics[0] = found._replace(notes=(*found.notes, Note(way))) if source.models else found
        raise


def _sizes(sources: Mapping[str, Model], choices: BuildChoices) -> dict[str, dict[str, Range]]:
    """Return the requested sizes of the inputs that each model has. Raise ModelError (MIL430) for an unknown input."""
    ranges = choices.ranges or {}
    inputs = {name: _inputs(source) if ranges else set[str]() for name, source in sources.items()}
    known = set[str]().union(*inputs.values())
    for name in ranges:
        if name not in known:
            raise refusal(codes.UNKNOWN_NAME, f"unknown input `{name}`{did_you_mean(nearest(name, sorted(known)))}")
    return {name: {each: ranges[each] for each in ranges if each in inputs[name]} for name in sources}


def _inputs(source: Model) -> set[str]:
    """Return the names of the inputs of all functions."""
    try:
        program = program_of(source, ()).program
    except ParseError as failure:
        program = _completed(source, failure).program
    return {value.name for name in program.functions for value in program.functions[name].inputs}


def _completed(source: Model, failure: ParseError) -> Model:
    """Return the completed draft that failed to parse; raise the failure for any other text."""
    from miltext.drafting.draft import Draft

    draft = Draft.behind(failure, source)
    if draft is None:
        raise failure
    return draft.model


def _part(place: int, name: str, source: Model, function: str | None, own: BuildChoices) -> LinkedPart:
    try:
        built = assemble(source, own)
    except ParseError as failure:
        source = _completed(source, failure)
        built = assemble(source, own)
    return LinkedPart(name, place, source, own, built, _function(built, function, source.name))


def _function(built: NewModel, name: str | None, path: str) -> str:
    """Return the function with a name, by default the function that Core ML runs."""
    functions, default = built.spec.mlProgram.functions, built.spec.description.defaultFunctionName
    known = sorted(functions)
    if name is None:
        likely = [each for each in (default, DEFAULT_FUNCTION, *known[: len(known) == 1]) if each in functions]
        if not likely:
            message = f"the model has several functions, {listed(known, 'and')}, and none is the default: choose one"
            raise refusal(codes.UNKNOWN_NAME, message, path)
        name = likely[0]
    if name not in functions:
        message = f"unknown function `{name}`{did_you_mean(nearest(name, known))}"
        raise refusal(codes.UNKNOWN_NAME, message, path, Note(f"the model has {listed(known, 'and')}"))
    if own_block(functions[name]) is None:
        message = f"the function `{name}` has no block for its opset, so there is nothing to link"
        raise refusal(codes.IMPOSSIBLE_LINK, message, path)
    return name
