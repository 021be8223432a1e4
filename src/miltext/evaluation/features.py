"""Facts of a description about inputs and outputs, besides the types: sizes, defaults, images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.printing.flexible_shapes import Flexible, flexible, read_information
from miltext.schema.features import function_features
from miltext.schema.types import Shape, show

if TYPE_CHECKING:
    from miltext.schema.proto import FeatureDescription, ImageFeatureType, ModelDescription, Value


class Feature(NamedTuple):
    """Facts about an input or an output besides its type.

    `default` is the shape unless another is chosen, None if not stated. `sizes` are the allowed sizes, None if the type
    determines them. `filling` is the number that fills an omitted optional input, None for a required one. `image` is
    its format as a picture, None for other features.
    """

    default: tuple[int, ...] | None = None
    sizes: Flexible | None = None
    filling: float | None = None
    image: ImageFeatureType | None = None

    def allows(self, shape: tuple[int, ...]) -> bool:
        """Return whether a shape is allowed."""
        return self.sizes is None or self.sizes.allows(shape)

    def shapes(self, declared: Shape) -> str:
        """Return the allowed shapes, as text for a message; `declared` is the shape of its type."""
        sizes = self.sizes
        if sizes is None:
            return show(declared)
        if sizes.shapes:
            return _listed(show(tuple(each)) for each in _unlike(sizes.default, sizes.shapes))
        return f"[{', '.join(map(_range, sizes.ranges))}]" if sizes.ranges else show(tuple(sizes.default))


NOTHING_SAID = Feature()


def _range(limits: list[int]) -> str:
    least, most = limits
    return str(least) if least == most else f"{least} or more" if most < 0 else f"{least} to {most}"


def _unlike(default: list[int], shapes: list[list[int]]) -> Iterator[list[int]]:
    """Yield the default shape, unless it is among the shapes, and then the shapes."""
    if default not in shapes:
        yield default
    yield from shapes


def _listed(shapes: Iterable[str], most: int = 6) -> str:
    """Return the first shapes of a list for a sentence."""
    words = list(shapes)
    if len(words) > most:
        return f"{', '.join(words[:most])} or {len(words) - most} others"
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# ---- reading them


def features_of(
    description: ModelDescription | None, function: str, information: Value | None, declared: Mapping[str, Shape]
) -> dict[str, Feature]:
    """Return the features of a function by name: from its description, else from its FlexibleShapeInformation.

    `information` is that attribute, `declared` are the shapes that the program states; sizes of another rank are
    ignored.
    """
    found = {name: Feature(tuple(sizes.default), sizes) for name, sizes in read_information(information).items()}
    if description is not None:
        inputs, outputs = _sides(description, function)
        found |= {each.name: _feature(each) for each in (*outputs, *inputs)}
    return {name: _of_rank(found.get(name, NOTHING_SAID), len(shape)) for name, shape in declared.items()}


def _of_rank(feature: Feature, rank: int) -> Feature:
    is_fit = feature.default is None or len(feature.default) == rank
    return feature if is_fit else NOTHING_SAID


def _sides(description: ModelDescription, function: str) -> tuple[Iterable[FeatureDescription], ...]:
    """Return the inputs and the outputs of a function; for a model with a single function, they are in the description
    itself.
    """
    own = function_features(description, function)
    return own.input, own.output


def _feature(described: FeatureDescription) -> Feature:
    sizes = flexible(described)
    if sizes is None:
        return NOTHING_SAID
    if described.type.WhichOneof("Type") == "imageType":
        return Feature(tuple(sizes.default), sizes, None, described.type.imageType)
    array = described.type.multiArrayType
    member = array.WhichOneof("defaultOptionalValue") if described.type.isOptional else None
    return Feature(tuple(sizes.default), sizes, None if member is None else getattr(array, member))
