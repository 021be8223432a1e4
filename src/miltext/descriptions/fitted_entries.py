"""An entry of a description under a new type of its feature: everything that still fits is kept."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

from miltext.descriptions.entries import feature, feature_type
from miltext.descriptions.kept_sizes import KeptSizes, asked_sizes, kept_sizes, said_of_sizes, write_sizes
from miltext.diagnostics import codes
from miltext.files.refusals import BlamedPart, refusal
from miltext.printing.flexible_shapes import Flexible, channels_of, flexible
from miltext.printing.printer import type_text
from miltext.schema.features import COLORS, DEFAULT_FIELDS, IMAGE_ELEMENTS, KINDS, word_of
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, ImageFeatureType
from miltext.schema.types import Shape, StateType, TensorType, read_type, show

if TYPE_CHECKING:
    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import ModelError
    from miltext.schema.proto import ValueType

_CODES = {
    ArrayFeatureType.FLOAT16: "e",
    ArrayFeatureType.FLOAT32: "f",
    ArrayFeatureType.DOUBLE: "d",
    ArrayFeatureType.INT32: "i",
    ArrayFeatureType.INT8: "b",
}
"""The codes of `struct` for the data types of multi-arrays."""

UNTOLD = Flexible([], [], [])
"""The sizes of a value without stated ones."""


class ProgramFeature(NamedTuple):
    """The feature of an entry: an input, a state or an output, by the `side`'s name; its type in the program; and for
    an input the sizes `asked` for, None for no axes, too, and the sizes in its compiled program.
    """

    name: str
    type: ValueType | None
    side: str
    function: str
    asked: Sizes | None = None
    told: Flexible = UNTOLD

    @property
    def noun(self) -> str:
        """Its name in messages."""
        return f"the {self.side} `{self.name}` of `{self.function}`"

    @property
    def shape(self) -> Shape | None:
        """The shape in a description, where a scalar input is an array of one element."""
        return _shape(self.type, self.side)

    def refused(self, code: str, message: str) -> ModelError:
        """Return an error about the value."""
        return refusal(code, message, about=BlamedPart(self.side, self.name, self.function))


class Fitted(NamedTuple):
    """An entry, and the losses from its original, in words."""

    entry: FeatureDescription
    lost: tuple[str, ...] = ()


def _tensor(value_type: ValueType | None) -> TensorType | None:
    """Return the type of a tensor, or of a tensor in a state; None for any other type, and for unknown rank."""
    known = read_type(value_type) if value_type is not None else None
    known = known.wrapped if isinstance(known, StateType) else known
    return known if isinstance(known, TensorType) else None


def _shape(value_type: ValueType | None, side: str) -> Shape | None:
    known = _tensor(value_type)
    return None if known is None else (1,) if known.shape == () and side == "input" else known.shape


def new_entry(value: ProgramFeature, *, is_bounded: bool = True) -> FeatureDescription:
    """Return an entry for a value that had none.

    Raise ModelError: MIL420, MIL422, and MIL452 for a `?` without a range, if it has to be `bounded`.
    """
    made = feature(value.name, value.type, value.side, value.function)
    shape = value.shape
    if shape is None or value.side != "input":
        return made
    if value.asked is not None:
        write_sizes(made.type, asked_sizes((), shape, value.asked))
    elif None in shape:
        kept = kept_sizes(value.told, shape, shape)
        if not kept.unbounded:
            write_sizes(made.type, kept.sizes)
        elif is_bounded:
            raise _unbounded(value, kept.unbounded)
    return made


def fitted(entry: FeatureDescription, old: ValueType | None, value: ProgramFeature) -> Fitted:
    """Return an entry for a value whose type was `old`, None if it is unknown.

    Raise ModelError: MIL420 and MIL422 as `feature` does, MIL424 for an image with a new type that no image has, MIL452
    for a `?` without a range.
    """
    kept = deepcopy(entry)
    kept.name = value.name
    if old == value.type and value.asked is None:
        return Fitted(kept)
    kind = entry.type.WhichOneof("Type")
    if kind == "imageType":
        _check_image(kept.type.imageType, old, value)
        return Fitted(kept, _fit_sizes(kept, old, value))
    made = feature(value.name, value.type, value.side, value.function)
    if kind != made.type.WhichOneof("Type"):
        kept.type.CopyFrom(new_entry(value).type)
        kept.type.isOptional = entry.type.isOptional
        return Fitted(kept, said(entry, old, value.side, by_itself=False))
    if kind == "multiArrayType":
        lost = _fit_elements(kept.type.multiArrayType, made.type.multiArrayType, old, value)
        return Fitted(kept, lost + _fit_sizes(kept, old, value))
    if kind == "stateType":
        array = kept.type.stateType.arrayType
        array.shape[:] = made.type.stateType.arrayType.shape
        return Fitted(kept, _fit_elements(array, made.type.stateType.arrayType, old, value))
    if kind == "dictionaryType":
        kept.type.dictionaryType.CopyFrom(made.type.dictionaryType)
    return Fitted(kept)


def said(entry: FeatureDescription, old: ValueType | None, side: str, *, by_itself: bool = True) -> tuple[str, ...]:
    """Return the facts of an entry that do not follow from its type, in words.

    With `by_itself`, the short description, and whether it is optional, count, too.
    """
    described, found = entry.type, []
    kind, array = described.WhichOneof("Type"), described.multiArrayType
    made = feature_type(old, side) if old is not None else None
    if kind is not None and (kind == "imageType" or (made is not None and kind != made.WhichOneof("Type"))):
        found.append(KINDS[kind])
    sizes = flexible(entry)
    if sizes is not None and side == "input":
        found += said_of_sizes(sizes)
    field = array.WhichOneof("defaultOptionalValue")
    if field is not None:
        found.append(_default_words(getattr(array, field)))
    if by_itself and described.isOptional:
        found.append("that it may be left out")
    if by_itself and entry.shortDescription:
        found.append("a short description")
    return tuple(found)


def _default_words(number: float) -> str:
    return f"the default value {number:.9g}"


# ---- images


def _check_image(image: ImageFeatureType, old: ValueType | None, value: ProgramFeature) -> None:
    """Refuse a type that an image of these colors cannot have (MIL424)."""
    known, before, channels = _tensor(value.type), _tensor(old), channels_of(image)
    dtype = before.dtype if before is not None else IMAGE_ELEMENTS[0]
    is_shape = known is not None and len(known.shape) == 4 and known.shape[:2] == (1, channels)
    if known is not None and is_shape and known.dtype in (*IMAGE_ELEMENTS, dtype):
        return
    colors = word_of(image.colorSpace, COLORS) or "RGB"
    stated = "not defined" if value.type is None else f"a {type_text(value.type)}"
    message = (
        f"{value.noun} is described as an image of {colors}, but it is {stated}: "
        f"make it a tensor<{dtype}, [1, {channels}, HEIGHT, WIDTH]>"
    )
    raise value.refused(codes.NOT_AN_IMAGE_TYPE, message)


# ---- data types


def _fit_elements(
    array: ArrayFeatureType, made: ArrayFeatureType, old: ValueType | None, value: ProgramFeature
) -> tuple[str, ...]:
    """Give an array the data type of its program, and convert its default value; return the losses.

    A number is rounded from one type of floats to another if it is finite in both. It is lost in all other cases in
    which it would change.
    """
    before, now = _tensor(old), _tensor(value.type)
    if before is not None and now is not None and before.dtype == now.dtype:
        return ()
    array.dataType = made.dataType
    field = array.WhichOneof("defaultOptionalValue")
    if field is None:
        return ()
    number = getattr(array, field)
    converted = _converted(number, _CODES[made.dataType])
    array.ClearField(field)
    if converted is None:
        return (_default_words(number),)
    setattr(array, DEFAULT_FIELDS[made.dataType], converted)
    return ()


def rounding(entry: FeatureDescription, fitted: FeatureDescription) -> str:
    """Return the rounding of the default value of a fitted entry, in words; empty if there was none."""
    arrays = [each.type.multiArrayType for each in (entry, fitted)]
    fields = [array.WhichOneof("defaultOptionalValue") for array in arrays]
    numbers = [getattr(array, field) for array, field in zip(arrays, fields, strict=True) if field is not None]
    if len(numbers) < len(arrays):
        return ""
    number, rounded = numbers
    if number == rounded or math.isnan(number):
        return ""
    return f"{_default_words(number)} becomes {rounded:.9g}"


def _converted(number: float, code: str) -> float | None:
    """Return a number converted to `struct`'s type, floats rounded; None if it does not fit, or would become
    infinite.
    """
    is_whole = code in "ib"
    try:
        packed = struct.pack(f"<{code}", int(number) if is_whole else number)
    except (OverflowError, ValueError, struct.error):
        return None
    found: float = struct.unpack(f"<{code}", packed)[0]
    is_near = not is_whole and math.isfinite(found) == math.isfinite(number)
    return found if found == number or is_near else None


# ---- sizes


def _fit_sizes(kept: FeatureDescription, old: ValueType | None, value: ProgramFeature) -> tuple[str, ...]:
    """Fit the allowed sizes of an image or an array to its new shape; return the losses."""
    shape, before, was = value.shape, _shape(old, value.side), flexible(kept)
    assert was is not None
    assert shape is not None  # it is described
    if value.asked is not None:
        write_sizes(kept.type, asked_sizes(was.default, shape, value.asked))
        return ()
    if shape == before:
        return ()
    found = kept_sizes(was, before, shape)
    if value.side == "output":
        found = _given_out(kept, found, shape)
    elif found.unbounded:
        raise _unbounded(value, found.unbounded)
    write_sizes(kept.type, found.sizes)
    return found.lost


def _given_out(entry: FeatureDescription, kept: KeptSizes, shape: Shape) -> KeptSizes:
    """Return the sizes of an output: nobody chooses them, so nothing is lost with them.

    A constant shape has a single size. Unknown sizes of an array are left out. An image needs a size, and has the one
    that fits, with any size from 1 on for each unbounded `?`.
    """
    sizes = kept.sizes if None in shape else Flexible(kept.sizes.default, [], [])
    if kept.unbounded and entry.type.WhichOneof("Type") == "imageType":
        ranges = sizes.ranges or [[1, -1]] * len(shape)
        fixed = [limits if size is None else [size, size] for size, limits in zip(shape, ranges, strict=True)]
        sizes = Flexible(sizes.default, [], fixed)
    elif kept.unbounded:
        sizes = Flexible([], [], [])
    return KeptSizes(sizes)


def _unbounded(value: ProgramFeature, axes: Sequence[int]) -> ModelError:
    """Return an error about the axes of `?` without stated sizes."""
    assert value.shape is not None
    places = f"{'axis' if len(axes) == 1 else 'axes'} {' and '.join(map(str, axes))}"
    written = ",".join("LEAST..GREATEST" if size is None else str(size) for size in value.shape)
    message = (
        f"{value.noun} is of shape {show(value.shape)}, and nothing says how large {places} may be: "
        f"give a range, as in --range {value.name}={written}"
    )
    return value.refused(codes.INPUT_WITHOUT_RANGE, message)
