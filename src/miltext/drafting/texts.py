"""`to_text` and `weights` for any source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.containers.sources import Source, model_of
from miltext.diagnostics.arguments import checked
from miltext.drafting.programs import completed, of_source
from miltext.printing import printing

if TYPE_CHECKING:
    from miltext.weight_files.model_weights import Weights

to_text = of_source(printing.to_text)


@checked()
def weights(source: Source, *, model: str | int | None = None) -> Weights:
    """Return the weights of a model by name: a mapping of numpy arrays, each read when it is looked up.

    Args:
        source: MIL text, a path, a Program or a Model.
        model: The place of an ML Program in a pipeline, such as `1`, `"1/0"` or a name.

    Returns:
        A `Weights`: its `entries` contain the type, shape, bytes and place of each weight, without reading it.

    Raises:
        ModelError: MIL25x for a model that cannot be read, and at a weight's name WeightsError (MIL30x).
        ParseError: The text is not MIL text.

    Example:
        largest = max(miltext.weights("Model.mlpackage").entries.values(), key=lambda weight: weight.size)
    """
    whole = completed(model_of(source).select(model))
    whole.weights.keeps = whole.keeps
    return whole.weights
