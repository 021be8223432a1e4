"""The shapes that inputs of flexible sizes have unless others are chosen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from miltext.printing.flexible_shapes import ATTRIBUTE, shape_information

if TYPE_CHECKING:
    from miltext.schema.proto import FeatureDescription, Function, Value

DEFAULT = "DefaultShapes"


def default_shapes(function: Function, features: Iterable[FeatureDescription] = ()) -> dict[str, tuple[int, ...]]:
    """Return the default shape of each input of flexible sizes, by name.

    `features` describe the inputs of the function. Without a description, as in a text, the compiler's own
    FlexibleShapeInformation says it.
    """
    attribute, _ = shape_information(features)
    if attribute is None and ATTRIBUTE in function.attributes:
        attribute = function.attributes[ATTRIBUTE]
    return {} if attribute is None else _shapes(attribute)


def _shapes(attribute: Value) -> dict[str, tuple[int, ...]]:
    """Return what stands beside the word for default shapes; an attribute of another form has none."""
    for part in attribute.immediateValue.tuple.values:
        section = part.immediateValue.tuple.values
        if len(section) == 2 and [*section[0].immediateValue.tensor.strings.values] == [DEFAULT]:
            pairs = [
                (pair.key.immediateValue.tensor, pair.value) for pair in section[1].immediateValue.dictionary.values
            ]
            return {"".join(key.strings.values): tuple(value.immediateValue.tensor.ints.values) for key, value in pairs}
    return {}
