"""Removal of phrases from a text: statements with their comments and lines, items of lists with their commas.

The comments that belong to an item, by `syntax.comments`, are removed with it, and so are the comments of a statement
alone on its lines. Comments above an empty line, all others, and the layout stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from miltext.diagnostics import Span
from miltext.syntax.comments import OwnedComments

if TYPE_CHECKING:
    from miltext.syntax.editing import Edit
    from miltext.syntax.tree import Node

_SPACES = re.compile(r"[ \t]*")
_REST = re.compile(r"[ \t]*(\r?\n|\Z)?")
_LINE_END = re.compile(r"(?:\r?\n)?")
_EMPTY_LINES = re.compile(r"(?:[ \t]*\r?\n)*")


class Removal:
    """The edits that remove phrases from a text, which has the comments."""

    def __init__(self, text: str, comments: Sequence[Span]) -> None:
        self._text = text
        self._owned = OwnedComments(text, comments)

    def items(self, phrase: Node, kept: Sequence[bool]) -> Iterator[Edit]:
        """Yield the edits that remove items of a list, each with a comma, and with the comments of both.

        If no attribute is kept, the brackets are removed, too.
        """
        found = list[Span]()
        if phrase.name == "attributes" and not any(kept):
            yield len(self._text[: phrase.start].rstrip(" ")), phrase.end, ""
            return
        for span in self._items_and_commas(phrase, kept):
            if found and self._is_space(found[-1].end, span.start):
                span = Span(found.pop().start, span.end)
            found.append(span)
        for start, end in found:
            after = end
            if end == found[-1].end:
                after = next((each.start for each in phrase.children[1:-1:2] if each.start >= end), end)
            yield *with_blanks(self._text, start, after if self._is_space(end, after) else end), ""

    def _items_and_commas(self, phrase: Node, kept: Sequence[bool]) -> Iterator[Span]:
        """Yield the places of the removed items of a list, and of their commas: the commas after them, or at the end
        of the list the commas before them.
        """
        listed, commas = phrase.children[1:-1:2], phrase.children[2:-1:2]
        last = max((index for index, stays in enumerate(kept) if stays), default=len(listed))
        for index, (item, stays) in enumerate(zip(listed, kept, strict=True)):
            if index > last:
                yield commas[index - 1].span
            if not stays:
                yield Span(self._owned.start(item.start), self._beside(item))
                if index < min(last, len(commas)):
                    yield Span(commas[index].start, self._beside(commas[index]))

    def _beside(self, phrase: Node) -> int:
        """Return the end of the comments behind a phrase that belong to it, and of the spaces behind them."""
        return self._after(_SPACES, self._owned.end(phrase.end))

    def statements(self, phrases: Sequence[Node], kept: Sequence[bool]) -> Iterator[Edit]:
        """Yield the edits that remove phrases of a sequence, with their comments."""
        found = list[Span]()
        for span in self._lines(phrases, kept):
            first, after = self._with_comments(*span)
            if found and first <= found[-1].end:
                first = found.pop().start
            found.append(self._with_empty_lines(first, after))
        return ((self._before_semicolon(*span), span.end, "") for span in found)

    def _lines(self, phrases: Sequence[Node], kept: Sequence[bool]) -> list[Span]:
        """Return the places of the removed phrases, adjacent ones of a line as one."""
        found, stayed = list[Span](), True
        for phrase, stays in zip(phrases, kept, strict=True):
            if not stays:
                is_beside = not stayed and "\n" not in self._text[found[-1].end : phrase.start]
                found.append(Span(found.pop().start if is_beside else phrase.start, phrase.end))
            stayed = stays
        return found

    def _with_comments(self, start: int, end: int) -> tuple[int, int]:
        """Return a range to remove; if it makes whole lines, or all before a semicolon, with its comments."""
        first, after = self._owned.start(start), self._after(_SPACES, self._owned.end(end))
        line, following = self._text.rfind("\n", 0, first) + 1, self._after(_LINE_END, after)
        is_begun = self._is_space(line, first)
        if is_begun and self._is_semicolon(after):
            return line, after
        if not is_begun or after == following < len(self._text):
            return start, self._after(_SPACES, end)
        return line, following

    def _before_semicolon(self, start: int, end: int) -> int:
        """Return the start of a range to remove. If a semicolon follows the range on another line, the start is the end
        of the text before, so that the semicolon joins it, unless that text is a comment.
        """
        if not self._is_semicolon(end):
            return start
        before = self._owned.text_end(start)
        return start if self._owned.ends_at(before) else before

    def _is_semicolon(self, place: int) -> bool:
        return self._text.startswith(";", place)

    def _with_empty_lines(self, first: int, after: int) -> Span:
        """Return a range of whole lines, with the empty lines that would then separate nothing."""
        code = self._owned.text_end(first)
        blank = min(self._after(_LINE_END, self._after(_SPACES, code)), first)
        if self._text[after - 1] == "\n" and (blank < first or self._text[code - 1] == "{"):
            after = self._after(_EMPTY_LINES, after)
            if self._text.startswith("}", self._after(_SPACES, after)):
                first = blank
        return Span(first, after)

    # ---- places

    def _is_space(self, start: int, end: int) -> bool:
        return not self._text[start:end].strip()

    def _after(self, pattern: re.Pattern[str], place: int) -> int:
        found = pattern.match(self._text, place)
        return found.end() if found else place


def with_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a range to remove, with the blanks or the empty line that would remain."""
    rest = _REST.match(text, end)
    assert rest is not None
    if rest[1] is None:
        return start, rest.end() if text[start - 1 : start].isspace() else end
    begin = len(text[:start].rstrip(" \t"))
    is_line = begin == 0 or text[begin - 1] == "\n"
    return begin, rest.end() if is_line else rest.start(1)
