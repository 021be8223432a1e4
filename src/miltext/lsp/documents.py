"""The open documents: their texts as the client edits them, and the readings of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp
from pygls.uris import to_fs_path, uri_scheme

from miltext.diagnostics import Diagnostic, Span
from miltext.lsp.client import Abilities
from miltext.lsp.positions import Positions
from miltext.syntax.editing import between, changed
from miltext.syntax.tree import chain

if TYPE_CHECKING:
    from miltext.lsp.reading import Reading
    from miltext.parsing.scopes import Meaning
    from miltext.syntax.editing import Edit, EditedText
    from miltext.syntax.phrases import Name
    from miltext.syntax.tree import Node


@dataclass(eq=False)
class Document:
    """One version of a text. `reading` and `checked` are None until they are done; `before` is the last reading with a
    tree of an earlier version. `is_broken` is None until the text is read.
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

    @property
    def path(self) -> str | None:
        """The path of a document in a file; None for any other document."""
        return to_fs_path(self.uri) if uri_scheme(self.uri) == "file" else None

    @property
    def folder(self) -> Path | None:
        """The folder of a document in a file; None for any other document."""
        return Path(self.path).parent if self.path else None

    @property
    def last_tree(self) -> Reading | None:
        """The last reading with a tree."""
        return self.reading if self.reading and self.reading.root.children else self.before

    def edited(self, version: int, changes: Iterable[lsp.TextDocumentContentChangeEvent]) -> Document:
        """Return the next version. The places of each change are in the text after the changes before it."""
        edited = Document(self.uri, version, self.positions, self.last_tree)
        for change in changes:
            text = change.text
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                start, end = edited.span(change.range)
                text = changed(edited.text, [(start, end, text)])
            edited.positions = Positions(text, self.positions.encoding)
        return edited

    def offset(self, position: lsp.Position) -> int:
        """Return the offset of a client's position, even outside the text."""
        return self.positions.offset(position.line, position.character)

    def span(self, range: lsp.Range) -> Span:
        """Return the span of a client's range, whose ends may be in either order."""
        return Span(*sorted((self.offset(range.start), self.offset(range.end))))

    def position(self, offset: int) -> lsp.Position:
        """Return the position of an offset."""
        return lsp.Position(*self.positions.position(offset))

    def range(self, start: int, end: int) -> lsp.Range:
        """Return the client's range for a span."""
        return lsp.Range(self.position(start), self.position(end))

    def edits(self, edits: Iterable[Edit]) -> list[lsp.TextEdit]:
        """Return edits of the text in the client's form."""
        return [lsp.TextEdit(self.range(start, end), text) for start, end, text in edits]


class View:
    """A document with its reading or, if `shift` is not None, with a reading of an earlier version.

    `text`, `scopes`, offsets and spans belong to the reading; the client gets places in the document. `client` contains
    the client's abilities.
    """

    def __init__(self, document: Document, reading: Reading, client: Abilities = Abilities()) -> None:  # noqa: B008  # it cannot change
        self.document = document
        self.reading = reading
        self.text = reading.text
        self.scopes = reading.scopes
        self.client = client
        self.shift = None if reading.text == document.text else between(reading.text, document.text)

    def offset(self, position: lsp.Position) -> int:
        """Return the offset of a position."""
        return self.read_at(self.document.offset(position))

    def span(self, range: lsp.Range) -> Span:
        """Return the span of a client's range."""
        return Span(*sorted((self.offset(range.start), self.offset(range.end))))

    def range(self, start: int, end: int) -> lsp.Range:
        """Return the client's range for a span."""
        return self.document.range(self.shown_at(start), self.shown_at(end))

    def read_at(self, place: int) -> int:
        """Return the offset in the reading of a place in the document."""
        return self.shift.source(place) if self.shift else place

    def shown_at(self, offset: int) -> int:
        """Return the place in the document of an offset in the reading."""
        return shown_at(self.shift, self.text, offset) if self.shift else offset

    def name_at(self, position: lsp.Position) -> tuple[Name, Meaning | None] | None:
        """Return the name at a position, with its meaning."""
        return self.scopes.at(self.offset(position))

    def chain(self, offset: int) -> list[Node]:
        """Return the phrases around the word at an offset, or at its end, outermost first."""
        is_behind_word = _is_word(self.text[offset - 1 : offset]) and not _is_word(self.text[offset : offset + 1])
        return chain(self.reading.root, offset - is_behind_word)

    def workspace_edit(self, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
        """Return edits bound to the version that they were made for; for a client without versions, of the document."""
        uri, sent = self.document.uri, self.document.edits(edits)
        if not self.client.versions:
            return lsp.WorkspaceEdit(changes={uri: sent})
        document = lsp.OptionalVersionedTextDocumentIdentifier(uri, self.document.version)
        return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(document, [*sent])])


def shown_at(shift: EditedText, read: str, offset: int) -> int:
    """Return the place after an edit of an offset of the text `read`. Its end is the end of the text that replaced it,
    as for any other end; text appended behind it stays outside.
    """
    is_replaced = 0 < offset == len(read) and shift.place_of(Span(offset - 1, offset)) is None
    return len(shift.text) if is_replaced else shift.place(offset)


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "@", '"')
