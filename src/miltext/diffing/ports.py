"""The interface of a model for callers: the functions, and the inputs, outputs and states of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.descriptions.sizes import ANY, Size, spell_sizes
from miltext.printing.flexible_shapes import flexible
from miltext.schema.dtypes import BY_NUMBER
from miltext.schema.features import COLORS, ELEMENTS, KINDS, word_of
from miltext.schema.function_io import SIDES, interfaces
from miltext.schema.proto import FeatureDescription, FeatureType
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from miltext.descriptions.sizes import Sizes
    from miltext.models.model import Model
    from miltext.schema.function_io import Interface, Types
    from miltext.schema.proto import ArrayFeatureType, FunctionDescription, ModelDescription, ValueType

MAIN = "main"
"""The only function of a model that does not name it."""


_MANY = {
    "stringKeyType": "strings",
    "int64KeyType": "integers",
    "stringType": "strings",
    "int64Type": "integers",
    None: "nothing",
}
"""Words for the keys of a dictionary, and for the elements of a sequence."""


class Port(NamedTuple):
    """An input, an output or a state.

    `kind` is its kind, without sizes, as in `fp32` or `image, RGB`. `shapes` are the alternatives of its sizes; none if
    they are not stated. `is_needed` is true if callers must pass it.
    """

    kind: str
    shapes: tuple[Sizes, ...] = ()
    is_needed: bool = True

    def __str__(self) -> str:
        shapes = " or ".join([f"[{spell_sizes(each).strip('[]')}]" for each in self.shapes])
        return " ".join(filter(None, (self.kind, shapes))) + ("" if self.is_needed else ", optional")

    def has_all(self, other: Port) -> bool:
        """Return whether it allows all shapes of another port, or either states none."""
        if not (self.shapes and other.shapes):
            return True
        return all(any(_is_within(each, own) for own in self.shapes) for each in other.shapes)


Ports: TypeAlias = "Mapping[str, Port]"
"""Inputs, outputs or states by name."""

Function: TypeAlias = "Mapping[str, Ports]"
"""The inputs, outputs and states of a function, by the SIDES."""


class Surface(NamedTuple):
    """The functions of a model by name, and the function called without a name.

    `has_several` is true if callers can choose one.
    """

    functions: dict[str, Function]
    default: str
    has_several: bool


def surface_of(model: Model, described: bool) -> Surface:
    """Return the interface of a model for callers: from its description if `described`, else from its program."""
    typed = interfaces(model.program) if model.type == PROGRAM else {}
    description = model.description
    if description is None or not described:
        optional = _optional(description)
        functions: dict[str, Function] = {name: _typed(each.sides, optional) for name, each in typed.items()}
        default = MAIN if MAIN in functions or not functions else next(iter(functions))
        return Surface(functions, default, len(functions) > 1)
    if description.functions:
        functions = {each.name: _described(each, typed.get(each.name)) for each in description.functions}
        return Surface(functions, description.defaultFunctionName, True)
    name, own = next(iter(typed.items())) if len(typed) == 1 else (MAIN, typed.get(MAIN))
    return Surface({name: _described(description, own)}, name, False)


def _optional(description: ModelDescription | None) -> set[str]:
    """Return the optional inputs of a description."""
    if description is None:
        return set()
    inputs = [*description.input, *(each for function in description.functions for each in function.input)]
    return {each.name for each in inputs if each.type.isOptional}


def _typed(sides: Mapping[str, Types], optional: Collection[str]) -> Function:
    return {
        side: {name: _of_type(kind)._replace(is_needed=name not in optional) for name, kind in types.items()}
        for side, types in sides.items()
    }


def _described(around: ModelDescription | FunctionDescription, typed: Interface | None) -> Function:
    """Return the ports of a description; omitted shapes of outputs are taken from the program."""
    sides = {side: ports_of(getattr(around, side)) for side in SIDES}
    for name, port in sides["output"].items():
        made = _of_type(typed.outputs.get(name)) if typed else port
        if not port.shapes and made.kind == port.kind:
            sides["output"][name] = port._replace(shapes=made.shapes)
    return sides


def ports_of(features: Iterable[FeatureDescription]) -> dict[str, Port]:
    """Return the ports of a description's inputs, outputs or states, by name."""
    return {each.name: _of_feature(each) for each in features}


def _of_type(kind: ValueType | None) -> Port:
    """Return a port of a type in a program."""
    if kind is None:
        return Port("unknown")
    inner = kind.stateType.wrappedType if kind.WhichOneof("type") == "stateType" else kind
    if inner.WhichOneof("type") != "tensorType":
        return Port(str(inner.WhichOneof("type")).removesuffix("Type"))
    dtype = BY_NUMBER.get(inner.tensorType.dataType)
    sizes = [
        Size(each.constant.size, each.constant.size) if each.HasField("constant") else ANY
        for each in inner.tensorType.dimensions
    ]
    return Port(dtype.name if dtype else "unknown", (tuple(sizes),))


def _of_feature(feature: FeatureDescription) -> Port:
    kind = feature.type.WhichOneof("Type") or ""
    words = KINDS.get(kind, "nothing")
    is_needed = not feature.type.isOptional
    if kind == "multiArrayType":
        return Port(_element(feature.type.multiArrayType), _shapes(feature), is_needed)
    if kind == "stateType":
        array = feature.type.stateType.arrayType
        return Port(_element(array), _shapes(FeatureDescription(type=FeatureType(multiArrayType=array))))
    if kind == "imageType":
        color = feature.type.imageType.colorSpace
        return Port(f"{words}, {word_of(color, COLORS) or color}", _shapes(feature), is_needed)
    if kind == "dictionaryType":
        return Port(f"{words} of {_MANY.get(feature.type.dictionaryType.WhichOneof('KeyType'))}", (), is_needed)
    if kind == "sequenceType":
        sequence = feature.type.sequenceType
        sizes = sequence.sizeRange
        length = ((Size(sizes.lowerBound, None if sizes.upperBound < 0 else sizes.upperBound),),)
        described = f"{words} of {_MANY.get(sequence.WhichOneof('Type'))}"
        return Port(described, length if sequence.HasField("sizeRange") else (), is_needed)
    return Port(words, (), is_needed)


def _element(array: ArrayFeatureType) -> str:
    return str(word_of(array.dataType, ELEMENTS) or array.dataType)


def _shapes(feature: FeatureDescription) -> tuple[Sizes, ...]:
    """Return the allowed sizes of an array or an image."""
    found = flexible(feature)
    if found is None or not (found.default or found.shapes or found.ranges):
        return ()
    if found.ranges:
        return (tuple(Size(least, None if most < 0 else most) for least, most in found.ranges),)
    shapes = found.shapes if found.default in found.shapes else [found.default, *found.shapes]
    return tuple(tuple(Size(size, size) for size in shape) for shape in shapes)


def _is_within(sizes: Sizes, wider: Sizes) -> bool:
    return len(sizes) == len(wider) and all(
        own.least <= each.least
        and (own.greatest is None or (each.greatest is not None and each.greatest <= own.greatest))
        for each, own in zip(sizes, wider, strict=True)
    )
