"""The ML Program in a pipeline that uses the pipeline's own inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.pipelines.connections import OUTER, connections
from miltext.pipelines.faults import message_of
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.models.model import Model


def only_taker(pipeline: Model, names: Iterable[str]) -> str | None:
    """Return the path, such as `1/0`, of the ML Program that is the only user of these inputs of a pipeline; None
    without such a program.
    """
    found = {_taker(pipeline, name) for name in names}
    return found.pop() if len(found) == 1 else None


def _taker(pipeline: Model, name: str) -> str | None:
    of_name = [each for each in connections(message_of(pipeline)) if (each.name, each.giver) == (name, OUTER)]
    takers = [taker for each in of_name for taker in each.takers if taker != OUTER]
    if len(takers) != 1:
        return None
    index, model = takers[0], pipeline.models[takers[0]]
    inside = _taker(model, name) if model.is_pipeline else None
    if inside is not None:
        return f"{index}/{inside}"
    return str(index) if model.type == PROGRAM else None
