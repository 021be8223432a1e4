"""The forms of a description's words, each with the conversions from a message and to a message.

A form knows the path of its field. It omits a value that it cannot spell; each spelled message is read back to prove
that the rest is unchanged.
"""

from __future__ import annotations

import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from miltext.descriptions.values import Wrong, flag, inside, items, number, numbers, pair, text, word
from miltext.diagnostics import codes
from miltext.schema.dtypes import BY_NAME
from miltext.schema.features import ANY_SIZE, DEFAULT_FIELDS, word_of
from miltext.syntax.floats import FORMATS, decimal_text
from miltext.toml.reading import noun

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Fields, Json
    from miltext.schema.proto import Message

INT32, SIZES = [(BY_NAME[name].minimum, BY_NAME[name].maximum) for name in ("int32", "int64")]
"""The ranges of these numbers; the integers of TOML are int64, without uint64."""


class Form(ABC):
    """The form of a word's value; `path` leads from the table's message to the field, with dots between names."""

    def __init__(self, path: str) -> None:
        *self.way, self.field = path.split(".")

    def word_value(self, message: Message) -> Json:
        """Return the value of the word in a message; None if the message lacks it."""
        holder: Fields = message
        for name in self.way:
            if not holder.HasField(name):
                return None
            holder = getattr(holder, name)
        return self.say(holder)

    def put(self, value: object, message: Message) -> None:
        """Put the value of the word into a message. Raise Wrong."""
        holder: Fields = message
        for name in self.way:
            _refuse_other(holder, name)
            holder = getattr(holder, name)
        _refuse_other(holder, self.field)
        self.fill(holder, value)
        holder.SetInParent()

    def say(self, holder: Fields) -> Json:
        """Return the word's value, read from the message that contains the field."""
        return getattr(holder, self.field) or None

    @abstractmethod
    def fill(self, holder: Fields, value: object) -> None:
        """Write the word's value into the field of this message. Raise Wrong."""


_CALLED = {"imageSizeRange": "`widthRange` or `heightRange`"}
"""The displayed names of members of a oneof whose own names are not words."""


def _refuse_other(holder: Fields, name: str) -> None:
    """Refuse a second member of a oneof."""
    field = holder.DESCRIPTOR.fields_by_name.get(name)
    there = holder.WhichOneof(field.containing_oneof.name) if field and field.containing_oneof else None
    if there not in (None, name):
        raise Wrong(
            codes.DESCRIPTION_ENTRY_COUNT,
            f"is beside {_CALLED.get(there, f'`{there}`')}, with the same meaning: remove one of them",
        )


class Text(Form):
    """A string; the empty string is omitted."""

    def fill(self, holder: Fields, value: object) -> None:
        setattr(holder, self.field, text(value))


class RequiredText(Text):
    """A string; the empty string is written, too."""

    def say(self, holder: Fields) -> str:
        return str(getattr(holder, self.field))


class Flag(Form):
    """A truth value; false is omitted."""

    def fill(self, holder: Fields, value: object) -> None:
        setattr(holder, self.field, flag(value))


class Number(Form):
    """A whole number; 0 is omitted."""

    def __init__(self, path: str, limits: tuple[int, int]) -> None:
        super().__init__(path)
        self.limits = limits

    def fill(self, holder: Fields, value: object) -> None:
        setattr(holder, self.field, number(value, *self.limits))


class Choice(Form):
    """A word of a set; each stands for a number."""

    def __init__(self, path: str, words: Mapping[str, int]) -> None:
        super().__init__(path)
        self.words = words

    def say(self, holder: Fields) -> str | None:
        return word_of(getattr(holder, self.field), self.words) or None

    def fill(self, holder: Fields, value: object) -> None:
        setattr(holder, self.field, self.words[word(value, self.words)])


class Member(Form):
    """A word of a set; each stands for a member of a oneof; the field is the oneof."""

    def __init__(self, path: str, words: Mapping[str, str]) -> None:
        super().__init__(path)
        self.words = words

    def say(self, holder: Fields) -> str | None:
        wanted = holder.WhichOneof(self.field)
        return next((each for each, member in self.words.items() if member == wanted), None)

    def fill(self, holder: Fields, value: object) -> None:
        getattr(holder, self.words[word(value, self.words)]).SetInParent()


class Shape(Form):
    """The sizes of a shape; an empty shape is omitted."""

    def say(self, holder: Fields) -> list[int] | None:
        return list(getattr(holder, self.field)) or None

    def fill(self, holder: Fields, value: object) -> None:
        getattr(holder, self.field).extend(numbers(value, 0, SIZES[1]))


class Range(Form):
    """The least and the greatest value of one size or length, in a SizeRange."""

    def say(self, holder: Fields) -> list[Json] | None:
        return _limits(getattr(holder, self.field)) if holder.HasField(self.field) else None

    def fill(self, holder: Fields, value: object) -> None:
        held = getattr(holder, self.field)
        held.lowerBound, held.upperBound = _bounds(value)
        held.SetInParent()


def _limits(sizes: Fields) -> list[Json]:
    """Return a SizeRange as a least and a greatest number, `inf` for no limit."""
    most = sizes.upperBound
    return [sizes.lowerBound, math.inf if most == ANY_SIZE else most]


def _bounds(value: object) -> tuple[int, int]:
    """Return the bounds in a list of two numbers. Raise Wrong."""
    least, most = pair(value, "a least and a greatest number, as in `[1, 8]` or `[1, inf]`")
    with inside(0):
        least = number(least, 0, SIZES[1])
    if most in (math.inf, ANY_SIZE):
        return least, ANY_SIZE
    with inside(1):
        most = number(most, 0, SIZES[1])
        if most < least:
            raise Wrong(
                codes.DESCRIPTION_NUMBER_RANGE, f"takes the least number first, and {most} is less than {least}"
            )
    return least, most


class NumberLists(Form):
    """A list of lists of numbers: the repeated field `inner` of a message; it may be empty."""

    what = "lists"

    def __init__(self, path: str, inner: str) -> None:
        super().__init__(path)
        self.inner = inner

    def say(self, holder: Fields) -> list[Json] | None:
        held = getattr(holder, self.field)
        return [self.element(each) for each in getattr(held, self.inner)] if holder.HasField(self.field) else None

    def fill(self, holder: Fields, value: object) -> None:
        held = getattr(holder, self.field)
        held.SetInParent()
        for index, each in enumerate(items(value, self.what)):
            with inside(index):
                self.add(getattr(held, self.inner), each)

    @abstractmethod
    def element(self, each: Fields) -> list[Json]:
        """Return the numbers of one message in the list."""

    @abstractmethod
    def add(self, listed: Fields, value: object) -> None:
        """Add the message of some numbers. Raise Wrong."""


class Shapes(NumberLists):
    """Shapes, each the list of its sizes."""

    what = "shapes, as in `[[1, 3], [2, 3]]`"

    def element(self, each: Fields) -> list[Json]:
        return list(each.shape)

    def add(self, listed: Fields, value: object) -> None:
        listed.add(shape=numbers(value, 0, SIZES[1]))


class ImageSizes(NumberLists):
    """Sizes of images, each a width and a height."""

    what = "widths and heights, as in `[[224, 224], [640, 480]]`"

    def element(self, each: Fields) -> list[Json]:
        return [each.width, each.height]

    def add(self, listed: Fields, value: object) -> None:
        width, height = numbers([*pair(value, "a width and a height, as in `[640, 480]`")], 0, SIZES[1])
        listed.add(width=width, height=height)


class Ranges(NumberLists):
    """The least and the greatest size of each dimension."""

    what = "ranges, as in `[[1, 8], [3, 3], [1, inf]]`"

    def element(self, each: Fields) -> list[Json]:
        return _limits(each)

    def add(self, listed: Fields, value: object) -> None:
        least, most = _bounds(value)
        listed.add(lowerBound=least, upperBound=most)


class Default(Form):
    """The default value of an optional array, in the member for its data type."""

    def say(self, holder: Fields) -> int | float | None:
        member = holder.WhichOneof("defaultOptionalValue")
        if member is None or member != DEFAULT_FIELDS.get(holder.dataType):
            return None
        value: int | float = getattr(holder, member)
        if math.isnan(value) and struct.pack("<d", value) != struct.pack("<d", math.nan):
            return None  # TOML has one NaN
        return value if member != "floatDefaultValue" else shortest(value)

    def fill(self, holder: Fields, value: object) -> None:
        member = DEFAULT_FIELDS.get(holder.dataType)
        if member is None:
            raise Wrong(codes.DESCRIPTION_ENTRY_COUNT, "needs a `dataType`, the type of its number")
        if member == "intDefaultValue":
            setattr(holder, member, number(value, *INT32))
            return
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Wrong(codes.DESCRIPTION_VALUE_TYPE, f"takes a number, not {noun(value)}")
        try:
            number_held = float(value)
            struct.pack("<d" if member == "doubleDefaultValue" else "<f", number_held)
        except OverflowError:
            raise Wrong(
                codes.DESCRIPTION_NUMBER_RANGE, "takes a number that the data type has, and this is too large"
            ) from None
        setattr(holder, member, number_held)


def shortest(value: float) -> float:
    """Return the number with the fewest digits that equals a number in fp32."""
    if not math.isfinite(value):
        return value
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return float(decimal_text(bits, FORMATS["fp32"]))
