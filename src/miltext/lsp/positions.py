"""Positions as clients count them, in lines and in units of an encoding, against offsets in code points."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from miltext.diagnostics import Span

_LINE_END = re.compile(r"\r\n|\r|\n")


def _utf8_width(character: str) -> int:
    code = ord(character)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


_WIDTHS: dict[str, Callable[[str], int]] = {
    "utf-8": _utf8_width,
    "utf-16": lambda character: 1 + (character > "\uffff"),
    "utf-32": lambda _: 1,
}
"""How many units a character takes, by the names that the protocol gives the encodings."""


class Positions:
    """The places of one text: lines from 0, ended by LF, CR or both, and characters in units of `encoding`."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self.encoding = encoding
        self._width = _WIDTHS[encoding]
        self._is_plain = text.isascii() or encoding == "utf-32"

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def offset(self, line: int, character: int) -> int:
        """Return the offset of a position.

        Below the text is its end, behind a line's end that end; a position inside a character is where it begins.
        """
        if line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.line_end(line)
        if self._is_plain:
            return min(start + character, end)
        for offset in range(start, end):
            character -= self._width(self.text[offset])
            if character < 0:
                return offset
        return end

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the character of an offset; of one inside CR LF, those of the line's end."""
        line = bisect_right(self.starts, offset) - 1
        start, end = self.starts[line], min(offset, self.line_end(line))
        return line, end - start if self._is_plain else self.units(self.text[start:end])

    def units(self, text: str) -> int:
        """How many units a text takes."""
        return len(text) if self._is_plain else sum(map(self._width, text))

    def line_end(self, line: int) -> int:
        """Where a line ends, without what ends it."""
        if line + 1 >= len(self.starts):
            return len(self.text)
        end = self.starts[line + 1] - 1
        return end - (self.text[end] == "\n" and self.text[end - 1 : end] == "\r" and end > self.starts[line])


class Shift(NamedTuple):
    """What became of the offsets of a text when it was edited: all before `start` stayed, all from `end` on moved."""

    start: int
    end: int
    by: int

    @classmethod
    def between(cls, old: str, new: str) -> Shift:
        """Return the shift between two texts: the edit is what lies between what they begin and what they end with."""
        shortest = min(len(old), len(new))
        start = _common(shortest, lambda size: old[:size] == new[:size])
        tail = _common(shortest - start, lambda size: old[len(old) - size :] == new[len(new) - size :])
        return cls(start, len(old) - tail, len(new) - len(old))

    def to_new(self, offset: int) -> int:
        """Where an offset of the old text is in the new one; one inside the edit is where that begins."""
        if offset <= self.start:
            return offset
        return offset + self.by if offset >= self.end else self.start

    def touches(self, span: Span) -> bool:
        """Whether the edit changed anything in a span of the old text, or at its borders."""
        return self.start <= span.end and span.start <= self.end

    def span(self, span: Span | None) -> Span | None:
        """Where a span of the old text is in the new one."""
        return None if span is None else Span(self.to_new(span.start), self.to_new(span.end))

    def to_old(self, offset: int) -> int:
        """Where an offset of the new text was in the old one; one inside the edit is where that began."""
        if offset <= self.start:
            return offset
        return offset - self.by if offset >= self.end + self.by else self.start


def _common(most: int, is_common: Callable[[int], bool]) -> int:
    """Return the largest size up to `most` that is common, where every smaller one is."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if is_common(middle):
            least = middle
        else:
            most = middle - 1
    return least
