"""The tokens beside a place of a text as one line, over which the patterns of slips are matched.

White space and comments between two tokens become at most one character of the line, so that the layout does not
matter, and long white space costs nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from miltext.syntax.lexer import FINE, lexer

WINDOW = 300
"""The number of characters to read before and after a place."""

PHRASE = 1 << 20
"""The greatest number of characters to read of a whole phrase."""

CUT = "\0"
"""The mark in a line for omitted text; no token contains it."""

_PHRASE_ENDS = frozenset(";(){}=")
_WORD = re.compile(r"\s+|\S+")


class TokenLine:
    """The `line` of the tokens between two places of a text, and the places of its characters in the text.

    `comments` are the beginnings of the omitted comments.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.line = ""
        self.comments: list[int] = []
        self._pieces: list[str] = []
        self._places: list[int] = []
        self._starts: list[int] = []

    def place(self, index: int) -> int:
        """Return the place in the text of a character of the line, or of its end."""
        self._starts = self._starts or [0, *accumulate(map(len, self._pieces))]
        piece = bisect_right(self._starts, index, 0, len(self._places)) - 1
        return self._places[piece] + index - self._starts[piece]

    def read(self, start: int, end: int, *, phrase: bool) -> int:
        """Add the tokens between two places of the text, or to the end of the phrase there. Return where they end."""
        part, at_end = self.text[start:end], 0
        for terminal, token, at in lexer(FINE).tokens(part, 0):
            if terminal == "COMMENT":
                self.comments.append(start + at)
                continue
            if at > at_end:
                self._pieces.append("\n" if "\n" in part[at_end:at] else " ")
                self._places.append(start + at_end)
            if not token:
                break
            if terminal == "LIST":
                self._add_list(token, start + at)
            else:
                self._pieces.append(token)
                self._places.append(start + at)
            at_end = at + len(token)
            if phrase and token in _PHRASE_ENDS:
                break
        return start + at_end

    def _add_list(self, token: str, place: int) -> None:
        """Add a list, with its white space as between tokens."""
        for match in _WORD.finditer(token):
            self._pieces.append(match[0] if match[0].strip() else "\n" if "\n" in match[0] else " ")
            self._places.append(place + match.start())

    def cut(self, place: int) -> None:
        """Mark that the text is cut at a place."""
        self._pieces.append(CUT)
        self._places.append(place)

    def unread(self) -> int:
        """Remove the last token, which may be cut, and return its place."""
        self._pieces.pop()
        return self._places.pop()

    def finish(self, place: int) -> TokenLine:
        """Make the line, which ends at a place."""
        self._pieces.append("")
        self._places.append(place)
        self.line = "".join(self._pieces)
        return self


def before(text: str, at: int) -> TokenLine:
    """Return the line of the tokens before a place; it begins with CUT unless it includes the text's beginning."""
    start, line = max(at - WINDOW, 0), TokenLine(text)
    if start:
        line.cut(start)
    line.read(start, at, phrase=False)
    return line.finish(at)


def after(text: str, at: int, *, phrase: bool = False) -> TokenLine:
    """Return the line of the tokens from a place on; it ends with CUT if the text continues.

    It ends with the window, or with a `phrase`: at the next parenthesis, brace, `;` or `=`.
    """
    line, window = TokenLine(text), min(at + (PHRASE if phrase else WINDOW), len(text))
    end = line.read(at, window, phrase=phrase)
    if end == window < len(text):
        end = line.unread()
    if end < len(text):
        line.cut(end)
    return line.finish(end)
