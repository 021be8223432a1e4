"""The growth of a model: the scopes and weights with another number of bytes than in the model before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing import diff
from miltext.sizing.sizes import measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.diffing.difference import Difference, ModelDifference
    from miltext.models.model import Model
    from miltext.sizing.sizes import ModelSize


class ScopeGrowth(NamedTuple):
    """The bytes of a scope's weights before and after; `model` is the path of a model in a pipeline.

    The scope of a model that only one pipeline has is empty, and so is its function.
    """

    model: str
    function: str
    scope: str
    old_bytes: int
    new_bytes: int


class WeightGrowth(NamedTuple):
    """A weight with another number of bytes: the bytes and forms before and after, None for no weight, and its uses in
    the new model, each an operation and a parameter.
    """

    model: str
    name: str
    old_bytes: int
    new_bytes: int
    old_form: str | None
    new_form: str | None
    used_as: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Growth:
    """The growth of the weights from the model `old` to `new`, which is true if their sizes differ."""

    old: str
    new: str
    old_bytes: int
    new_bytes: int
    scopes: tuple[ScopeGrowth, ...]
    weights: tuple[WeightGrowth, ...]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.old_bytes != self.new_bytes or any(each.old_bytes != each.new_bytes for each in self.scopes)


def growth_between(old: Model, new: Model) -> Growth:
    """Return the growth from an old model to a new one, by the pairs of operations that `diff` finds."""
    sizes = measure(old), measure(new)
    difference = diff(old, new)
    scopes = tuple(each for each in _scopes(difference, "", sizes) if each.old_bytes != each.new_bytes)
    notes = tuple(dict.fromkeys((*sizes[0].notes, *sizes[1].notes)))
    return Growth(old.name, new.name, sizes[0].bytes, sizes[1].bytes, scopes, tuple(_weights(difference, "")), notes)


def _scopes(difference: Difference, place: str, sizes: tuple[ModelSize, ModelSize]) -> Iterator[ScopeGrowth]:
    """Yield the scopes with differences, also of the models in a pipeline."""
    for each in difference.stat.scopes:
        yield ScopeGrowth(place, each.function, each.scope, each.old_bytes, each.new_bytes)
    for model in difference.models:
        if model.difference is not None:
            yield from _scopes(model.difference, model.place, sizes)
        else:
            yield _alone(model, sizes)


def _alone(model: ModelDifference, sizes: tuple[ModelSize, ModelSize]) -> ScopeGrowth:
    """Return the bytes of a model that only one pipeline has."""
    was, now = (sum(each.bytes for each in side.weights if each.model == model.place) for side in sizes)
    return ScopeGrowth(model.place, "", "", *((0, now) if model.status == "added" else (was, 0)))


def _weights(difference: Difference, place: str) -> Iterator[WeightGrowth]:
    for each in difference.summary.sizes.changed:
        forms = each.old_form, each.new_form
        yield WeightGrowth(place, each.name, each.old_bytes, each.new_bytes, *forms, each.used_as)
    for model in difference.models:
        if model.difference is not None:
            yield from _weights(model.difference, model.place)
