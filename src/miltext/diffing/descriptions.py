"""The differences of two models around their programs: specification version and description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diffing.structure import Change
from miltext.models.description_facts import facts
from miltext.schema.stamps import STAMP

if TYPE_CHECKING:
    from miltext.models.model import Model

MADE_BY = f"metadata.userDefined[{STAMP}"
"""The prefix of the facts about the tools that made a model, and when."""


def compare_models(old: Model, new: Model, build_info: bool) -> list[Change]:
    """Return the changes of what both models have."""
    changes: list[Change] = []
    before, now = old.specification_version, new.specification_version
    if before and now and before != now:
        changes.append(Change("specification", "", str(before), str(now)))
    if old.spec is not None and new.spec is not None and old.spec.isUpdatable != new.spec.isUpdatable:
        changes.append(Change("isUpdatable", "", str(old.spec.isUpdatable), str(new.spec.isUpdatable)))
    if old.description is None or new.description is None:
        return changes
    said, others = [dict(facts(each)) for each in (old.description, new.description)]
    paths = [path for path in {**said, **others} if said.get(path) != others.get(path)]
    told = [path for path in paths if build_info or not path.startswith(MADE_BY)]
    return changes + [Change("description", path, said.get(path), others.get(path)) for path in told]
