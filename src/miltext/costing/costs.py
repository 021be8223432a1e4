"""The costs of running a model: `miltext.cost`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.containers.sources import model_of
from miltext.costing.programs import CostedProgram
from miltext.costing.sized import sized
from miltext.costing.work import ModelCost
from miltext.descriptions.ranges import Range, read_ranges
from miltext.diagnostics.arguments import checked
from miltext.pairing.contents import Keys
from miltext.pipelines.takers import only_taker
from miltext.syntax.gc_pause import gc_paused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.containers.sources import Source
    from miltext.descriptions.sizes import Sizes
    from miltext.models.model import Model


@checked()
def cost(
    source: Source,
    *,
    shapes: Mapping[str, Range] | None = None,
    function: str | None = None,
    model: int | str | None = None,
) -> ModelCost:
    """Return what a model costs to run: multiply-accumulates, bytes read and written, and the most memory of values.

    A weight counts with its bytes as stored, each time that an operation reads it. A pipeline is measured with all of
    its ML Programs. No weight file is needed. A draft is completed first.

    Args:
        source: MIL text, a path, a Program or a Model.
        shapes: The shapes of inputs and states by name: `"1,3,256,256"` or `[1, 3, 256, 256]`; others with open sizes
            get their default shapes. In a pipeline, the only ML Program that uses the inputs gets them.
        function: The only function to measure.  [all]
        model: The model in a pipeline.  [all]

    Returns:
        The costs.

    Raises:
        ModelError: A model that cannot be read; MIL254 for one without an ML Program; MIL430 for an unknown input or
            function; MIL434 for an unreadable shape; MIL435 for a range, for a shape of another rank, and for
            open sizes without a default shape.
        ParseError: The text is not MIL text, or the program does not fit the shapes.

    Example:
        most = max(miltext.cost("Model.mlpackage").ops, key=lambda each: each.work.macs)
    """
    whole = model_of(source)
    sizes = read_ranges(shapes or {}, are_fixed=True)
    return measure_cost(whole if model is None else whole.select(model), sizes, function)


def measure_cost(model: Model, shapes: Mapping[str, Sizes], function: str | None = None) -> ModelCost:
    """Return the costs of a model, or of all ML Programs in a pipeline. Raise as `cost` does."""
    programs = [*programs_of(model, shapes, function)]
    return cost_of(model.name, programs)


def programs_of(
    model: Model, shapes: Mapping[str, Sizes], function: str | None = None, keys: Keys | None = None
) -> Iterator[CostedProgram]:
    """Yield the programs of a model with the given shapes of inputs."""
    stages = model.select_all()
    taker = only_taker(model, shapes) if shapes and model.is_pipeline else stages[0].place
    if shapes and taker is None:
        model.select(None)  # raises the error that lists the models
    for stage in stages:
        with gc_paused:
            made = sized(stage.model, shapes if stage.place == taker else {}, function)
            costed = CostedProgram(stage, made, function, Keys() if keys is None else keys)
        yield costed


def cost_of(name: str, programs: Sequence[CostedProgram]) -> ModelCost:
    """Return the costs of programs."""
    operations = tuple(row.cost for each in programs for row in each.rows)
    notes = dict.fromkeys(note for each in programs for note in each.notes)
    return ModelCost(name, tuple(cost for each in programs for cost in each.functions), operations, (*notes,))
