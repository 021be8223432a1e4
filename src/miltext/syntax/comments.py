"""The one rule for the owner of a comment: the token before it, or the token behind it.

A comment on a line of its own belongs to the token behind it. Any other comment belongs to the token before it on its
line; but a comment after a comma or an opening bracket, with code behind it, belongs to that code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile

from miltext.diagnostics import Span

_LINE_BREAK = re.compile(r"[\r\n]")
_WHITE = re.compile(r"\s*")
_OPENING = ",([{<"


def owned_before(text: str, start: int, comments: Sequence[Span], end: int) -> int:
    """Return the number of comments that belong to the token before them, out of all comments between two tokens.

    The token before ends at `start`, and the token behind begins at `end`. Both may be ends of the text.
    """
    on_line = [are_on_line(text, *pair) for pair in pairwise([Span(start, start), *comments, Span(end, end)])]
    if not start or (text[start - 1] in _OPENING and all(on_line)):
        return 0
    return sum(takewhile(bool, on_line[:-1]))


def are_on_line(text: str, before: Span, behind: Span) -> bool:
    """Return whether no line ends between two tokens or comments."""
    return not _LINE_BREAK.search(text, before.end, behind.start)


class OwnedComments:
    """The comments of a text, by the phrases that they belong to."""

    def __init__(self, text: str, comments: Iterable[Span]) -> None:
        self._text = text
        self._ends = dict(comments)
        self._starts = {end: start for start, end in self._ends.items()}

    def start(self, phrase: int) -> int:
        """Return the start of the comments above a phrase that belong to it, without an empty line between, or its own
        start.
        """
        found, place = list[Span](), phrase
        while (end := self.text_end(place)) in self._starts:
            found.append(Span(self._starts[end], end))
            place = found[-1].start
        found.reverse()
        start = phrase
        for span in reversed(found[owned_before(self._text, end, found, phrase) :]):
            if self._text.count("\n", span.end, start) > 1:
                break
            start = span.start
        return start

    def end(self, phrase: int) -> int:
        """Return the end of the comments behind a phrase that belong to it, or its own end."""
        found, place = list[Span](), self._after_white(phrase)
        while place in self._ends:
            found.append(Span(place, self._ends[place]))
            place = self._after_white(found[-1].end)
        count = owned_before(self._text, phrase, found, place)
        return found[count - 1].end if count else phrase

    def text_end(self, place: int) -> int:
        """Return the end of the code or comment before a place."""
        while place and self._text[place - 1].isspace():
            place -= 1
        return place

    def ends_at(self, place: int) -> bool:
        """Return whether a comment ends at a place."""
        return place in self._starts

    def _after_white(self, place: int) -> int:
        white = _WHITE.match(self._text, place)
        return white.end() if white else place
