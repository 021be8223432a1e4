"""The kinds of features: the update of an entry to a new type of its value, and its mismatches with the type.

`RULES` has a row for each kind. An entry with a new type keeps all valid parts.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

from miltext.descriptions.entries import feature, feature_type
from miltext.descriptions.kept_sizes import KeptSizes, kept_sizes, requested_sizes, sizes_in_words
from miltext.diagnostics import codes
from miltext.files.refusals import BlamedPart, refusal
from miltext.printing.flexible_shapes import Flexible, channels_of, flexible
from miltext.printing.printer import type_text
from miltext.schema.features import COLORS, DEFAULT_FIELDS, ELEMENTS, IMAGE_ELEMENTS, KINDS, word_of
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, FeatureType
from miltext.schema.types import DictionaryType, Shape, StateType, TensorType, Type, read_type, show

if TYPE_CHECKING:
    from miltext.descriptions.contract import Severity
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


class Problem(NamedTuple):
    """The key of an entry that does not match the type, and the reason."""

    key: str
    reason: str
    severity: Severity = "error"


NO_COMPILED_SIZES = Flexible([], [], [])
"""The sizes of a value without stated ones."""


class ProgramFeature(NamedTuple):
    """The feature of an entry: an input, a state or an output, by the `side`'s name; its type in the program; and for
    an input its requested sizes `asked`, None without any, and `compiled`, the sizes in its compiled program.
    """

    name: str
    type: ValueType | None
    side: str
    function: str
    asked: Sizes | None = None
    compiled: Flexible = NO_COMPILED_SIZES

    @property
    def noun(self) -> str:
        """The name of the feature in messages."""
        return f"the {self.side} `{self.name}` of `{self.function}`"

    @property
    def shape(self) -> Shape | None:
        """The shape in a description, where a scalar input is an array of one element."""
        return _shape(self.type, self.side)

    def refused(self, code: str, message: str) -> ModelError:
        """Return an error about the value."""
        return refusal(code, message, about=BlamedPart(self.side, self.name, self.function))


class TypeChange(NamedTuple):
    """A value whose type was `old`, its entry, as `kept` so far, and the entry `made` for the new type alone."""

    kept: FeatureDescription
    made: FeatureDescription
    old: ValueType | None
    value: ProgramFeature


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
    """Return an entry for a value without one.

    Raise ModelError: MIL420, MIL422, and MIL452 for a `?` without a range, if it has to be `bounded`.
    """
    made = feature(value.name, value.type, value.side, value.function)
    shape = value.shape
    if shape is None or value.side != "input":
        return made
    if value.asked is not None:
        write_sizes(made.type, requested_sizes((), shape, value.asked))
    elif None in shape:
        kept = kept_sizes(value.compiled, shape, shape)
        if not kept.unbounded:
            write_sizes(made.type, kept.sizes)
        elif is_bounded:
            raise _unbounded(value, kept.unbounded)
    return made


def fitted(entry: FeatureDescription, old: ValueType | None, value: ProgramFeature) -> Fitted:
    """Return an entry for a value whose type was `old`, None if it is unknown.

    Raise ModelError: MIL420 and MIL422 as `feature` does, MIL424 for an image with a new type that no image can have,
    MIL452 for a `?` without a range.
    """
    kept = deepcopy(entry)
    kept.name = value.name
    if old == value.type and value.asked is None:
        return Fitted(kept)
    rule = rule_of(entry)
    made = entry if rule.outlives_types else feature(value.name, value.type, value.side, value.function)
    if entry.type.WhichOneof("Type") != made.type.WhichOneof("Type"):
        kept.type.CopyFrom(new_entry(value).type)
        kept.type.isOptional = entry.type.isOptional
        return Fitted(kept, stated_facts(entry, old, value.side, by_itself=False))
    return Fitted(kept, tuple(lost for step in rule.steps for lost in step(TypeChange(kept, made, old, value))))


def stated_facts(
    entry: FeatureDescription, old: ValueType | None, side: str, *, by_itself: bool = True
) -> tuple[str, ...]:
    """Return the facts of an entry that do not follow from its type, in words; with `by_itself`, also its short
    description, and whether it is optional.
    """
    described, found = entry.type, []
    kind, array = described.WhichOneof("Type"), described.multiArrayType
    made = feature_type(old, side) if old is not None else None
    if kind is not None and (rule_of(entry).outlives_types or (made is not None and kind != made.WhichOneof("Type"))):
        found.append(KINDS[kind])
    sizes = flexible(entry)
    if sizes is not None and side == "input":
        found += sizes_in_words(sizes)
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


def _check_image(change: TypeChange) -> tuple[str, ...]:
    """Refuse a type that an image of these colors cannot have (MIL424)."""
    image, old, value = change.kept.type.imageType, change.old, change.value
    known, before, channels = _tensor(value.type), _tensor(old), channels_of(image)
    dtype = before.dtype if before is not None else IMAGE_ELEMENTS[0]
    is_shape = known is not None and len(known.shape) == 4 and known.shape[:2] == (1, channels)
    if known is not None and is_shape and known.dtype in (*IMAGE_ELEMENTS, dtype):
        return ()
    colors = word_of(image.colorSpace, COLORS) or "RGB"
    stated = "not defined" if value.type is None else f"a {type_text(value.type)}"
    message = (
        f"{value.noun} is described as an image of {colors}, but it is {stated}: "
        f"make it a tensor<{dtype}, [1, {channels}, HEIGHT, WIDTH]>"
    )
    raise value.refused(codes.NOT_AN_IMAGE_TYPE, message)


# ---- data types


def _fit_elements(change: TypeChange) -> tuple[str, ...]:
    """Give an array the data type of its program, and convert its default value; return the losses.

    A number is rounded between types of floats if it is finite in both. Any other change loses it.
    """
    array, data_type = array_of(change.kept), array_of(change.made).dataType
    before, now = _tensor(change.old), _tensor(change.value.type)
    if before is not None and now is not None and before.dtype == now.dtype:
        return ()
    array.dataType = data_type
    field = array.WhichOneof("defaultOptionalValue")
    if field is None:
        return ()
    number = getattr(array, field)
    converted = _converted(number, _CODES[data_type])
    array.ClearField(field)
    if converted is None:
        return (_default_words(number),)
    setattr(array, DEFAULT_FIELDS[data_type], converted)
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


def _fit_sizes(change: TypeChange) -> tuple[str, ...]:
    """Fit the allowed sizes of an image or an array to its new shape; return the losses."""
    kept, value = change.kept, change.value
    shape, before, was = value.shape, _shape(change.old, value.side), flexible(kept)
    assert was is not None
    assert shape is not None  # it is described
    if value.asked is not None:
        write_sizes(kept.type, requested_sizes(was.default, shape, value.asked))
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
    """Return the sizes of an output. They follow from the inputs, so a change is not a loss.

    A constant shape has a single size. Unknown sizes of an array are left out. An image needs a size, and has the one
    that fits, with any size from 1 on for each unbounded `?`.
    """
    sizes = kept.sizes if None in shape else Flexible(kept.sizes.default, [], [])
    if kept.unbounded and rule_of(entry).outlives_types:
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
        f"{value.noun} is of shape {show(value.shape)}, and the size of {places} is open: "
        f'give a range, as in `ranges={{"{value.name}": "{written}"}}`'
    )
    return value.refused(codes.INPUT_WITHOUT_RANGE, message)


def _fit_shape(change: TypeChange) -> tuple[str, ...]:
    """Give a state the shape of its program."""
    array_of(change.kept).shape[:] = array_of(change.made).shape
    return ()


def write_sizes(described: FeatureType, sizes: Flexible) -> None:
    """Make an image or a multi-array allow these sizes, and no others."""
    if described.WhichOneof("Type") == "imageType":
        _write_image(described, sizes)
        return
    array = described.multiArrayType
    array.ClearField("ShapeFlexibility")
    array.shape[:] = sizes.default
    for shape in sizes.shapes:
        array.enumeratedShapes.shapes.add(shape=shape)
    for least, greatest in sizes.ranges:
        array.shapeRange.sizeRanges.add(lowerBound=least, upperBound=greatest)


def _write_image(described: FeatureType, sizes: Flexible) -> None:
    image = described.imageType
    image.ClearField("SizeFlexibility")
    image.height, image.width = sizes.default[2:]
    for shape in sizes.shapes:
        image.enumeratedSizes.sizes.add(height=shape[2], width=shape[3])
    for side, limits in zip(("heightRange", "widthRange"), sizes.ranges[2:], strict=False):
        made = getattr(image.imageSizeRange, side)
        made.lowerBound, made.upperBound = limits


# ---- dictionaries


def _fit_keys(change: TypeChange) -> tuple[str, ...]:
    """Give a dictionary the keys of its program."""
    change.kept.type.dictionaryType.CopyFrom(change.made.type.dictionaryType)
    return ()


# ---- the parts of an entry that do not fit a type


def _image_problem(entry: FeatureDescription, type: Type, side: str) -> Problem | None:
    return _sizes_problem(entry, type, side)


def _array_problem(entry: FeatureDescription, type: Type, side: str) -> Problem | None:
    return _element(entry, type) or _sizes_problem(entry, type, side)


def _state_problem(entry: FeatureDescription, type: Type, side: str) -> Problem | None:
    wrapped = type.wrapped if isinstance(type, StateType) else type
    as_array = FeatureDescription(type=FeatureType(multiArrayType=array_of(entry)))
    return _element(entry, wrapped) or _sizes_problem(as_array, wrapped, side)


def _keys_problem(entry: FeatureDescription, type: Type, _: str) -> Problem | None:
    if not isinstance(type, DictionaryType) or not isinstance(type.key, TensorType):
        return None
    wanted = type.key.dtype
    member = entry.type.dictionaryType.WhichOneof("KeyType")
    return None if member == f"{wanted}KeyType" else Problem("keyType", f'has the `keyType` "{wanted}"')


def _element(entry: FeatureDescription, type: Type) -> Problem | None:
    if not isinstance(type, TensorType):
        return None
    array, wanted = array_of(entry), ELEMENTS.get(type.dtype)
    if wanted is None or array.dataType == wanted:
        return None
    word = word_of(array.dataType, ELEMENTS)
    said = f'not "{word}"' if word else "which is left out"
    return Problem("dataType", f'has the `dataType` "{type.dtype}", {said}')


def _sizes_problem(entry: FeatureDescription, type: Type, side: str) -> Problem | None:
    """Return the stated size that the shape of the type does not allow."""
    stated = flexible(entry)
    if stated is None or not isinstance(type, TensorType):
        return None
    one, listed, ranged = rule_of(entry).keys
    if not stated.default and type.shape and side != "output":
        return Problem("type", f"needs a `{one}`")
    severities: tuple[Severity, Severity] = ("warning", "error")
    for key, shapes, severity in zip((listed, one), (stated.shapes, [stated.default]), severities, strict=True):
        for shape in shapes:
            if not _is_allowed(shape, type.shape) and not (side == "output" and not shape):
                return Problem(key, f"cannot be {show(tuple(shape))}{_as_image(entry)}", severity)
    return _ranges(stated, type.shape, ranged)


def _is_allowed(shape: list[int], declared: Shape) -> bool:
    if not declared and shape == [1]:  # coremltools describes a scalar input so
        return True
    return len(shape) == len(declared) and all(b in (None, a) for a, b in zip(shape, declared, strict=True))


def _as_image(entry: FeatureDescription) -> str:
    """Return the form of an image as a tensor, after its shape."""
    color = word_of(entry.type.imageType.colorSpace, COLORS)
    is_image = rule_of(entry).outlives_types
    return f', as which an image of the `colorSpace` "{color}" is passed' if is_image else ""


def _ranges(said: Flexible, declared: Shape, key: str) -> Problem | None:
    """Return the range of another size than the program's; "allowed shapes" by FeatureTypes.proto."""
    if not said.ranges:
        return None
    if len(said.ranges) != len(declared):
        return Problem(key, f"has {len(declared)} dimensions, and the ranges are {len(said.ranges)}")
    for index, ((least, most), size) in enumerate(zip(said.ranges, declared, strict=True)):
        if size is not None and (least, most) != (size, size):
            found = f"its range is [{least}, {most}]"
            reason = f"has only the size {size} in the dimension {index}, but {found}: write a `?` there in the program"
            return Problem(key, reason, "warning")
    return None


# ---- the table


class KindRule(NamedTuple):
    """The rules for entries of one kind after a change of type.

    The `steps` update an entry to a new type, and return its losses; an entry that `outlives_types` keeps its kind with
    any new type. `problem` finds the part of an entry that contradicts a type. `keys` are the keys of its size, of its
    list of sizes (also the field's name), and of its ranges.
    """

    steps: tuple[Callable[[TypeChange], tuple[str, ...]], ...] = ()
    problem: Callable[[FeatureDescription, Type, str], Problem | None] | None = None
    keys: tuple[str, str, str] = ("", "", "")
    outlives_types: bool = False


RULES = {
    "imageType": KindRule(
        (_check_image, _fit_sizes), _image_problem, ("width", "enumeratedSizes", "widthRange"), outlives_types=True
    ),
    "multiArrayType": KindRule(
        (_fit_elements, _fit_sizes), _array_problem, ("shape", "enumeratedShapes", "shapeRange")
    ),
    "stateType": KindRule((_fit_shape, _fit_elements), _state_problem),
    "dictionaryType": KindRule((_fit_keys,), _keys_problem),
}
"""The rules of each kind of features; entries of all other kinds follow unchanged."""


def rule_of(entry: FeatureDescription) -> KindRule:
    """Return the rules of an entry's kind."""
    return RULES.get(entry.type.WhichOneof("Type") or "", KindRule())


def array_of(entry: FeatureDescription) -> ArrayFeatureType:
    """Return the multi-array of an entry, or in the state that it is."""
    is_state = entry.type.WhichOneof("Type") == "stateType"
    return entry.type.stateType.arrayType if is_state else entry.type.multiArrayType


def has_list(entry: FeatureDescription) -> bool:
    """Return whether the sizes of an image or an array are in a list, even an empty one."""
    kind, (_, listed, _) = entry.type.WhichOneof("Type") or "", rule_of(entry).keys
    return bool(listed) and getattr(entry.type, kind).HasField(listed)
