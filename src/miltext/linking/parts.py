"""The models to link: their names, their chosen functions, and the inputs and outputs of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from miltext.building.choices import BuildChoices
from miltext.containers.functions import chosen_function, require_program
from miltext.containers.sources import Source, is_text, model_of
from miltext.diagnostics import ModelError, Note, codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.drafting.importing import assembled
from miltext.drafting.model_parts import ModelPart
from miltext.drafting.programs import outlined
from miltext.files.refusals import refusal
from miltext.files.writing import WITH_DESCRIPTION
from miltext.models.model import Model

if TYPE_CHECKING:
    from miltext.descriptions.ranges import Range
    from miltext.linking.options import Models

Given = TypeVar("Given", bound=Source)

UNNAMED = "model"
"""The name of a source without a file."""


class End(NamedTuple):
    """An input, a state or an output of a linked model: the place of the model, the side, and the name."""

    part: int
    side: str
    name: str


@dataclass(kw_only=True)
class LinkedPart(ModelPart):
    """A model to link, with its place among the others."""

    place: int

    def message_names(self) -> list[str]:
        """Return the names of the inputs and states, in the order of the function."""
        return [value.name for value in self.message.inputs]

    def ends(self, *sides: str) -> Iterator[End]:
        """Yield the inputs, states or outputs of the model on some sides, in its order."""
        return (End(self.place, side, name) for side in sides for name in self.sides[side])


def read_parts(models: Models, functions: str | Mapping[str, str] | None, choices: BuildChoices) -> list[LinkedPart]:
    """Return the models to link. A draft is completed.

    Raise ModelError: MIL254 and MIL257 for a model that is not an ML Program, MIL430 for an unknown function, MIL485
    for no model, and for a function without a body; and the errors of a build.
    """
    named = _named(models)
    if not named:
        raise refusal(codes.IMPOSSIBLE_LINK, "no model is named: name at least one to link")
    if "" in named:
        raise refusal(codes.IMPOSSIBLE_LINK, "the name of a model is empty")
    chosen = _chosen(functions, [*named])
    sources = {name: require_program(model_of(source), "linked") for name, source in named.items()}
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
        raise TypeError("`models` of link() must be several models, or a mapping, such as a dict, of names to models")
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
    program = outlined(source).program
    return {value.name for name in program.functions for value in program.functions[name].inputs}


def _part(place: int, name: str, source: Model, function: str | None, own: BuildChoices) -> LinkedPart:
    whole, built = assembled(source, own)
    default = built.spec.description.defaultFunctionName
    chosen = chosen_function(built.spec.mlProgram, default, function, source.name)
    return LinkedPart(name=name, place=place, source=whole, choices=own, built=built, function=chosen)
