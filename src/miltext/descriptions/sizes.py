"""Sizes as users write them, in the form `NAME=SIZES`: `image=1,3,256,256`, `x=1,64..512,?`, and `s=[]`, a scalar."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean
from miltext.files.refusals import refusal
from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from miltext.schema.types import Shape

GREATEST_SIZE = BY_NAME["int64"].maximum
"""The greatest size in a Core ML description; MIL's own are uint64."""

_SIZE = re.compile(r"([0-9]+)(?:(\.\.)([0-9]*))?|\?", re.ASCII)
_SLIPS = (
    (r"(?<=[0-9?])\s*[x\u00d7]\s*(?=[0-9?])|(?<=[0-9?])\s+(?=[0-9?])", ","),
    (r"(?<=[0-9])\s*(?:-|:|\.{3}|…)\s*(?=[0-9])", ".."),
    (r"(?<![0-9])-1|(?:None|\*|inf)(?![a-z])", "?"),
    (r"^\(|\)$|,+$", ""),
)
"""Other spellings of sizes, each with its spelling here."""


ONE_NUMBER = ": give one number for each dimension"
"""The way out of a range where the caller takes none."""


class Size(NamedTuple):
    """The allowed sizes of a dimension: from `least` to `greatest`, None without a bound."""

    least: int
    greatest: int | None

    @property
    def is_fixed(self) -> bool:
        """Whether there is a single size."""
        return self.least == self.greatest

    def __str__(self) -> str:
        if self == ANY:
            return "?"
        return str(self.least) if self.is_fixed else f"{self.least}..{'' if self.greatest is None else self.greatest}"


ANY = Size(1, None)
"""The sizes for `?`: any from 1 on."""

Sizes: TypeAlias = "tuple[Size, ...]"


def read_sizes(words: Iterable[str], *, are_fixed: bool = False) -> dict[str, Sizes]:
    """Return the sizes in words such as `image=1,3,256,256`, by name, in their order.

    A size is `n`, a range `least..greatest`, one without an end `least..`, or `?`, any from 1 on; brackets as in MIL
    text may be around them. The last `=` ends the name. If they `are_fixed`, as the caller takes no others, no range is
    suggested. Raise ModelError (MIL434).
    """
    found: dict[str, Sizes] = {}
    for word in words:
        name, equals, sizes = word.rpartition("=")
        if not name or not equals:
            raise refusal(codes.UNREADABLE_SIZES, f"`{word}` is not NAME=SIZES")
        if name in found:
            raise refusal(codes.UNREADABLE_SIZES, f"the sizes of `{name}` are given twice")
        found[name] = _sizes(name, sizes, are_fixed)
    return found


def spell_sizes(sizes: Sizes) -> str:
    """Spell sizes in the form of `read_sizes`."""
    return ",".join(map(str, sizes)) or "[]"


def shape_of(sizes: Sizes) -> Shape:
    """Return the shape that a program states for these sizes."""
    return tuple(size.least if size.is_fixed else None for size in sizes)


def _sizes(name: str, written: str, are_fixed: bool) -> Sizes:
    listed, is_list = _unbracketed(written)
    if not listed and not is_list:
        raise refusal(codes.UNREADABLE_SIZES, f"`{name}=` has no sizes; a scalar is `{name}=[]`")
    parts = [part.strip() for part in listed.split(",")] if listed else []
    if not all(map(_SIZE.fullmatch, parts)):
        meant = _meant(name, listed)
        is_range = meant is not None and re.search(r"\?|\.\.", meant.rpartition("=")[2])
        way = ONE_NUMBER if are_fixed and is_range else did_you_mean(meant)
        raise refusal(codes.UNREADABLE_SIZES, f"`{written}` of `{name}` are not sizes{way}")
    return tuple(_size(name, part, are_fixed) for part in parts)


def _unbracketed(written: str) -> tuple[str, bool]:
    """Return the contents of brackets, or the whole text, and whether there are brackets."""
    stripped = written.strip()
    is_list = stripped[:1] == "[" and stripped[-1:] == "]"
    return (stripped[1:-1] if is_list else stripped).strip(), is_list


def _size(name: str, part: str, are_fixed: bool) -> Size:
    """Return the size in a part of a valid form."""
    if part == "?":
        return ANY
    first, dots, last = part.partition("..")
    if max(len(first.lstrip("0")), len(last.lstrip("0"))) > len(str(GREATEST_SIZE)):
        raise refusal(
            codes.UNREADABLE_SIZES, f"a size of `{name}` is greater than {GREATEST_SIZE}, the greatest that Core ML has"
        )
    size = Size(int(first), int(last) if last else None if dots else int(first))
    if max(size.least, size.greatest or 0) > GREATEST_SIZE:
        raise refusal(
            codes.UNREADABLE_SIZES, f"{part} of `{name}` is greater than {GREATEST_SIZE}, the greatest that Core ML has"
        )
    if size.greatest == 0:
        raise refusal(codes.UNREADABLE_SIZES, f"{part} of `{name}` leaves no elements; a size is 1 or more")
    if size.greatest is not None and size.least > size.greatest:
        way = ONE_NUMBER if are_fixed else did_you_mean(f"{last}..{first}")
        raise refusal(codes.UNREADABLE_SIZES, f"{part} of `{name}` begins above its end{way}")
    return size


def _meant(name: str, listed: str) -> str | None:
    """Return the sizes of a text in another spelling; None for other text."""
    for pattern, ours in _SLIPS:
        listed = re.sub(pattern, ours, listed)
    parts = [part.strip() for part in listed.split(",")]
    return f"{name}={','.join(parts)}" if all(map(_SIZE.fullmatch, parts)) else None
