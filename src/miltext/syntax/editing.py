"""Edits of a text, and the proof that the rest is unchanged."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from io import StringIO
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.diagnostics import Diagnostic, MiltextError, Note, Span, codes, error
from miltext.schema.wire import wire_of
from miltext.syntax.lexer import END, FINE, lexer

if TYPE_CHECKING:
    from miltext.schema.proto import Program

Edit: TypeAlias = "tuple[int, int, str]"
"""A range of text, by its start and end, and its replacement."""

_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@+-.")
"""The characters of names, words and numbers, which form a single token when adjacent."""


class TextPiece(NamedTuple):
    """A piece of an edited text: a copy of a span of the text before, or text written in place of that span.

    In the long form of a draft, written text may replace a mistake; `is_draft` is true for text allowed only in drafts.
    """

    text: str
    span: Span
    is_copy: bool
    is_wrong: bool = False
    is_draft: bool = True


class EditedText:
    """A text made of pieces of the text `before`, and the map between the places of both.

    `diagnostics` are the errors of the text before, and `wrong` the places that these errors make wrong. `first` is the
    first written text allowed only in drafts.
    """

    def __init__(self, before: str, pieces: Iterable[TextPiece], diagnostics: Iterable[Diagnostic] = ()) -> None:
        self._before = before
        self._starts = array("Q", [0])
        self._spans = array("Q"), array("Q")
        self._is_copy = bytearray()
        self.first: int | None = None
        self.wrong: list[int] = []
        words = StringIO()
        for piece in pieces:
            if piece.text:
                self._add(piece)
                words.write(piece.text)
        self.text = words.getvalue()
        self.diagnostics = [*diagnostics]

    def _add(self, piece: TextPiece) -> None:
        """Record the place of a piece in flat tables, for there are thousands; copies of adjacent text are joined."""
        start, (begins, ends) = self._starts[-1], self._spans
        if piece.is_copy and self._is_copy[-1:] == b"\1" and ends[-1] == piece.span.start:
            ends[-1] = piece.span.end
            self._starts[-1] += len(piece.text)
            return
        begins.append(piece.span.start)
        ends.append(piece.span.end)
        self._is_copy.append(piece.is_copy)
        self._starts.append(start + len(piece.text))
        if not piece.is_copy and piece.is_draft and self.first is None:
            self.first = start
        if not piece.is_copy and piece.is_wrong:
            self.wrong.append(start)

    # ---- places

    def written(self, span: Span) -> Span:
        """Return the place in the text before of a span of this one; for written text, the replaced span."""
        first = self._at(span.start)
        if span.start == span.end:
            return Span(first.start, first.start)
        last = self._at(span.end - 1)
        return Span(min(first.start, last.start), max(first.end, last.end))

    def _at(self, offset: int) -> Span:
        """Return the place in the text before of a character, or of the text that its piece replaced."""
        if offset >= self._starts[-1]:
            return Span(len(self._before), len(self._before))
        place = bisect_right(self._starts, offset) - 1
        begin, end = (side[place] for side in self._spans)
        start = begin + offset - self._starts[place]
        return Span(start, start + 1) if self._is_copy[place] else Span(begin, end)

    def source(self, offset: int) -> int:
        """Return the place in the text before of an offset of this one: in written text, the replaced text's start."""
        if not offset:
            return 0
        place = bisect_left(self._starts, offset) - 1
        begin, end = (side[place] for side in self._spans)
        if self._is_copy[place]:
            return begin + offset - self._starts[place]
        return begin if offset < self._starts[place + 1] else end

    @cached_property
    def _copies(self) -> list[tuple[int, int, int]]:
        """The copied spans in the order of the text before, each with its start in this one."""
        placed = zip(*self._spans, self._starts, strict=False)
        return sorted(compress(placed, self._is_copy))

    def _copy_at(self, offset: int) -> tuple[int, int, int]:
        """Return the copied span that contains an offset of the text before, or else the last span before it."""
        index = bisect_left(self._copies, offset, key=lambda copy: copy[0]) - 1
        found = self._copies[index] if index >= 0 else (0, 0, 0)
        following = self._copies[index + 1 : index + 2]
        return following[0] if found[1] < offset and following and following[0][0] == offset else found

    def place(self, offset: int) -> int:
        """Return the place in this text of an offset of the text before; for replaced text, the replacement's start."""
        start, end, there = self._copy_at(offset)
        return there + min(offset, end) - start

    def place_of(self, span: Span) -> Span | None:
        """Return the place in this text of a span of the text before, if it was copied as a whole."""
        for start, end, there in (self._copy_at(span.start), self._copy_at(span.start + 1)):
            if start <= span.start and span.end <= end:
                return Span(span.start + there - start, span.end + there - start)
        return None

    def untouched(self, span: Span) -> Span | None:
        """Return the place in this text of a span of the text before, if no edit is in it or at its borders."""
        start, end, there = self._copy_at(span.start or 1)
        behind = there + end - start
        is_free_before = start < span.start or start == there == span.start == 0
        is_free_behind = span.end < end or (span.end == end == len(self._before) and behind == len(self.text))
        return Span(span.start + there - start, span.end + there - start) if is_free_before and is_free_behind else None

    # ---- diagnostics

    def relocated(self, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return diagnostics of this text as diagnostics of the text before, after its own.

        A suggestion about words that the text before lacks is omitted.
        """
        return [*self.diagnostics, *map(self._relocated, found)]

    def _relocated(self, found: Diagnostic) -> Diagnostic:
        notes = tuple(Note(note.message, note.span and self.written(note.span)) for note in found.notes)
        span = found.span and self.written(found.span)
        is_copy = found.span is None or self.copies(found.span)
        return found._replace(span=span, notes=notes, suggestion=found.suggestion if is_copy else None)

    def copies(self, span: Span) -> bool:
        """Return whether a span of this text has the same words in the text before."""
        return self.text[slice(*span)] == self._before[slice(*self.written(span))]


def appended(place: int, items: Iterable[str], *, is_first: bool) -> Edit:
    """Return the edit that adds items at the end of a list, which is empty if they are the first."""
    return place, place, ("" if is_first else ", ") + ", ".join(items)


def edited(text: str, edits: Iterable[Edit]) -> EditedText:
    """Return a text with non-overlapping edits; words that would join stay separate.

    Edits at one place keep their order.
    """
    return EditedText(text, pieces(text, apart(text, edits)))


def between(before: str, after: str) -> EditedText:
    """Return the map between two texts: the edit lies between their common beginning and their common end."""
    shortest = min(len(before), len(after))
    start = _common(shortest, lambda size: before[:size] == after[:size])
    tail = _common(shortest - start, lambda size: before[len(before) - size :] == after[len(after) - size :])
    edit = start, len(before) - tail, after[start : len(after) - tail]
    return EditedText(before, pieces(before, [edit]))


def _common(most: int, is_common: Callable[[int], bool]) -> int:
    """Return the largest common size up to `most`; all sizes below a common one are common, too."""
    return bisect_right(range(1, most + 1), False, key=lambda size: not is_common(size))


def changed(text: str, changes: Iterable[Edit]) -> str:
    """Return a text with changes, which are given in the order of the text, and applied unchanged."""
    return "".join(piece.text for piece in pieces(text, changes))


def pieces(text: str, changes: Iterable[Edit]) -> Iterator[TextPiece]:
    """Return the pieces of a text with the changes, which are in the order of the text."""
    parts = ((at := Span(start, end), [TextPiece(new, at, is_copy=False)]) for start, end, new in changes)
    return replaced(text, Span(0, len(text)), parts)


def replaced(text: str, span: Span, parts: Iterable[tuple[Span, Iterable[TextPiece]]]) -> Iterator[TextPiece]:
    """Yield the pieces of a range of a text, with others in place of some of its parts, in the order of the text."""
    start = span.start
    for part, instead in parts:
        yield copied(text, start, part.start)
        yield from instead
        start = part.end
    yield copied(text, start, span.end)


def copied(text: str, start: int, end: int) -> TextPiece:
    """Return the piece that copies a range of a text."""
    return TextPiece(text[start:end], Span(start, end), is_copy=True)


def proven(text: str, edits: Iterable[Edit], path: str | None = None) -> str:
    """Edit a text, and prove the result: its tokens are the unedited tokens and the edits' tokens, in order.

    Comments are tokens here. Raise MiltextError if the proof fails, which would be a fault of miltext.
    """
    changes = apart(text, edits)
    made = changed(text, changes)
    if _words(made) != _expected(text, changes):
        raise changed_meaning(path)
    return made


def require_program(made: Program | None, meant: Program | None, path: str | None = None) -> None:
    """Prove that an edited text spells the Program `meant`, if given. Raise MiltextError as `proven` does."""
    if meant is not None and (made is None or wire_of(made) != wire_of(meant)):
        raise changed_meaning(path)


def changed_meaning(path: str | None) -> MiltextError:
    """Return the error about an edit that would change more than intended."""
    message = "the edited text would differ from the intended one: a bug in miltext; the text is not changed"
    return MiltextError([error(codes.INTERNAL_ERROR, message)], path=path)


def apart(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """Return edits in the order of the text, with blanks between words that would join."""
    places, ordered = _Places(text), sorted(edits, key=lambda edit: edit[:2])
    found, done, before = list[Edit](), 0, ""
    following = [*(start for start, _, _ in ordered), -1][1:]
    for (start, end, written), beside in zip(ordered, following, strict=True):
        before = text[start - 1 : start] if start > done else before
        new = written
        if new and _touch(before, new) and places.part(start):
            new = f" {new}"
        before = new[-1:] or before
        if end != beside and _touch(before, text[end : end + 2]) and places.part(start) and places.part(end):
            new = f"{new} "
            before = " "
        found.append((start, end, new))
        done = end
    return found


def _touch(before: str, after: str) -> bool:
    """Return whether the end of `before` and the beginning of `after` would be a single token."""
    return before[-1:] in _WORD and after[:1] in _WORD and bool(before and after)


class _Places:
    """The places between the tokens of a text, read on demand."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _tokens(self) -> tuple[Sequence[int], Sequence[int]]:
        found = [(at, at + len(word)) for _, word, at in lexer(FINE).tokens(self.text, 0)]
        return [start for start, _ in found], [end for _, end in found]

    def part(self, place: int) -> bool:
        """Return whether no token extends over a place."""
        starts, ends = self._tokens
        last = bisect_left(starts, place) - 1
        return last < 0 or ends[last] <= place


def _words(text: str) -> list[str]:
    return [word for terminal, word, _ in lexer(FINE).tokens(text, 0) if terminal != END]


def _expected(text: str, changes: Sequence[Edit]) -> list[str]:
    """Return the words of a text after the changes."""
    found, left = list[str](), iter([*changes, (len(text) + 1, len(text) + 1, "")])
    start, end, written = next(left)
    for terminal, word, at in lexer(FINE).tokens(text, 0):
        while at >= end and at >= start and start <= len(text):
            found += _words(written)
            start, end, written = next(left)
        if terminal != END and at + len(word) <= start:
            found.append(word)
    return found
