"""The open documents: their texts as the client edits them, and what is known of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.diagnostics import Diagnostic, Span
from miltext.lsp.abilities import UNKNOWN, Abilities
from miltext.lsp.positions import Positions, Shift
from miltext.lsp.trees import chain

if TYPE_CHECKING:
    from miltext.lsp.reading import Reading
    from miltext.lsp.scopes import Scopes
    from miltext.syntax.tree import Node


@dataclass(eq=False)
class Document:
    """One version of a text. `reading` and `checked` are None until they are there; `before` is the last reading of an
    earlier version that has a tree. `is_broken` is known once the text was read.
    """

    uri: str
    version: int
    positions: Positions
    before: Reading | None = None
    reading: Reading | None = None
    is_broken: bool = False
    checked: Sequence[Diagnostic] | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The text of this version."""
        return self.positions.text

    def edited(self, version: int, changes: Sequence[lsp.TextDocumentContentChangeEvent]) -> Document:
        """Return the next version: changes follow one another, each in the places of the text that the ones before
        made.
        """
        positions = self.positions
        for change in changes:
            text = change.text
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                places = [offset_of(positions, place) for place in (change.range.start, change.range.end)]
                text = positions.text[: min(places)] + text + positions.text[max(places) :]
            positions = Positions(text, positions.encoding)
        return Document(self.uri, version, positions, self.last_tree)

    @property
    def last_tree(self) -> Reading | None:
        """The last reading that has a tree."""
        return self.reading if self.reading and self.reading.root.children else self.before


def offset_of(positions: Positions, position: lsp.Position) -> int:
    """Return the offset of a client's position, wherever that is."""
    return positions.offset(position.line, position.character)


class View:
    """A document with a reading of it or, where `shift` is not None, of an earlier version.

    Offsets and spans are those of the reading; what the client is told are places in the document. `client` is
    what that can do.
    """

    def __init__(self, document: Document, reading: Reading, client: Abilities = UNKNOWN) -> None:
        self.document = document
        self.reading = reading
        self.client = client
        self.shift = None if reading.text == document.text else Shift.between(reading.text, document.text)

    @property
    def text(self) -> str:
        """The text that was read."""
        return self.reading.text

    @property
    def scopes(self) -> Scopes:
        """What its names mean."""
        return self.reading.scopes

    def offset(self, position: lsp.Position) -> int:
        """Return the offset of a position."""
        offset = offset_of(self.document.positions, position)
        return self.shift.to_old(offset) if self.shift else offset

    def span(self, range: lsp.Range) -> Span:
        """Return the stretch of a range."""
        start, end = sorted((self.offset(range.start), self.offset(range.end)))
        return Span(start, end)

    def position(self, offset: int) -> lsp.Position:
        """Return the position of an offset."""
        offset = self.shift.to_new(offset) if self.shift else offset
        return lsp.Position(*self.document.positions.position(offset))

    def range(self, start: int, end: int) -> lsp.Range:
        """Return the range of a stretch."""
        return lsp.Range(self.position(start), self.position(end))

    def location(self, start: int, end: int) -> lsp.Location:
        """Return the location of a stretch."""
        return lsp.Location(self.document.uri, self.range(start, end))

    def chain(self, offset: int) -> list[Node]:
        """Return the phrases round the word at an offset, or that ends there, outermost first."""
        return chain(self.reading.root, offset - self._is_behind_word(offset))

    def _is_behind_word(self, offset: int) -> bool:
        return _is_word(self.text[offset - 1 : offset]) and not _is_word(self.text[offset : offset + 1])


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "@", '"')
