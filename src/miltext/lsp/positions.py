"""Positions as clients count them, in lines and in units of an encoding, and offsets in code points."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

_LINE_END = re.compile(r"\r\n|\r|\n")

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""The encodings by their names in the protocol: the codec, and the bytes of a unit."""


class Positions:
    """The places of one text: lines from 0, ended by LF, CR or both, and characters in units of `encoding`."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self.encoding = encoding
        self._is_plain = text.isascii() or encoding == "utf-32"

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line's beginning."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def offset(self, line: int, character: int) -> int:
        """Return the offset of a position.

        A position below the text stands for its end, and a position behind the end of a line for that end. A position
        inside a character stands for the beginning of the character.
        """
        if line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.line_end(line)
        if self._is_plain:
            return min(start + character, end)
        return (
            bisect_right(range(start, end), character, key=lambda last: self.units(self.text[start : last + 1])) + start
        )

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the character of an offset; inside CR LF, of the line's end."""
        line = bisect_right(self.starts, offset) - 1
        return line, self.units(self.text[self.starts[line] : min(offset, self.line_end(line))])

    def units(self, text: str) -> int:
        """Return the number of units in a text."""
        if self._is_plain:
            return len(text)
        codec, size = _CODECS[self.encoding]
        return len(text.encode(codec, "surrogatepass")) // size

    def line_end(self, line: int) -> int:
        """Return the offset of a line's end, before its line break."""
        if line + 1 >= len(self.starts):
            return len(self.text)
        end = self.starts[line + 1] - 1
        return end - (self.text[end] == "\n" and self.text[end - 1 : end] == "\r" and end > self.starts[line])
