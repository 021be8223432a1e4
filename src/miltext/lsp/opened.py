"""An open document as its messages describe it, so that another process can receive the same messages."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

MOST = 200
"""The most changes kept before they are applied to the text."""


class Opened:
    """A document that the client has opened, with its changes; `is_newer` than the last result of `as_opened`."""

    def __init__(self, item: Record) -> None:
        self._item = item
        self._changes: list[Record] = []
        self.is_newer = False

    def change(self, params: Record, encoding: str) -> None:
        """Keep a change from a client with this encoding."""
        self._changes.append(params)
        self.is_newer = True
        if len(self._changes) > MOST:
            self._item, self._changes = self._edited(encoding), []

    def as_opened(self, encoding: str) -> Record:
        """Return the parameters that open the document in its current state."""
        self.is_newer = False
        self._item, self._changes = self._edited(encoding), []
        return {"textDocument": self._item}

    def _edited(self, encoding: str) -> Record:
        """Return the document with its changes applied. A malformed change is skipped."""
        from lsprotocol import types as lsp  # these imports take a while, and usually no document is moved
        from pygls.protocol import default_converter

        from miltext.lsp.documents import Document
        from miltext.lsp.positions import Positions

        read = default_converter()  # type: ignore[no-untyped-call]
        document = Document(self._item["uri"], self._item["version"], Positions(self._item["text"], encoding))
        for params in self._changes:
            with suppress(Exception):  # the converter raises many kinds of errors
                change = read.structure(params, lsp.DidChangeTextDocumentParams)
                document = document.edited(change.text_document.version, change.content_changes)
        return {**self._item, "version": document.version, "text": document.text}
