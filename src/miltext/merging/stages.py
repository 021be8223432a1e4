"""The models of three versions of a pipeline: their partners, their merged order, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.diffing.pipelines import paired
from miltext.merging.ordering import merged_order, replaced_twice
from miltext.models.model import Stage
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.models.model import Model

Key: TypeAlias = "tuple[str, str | int]"
"""Identity of a model in all versions: its place in the base, or its name or place on its side."""

Keyed: TypeAlias = "dict[Key, Model]"


class StageTriple(NamedTuple):
    """One model of a pipeline in the three versions, None in a version without it."""

    base: Model | None
    ours: Model | None
    theirs: Model | None

    @property
    def name(self) -> str:
        """The name of the model in the pipeline, from a version that has the model."""
        return next(each for each in (self.ours, self.theirs, self.base) if each is not None).pipeline_name


class Stages:
    """The models of three versions of a pipeline, in their merged order.

    Without a base, models of theirs are matched with models of ours. `is_replaced` means that both sides replaced the
    same model: the models are then not merged.
    """

    def __init__(self, base: Model | None, ours: Model, theirs: Model) -> None:
        known: Keyed = {("base", place): model for place, model in enumerate((base or ours).models)}
        before = known if base is not None else {}
        mine, other = (_keyed(known, side.models, name) for side, name in ((ours, "ours"), (theirs, "theirs")))
        self._versions = (before, mine, other)
        self._order = merged_order([*before], [*mine], [*other])
        self.is_replaced = replaced_twice(before, mine, other)
        self._names = [[*each.pipeline_names] if each is not None else [] for each in (base, ours, theirs)]

    def listed(self) -> list[str]:
        """Return the models of each version, by names and kinds."""
        return [
            ", ".join(f"{quote(model.pipeline_name)} {model.type}".removeprefix('"" ') for model in each.values())
            for each in self._versions
        ]

    def __iter__(self) -> Iterator[StageTriple]:
        for key in self._order:
            yield StageTriple(*(each.get(key) for each in self._versions))

    def names(self, kept: Sequence[tuple[StageTriple, str]]) -> list[str]:
        """Return all names of a pipeline for these names of merged models; none if no model has one.

        Empty names and names without a model come from a version with the same models and names.
        """
        made = [name for _, name in kept]
        fitting = []
        for side in (1, 2):
            models = [*self._versions[side].values()]
            if [triple[side] for triple, _ in kept] == models and [each.pipeline_name for each in models] == made:
                fitting.append(self._names[side])
        if fitting:
            return fitting[-1] if fitting[0] == self._names[0] else fitting[0]
        return made if any(made) else []


def _keyed(before: Keyed, models: Sequence[Model], side: str) -> Keyed:
    """Return the models of a side by the keys of their partners in the base, or by name if they have none."""
    old = [Stage(str(place), model) for place, model in enumerate(before.values())]
    new = [Stage(str(place), model) for place, model in enumerate(models)]
    known = {int(now.place): int(was.place) for was, now in paired(old, new) if was is not None and now is not None}
    keyed: Keyed = {}
    for place, model in enumerate(models):
        name = model.pipeline_name
        key: Key = ("base", known[place]) if place in known else ("added", name) if name else (side, place)
        keyed[key if key not in keyed else (side, place)] = model
    return keyed
