"""Documents in a language server, as the tests open, edit and ask about them."""

from __future__ import annotations

import asyncio
import itertools
import sys
from functools import partial
from typing import Any

from lsprotocol import types as lsp
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import register_lsp_features

import miltext
from miltext.containers.sources import is_text
from miltext.diagnostics import Diagnostic
from miltext.lsp.positions import Positions

MARK = "§"
"""Where it is in a text a test points; it is no part of the text."""

SERVER = [sys.executable, "-m", "miltext", "lsp"]

SEVERITY = {"error": 1, "warning": 2, "note": 3}

_numbers = itertools.count()


class Client(LanguageClient):
    """A client that keeps which version of each document its last diagnostics are of."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.versions: dict[str, int | None] = {}


def make_client() -> Client:
    client = Client()
    register_lsp_features(client)
    client.protocol.fm.features[lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = partial(_published, client)
    return client


def _published(client: Client, params: lsp.PublishDiagnosticsParams) -> None:
    client.diagnostics[params.uri] = params.diagnostics
    client.versions[params.uri] = params.version


class OpenDocument:
    """A document that was opened, in the client's copy; `places` are where the marks stood."""

    def __init__(self, client: LanguageClient, marked: str, uri: str | None = None, encoding: str = "utf-16") -> None:
        self.client = client
        self.encoding = encoding
        pieces = marked.split(MARK)
        self.text = "".join(pieces)
        offsets = itertools.accumulate(map(len, pieces[:-1]))
        self.places = [self.position(offset) for offset in offsets]
        self.uri = uri or f"untitled:test-{next(_numbers)}.mil"
        self.version = 1
        item = lsp.TextDocumentItem(self.uri, "mil", 1, self.text)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    @property
    def id(self) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri)

    def position(self, offset: int) -> lsp.Position:
        return lsp.Position(*Positions(self.text, self.encoding).position(offset))

    def offset(self, position: lsp.Position) -> int:
        return Positions(self.text, self.encoding).offset(position.line, position.character)

    def span(self, part: str, number: int = 0) -> lsp.Range:
        """The range of a part of the text, the first or a later one."""
        start = -1
        for _ in range(number + 1):
            start = self.text.index(part, start + 1)
        return lsp.Range(self.position(start), self.position(start + len(part)))

    def at(self, part: str, number: int = 0) -> dict[str, Any]:
        """The parameters of a request about the beginning of a part."""
        return {"text_document": self.id, "position": self.span(part, number).start}

    def marked(self, number: int = 0) -> dict[str, Any]:
        """The parameters of a request about a mark."""
        return {"text_document": self.id, "position": self.places[number]}

    def told(self, range: lsp.Range) -> str:
        """What is in a range."""
        return self.text[self.offset(range.start) : self.offset(range.end)]

    def change(self, range: lsp.Range, text: str) -> None:
        """Put a text in place of a range."""
        positions = Positions(self.text, self.encoding)
        start, end = sorted(positions.offset(place.line, place.character) for place in (range.start, range.end))
        self.text = self.text[:start] + text + self.text[end:]
        self._send(lsp.TextDocumentContentChangePartial(range, text))

    def rewrite(self, text: str) -> None:
        """Put another text in place of all."""
        self.text = text
        self._send(lsp.TextDocumentContentChangeWholeDocument(text))

    def _send(self, change: Any) -> None:
        self.version += 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    def edited(self, edits: Any) -> str:
        """The text with edits."""
        text = self.text
        for edit in sorted(edits, key=lambda edit: self.offset(edit.range.start), reverse=True):
            text = text[: self.offset(edit.range.start)] + edit.new_text + text[self.offset(edit.range.end) :]
        return text

    async def diagnosed(self, seconds: float = 20) -> list[lsp.Diagnostic]:
        """The diagnostics of this version, once they come."""
        async with _deadline(seconds):
            while self.published.get(self.uri) != self.version:
                await self.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return list(self.client.diagnostics.get(self.uri, ()))

    @property
    def published(self) -> dict[str, int | None]:
        """The version that each document's diagnostics are of."""
        assert isinstance(self.client, Client)
        return self.client.versions

    def expected(self) -> list[tuple[Any, ...]]:
        """What `miltext.check` says of the text, as `seen` shows it; a string of one line without a block is a path."""
        text = self.text if is_text(self.text) else f"{self.text}\n"
        return [self._shown(diagnostic) for diagnostic in miltext.check(text)]

    def _shown(self, found: Diagnostic) -> tuple[Any, ...]:
        start, end = (found.span.start, found.span.end) if found.span else (0, 0)
        place = lsp.Range(self.position(start), self.position(end))
        message = "\n".join([found.message, *(note.message for note in found.notes if note.span is None)])
        return found.code, SEVERITY[found.severity], message, str(place)


def seen(diagnostics: list[lsp.Diagnostic]) -> list[tuple[Any, ...]]:
    """Diagnostics as `expected` shows them."""
    return [(each.code, int(each.severity or 0), each.message, str(each.range)) for each in diagnostics]


class _deadline:
    """A time within which something must happen: `asyncio.timeout`, which Python 3.10 does not have."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handle = asyncio.get_running_loop().call_later(self._seconds, task.cancel)

    async def __aexit__(self, *_: object) -> None:
        self._handle.cancel()
