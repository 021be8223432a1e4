"""The server itself: pygls moves the messages, and what takes long is done in threads.

Each change makes a new Document. It is read once, when the first request asks for that or it is checked, and checked
when typing rests or has gone on for long. What is found of a version that is no longer the last is told where it stands
by now.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from miltext.lsp import completion, diagnosing, hover
from miltext.lsp.abilities import Abilities
from miltext.lsp.documents import Document, View
from miltext.lsp.positions import Positions
from miltext.lsp.reading import Reading, read_past, read_whole
from miltext.lsp.refusals import superseded
from miltext.lsp.requests import REQUESTS, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.diagnostics import Diagnostic

_LOG = logging.getLogger("miltext")

QUIET = 0.2
"""Seconds without a change after which a text is checked."""

PATIENCE = 1.0
"""Seconds after a change by which a text is checked, though changes still come."""

IDLE = 5.0
"""Seconds without a request after which cyclic garbage is collected."""

MOST_CHECKS = 100
"""How many checks it may take until then; each leaves some 300 kB of garbage where the text is broken."""

STACK = 1 << 24
"""Bytes of stack for a thread: some systems give it less than they give the main one, and texts may nest deeply."""

SWITCH = 0.001
"""Seconds after which a thread that checks lets one that answers have its turn: a fifth of what Python allows it."""

SMALLEST = "program(1.3){func main<ios18>(fp32 x){fp32 y = relu(x = x);}->(y);}"
"""A text with something of everything to read."""


class Protocol(LanguageServerProtocol):
    """The protocol, with documents of our own: pygls' break lines at more than the protocol does."""

    _server: Server

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        self._server.opened(params.text_document)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        self._server.changed(params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        self._server.closed(params.text_document.uri)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a message out of JSON; a request that is none is answered with an error, which pygls leaves out."""
        try:
            return super().structure_message(data)
        except JsonRpcException as failure:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=failure.to_response_error())
            raise


class Server(LanguageServer):
    """The language server, for one client."""

    def __init__(self) -> None:
        converter = default_converter()  # type: ignore[no-untyped-call]
        super().__init__("miltext", version("miltext"), protocol_cls=Protocol, converter_factory=lambda: converter)
        self._converter = converter
        self.documents: dict[str, Document] = {}
        self.was_shut_down = False
        self._reader = ThreadPoolExecutor(1, "reading")
        self._checker = ThreadPoolExecutor(1, "checking")
        self._checks: dict[str, _Check] = {}
        self._resting: asyncio.TimerHandle | None = None
        self._checked = 0
        for request in REQUESTS:
            self.feature(request.method, request.options)(self._answering(request))
        self.feature(lsp.COMPLETION_ITEM_RESOLVE)(lambda item: completion.resolve(item, self._client()))
        self.feature(lsp.SHUTDOWN)(lambda _: self._shut_down())

    # ---- documents

    def opened(self, item: lsp.TextDocumentItem) -> None:
        """Keep a document, and check it at once."""
        encoding = lsp.PositionEncodingKind(self.server_capabilities.position_encoding or "utf-16")
        self._keep(Document(item.uri, item.version, Positions(item.text, encoding.value)), 0)

    def changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        """Keep the document's next version, and have it checked. One that is not open is nobody's."""
        document = self.documents.get(params.text_document.uri)
        if document is not None:
            self._keep(document.edited(params.text_document.version, params.content_changes), QUIET)

    def closed(self, uri: str) -> None:
        """Forget a document, and what was said of it."""
        if self.documents.pop(uri, None) is not None:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def is_current(self, document: Document) -> bool:
        """Whether this is the last version of an open document."""
        return self.documents.get(document.uri) is document

    def _keep(self, document: Document, delay: float) -> None:
        self.documents[document.uri] = document
        check = self._checks.get(document.uri)
        if check is None or check.task.done():
            self._checks[document.uri] = check = _Check(self, document.uri)
        check.ask(delay)

    # ---- requests

    def _client(self) -> Abilities:
        return Abilities.of(self.client_capabilities)

    def _answering(self, request: Request) -> Callable[[Any], Any]:
        async def answer(params: Any) -> Any:
            self.rest()
            document = self.documents.get(params.text_document.uri)
            try:
                return None if document is None else await self._answer(request, document, params)
            except JsonRpcException:
                raise
            except Exception:
                _LOG.exception("%s failed", request.method)  # the client is told by pygls
                raise

        return answer

    async def _answer(self, request: Request, document: Document, params: Any) -> Any:
        reading = document.reading if request.waits else document.last_tree
        if reading is None:
            reading = await self.read(document)
        reading = reading if reading.root.children else document.before or reading
        view = View(document, reading, self._client())
        if request.is_long:
            return await self._in_thread(self.thread_pool, request.answer, view, params)
        return request.answer(view, params)

    async def read(self, document: Document) -> Reading:
        """Return the reading of a document; of a broken one, until it is checked, that of the last version that was
        not.

        Raises ContentModified where the document was superseded before it was read.
        """
        if document.reading is None and not document.is_broken:
            await self._in_thread(self._reader, self._read, document)
        found = document.reading or (document.before if document.is_broken else None)
        if found is None:
            raise superseded()
        return found

    def _read(self, document: Document) -> None:
        if document.reading is not None or document.is_broken or not self.is_current(document):
            return
        before = document.before
        is_undone = before is not None and before.text == document.text
        found = before if is_undone else read_whole(document.text)
        document.reading = read_past(document.text) if found is None and before is None else found
        document.is_broken = found is None or not found.is_whole

    def rest(self) -> None:
        """Have cyclic garbage collected once nobody asks for anything.

        There is little of it, but looking for it in the trees of long texts takes as long as a check does. Therefore
        Python does not do so by itself here, which would be in the middle of an answer.
        """
        if self._resting is not None:
            self._resting.cancel()
        if self._checked >= MOST_CHECKS:
            self._collect()
        self._resting = asyncio.get_running_loop().call_later(IDLE, self._collect)

    def _collect(self) -> None:
        self._checked = 0
        gc.collect()

    # ---- diagnostics

    async def check(self, document: Document) -> None:
        """Check a document and publish what is found; of one that was superseded meanwhile, what still holds.

        It is read first, so that whoever sees the diagnostics finds all else ready.
        """
        await self._in_thread(self._reader, self._read, document)
        found = await self._in_thread(self._checker, self._found, document)
        self._checked += 1
        latest = self.documents.get(document.uri)
        if latest is not None:
            latest.checked = found if latest is document else diagnosing.moved(found, document.text, latest.text)
            version = latest.version if latest is document else None
            params = lsp.PublishDiagnosticsParams(latest.uri, diagnosing.sent(latest), version)
            self.text_document_publish_diagnostics(params)

    def _found(self, document: Document) -> list[Diagnostic]:
        if self.is_current(document):
            document.reading = document.reading or read_past(document.text)
            _ = document.reading.inferred  # for completion, which does not wait
        return diagnosing.checked(document.text)

    async def _in_thread(self, pool: ThreadPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)

    # ---- the beginning and the end

    def warm_up(self) -> None:
        """Import and make what the first document and the first answers need."""
        found = read_whole(SMALLEST)
        assert found is not None
        view = View(Document("", 0, Positions(SMALLEST)), found)
        diagnosing.checked(SMALLEST)
        document, place = lsp.TextDocumentIdentifier(""), lsp.Position(0, SMALLEST.index("relu"))
        self._converter.unstructure(hover.hover(view, lsp.HoverParams(document, place)))
        self._converter.unstructure(completion.complete(view, lsp.CompletionParams(document, place)))

    def _shut_down(self) -> None:
        self.was_shut_down = True

    def shutdown(self) -> None:
        """Let go of the threads; what they have begun is not waited for."""
        self._reader.shutdown(wait=False, cancel_futures=True)
        self._checker.shutdown(wait=False, cancel_futures=True)
        super().shutdown()  # type: ignore[no-untyped-call]


class _Check:
    """The checks of one document: each waits until typing rests, but not for ever, and the last version is checked."""

    def __init__(self, server: Server, uri: str) -> None:
        self._server = server
        self._uri = uri
        self._last = self._latest = float("inf")
        self._loop = asyncio.get_running_loop()
        self.task = self._loop.create_task(self._run())

    def ask(self, delay: float) -> None:
        """Have the document checked once `delay` seconds are over in which nobody asks again."""
        now = self._loop.time()
        self._last = now + delay
        self._latest = min(self._latest, now + PATIENCE)

    async def _run(self) -> None:
        while (document := self._server.documents.get(self._uri)) is not None:
            due = min(self._last, self._latest)
            if (wait := due - self._loop.time()) > 0:
                await asyncio.sleep(wait)
                continue
            self._latest = float("inf")
            try:
                await self._server.check(document)
            except Exception:  # noqa: BLE001  # a fault of ours; the next change is another try
                _LOG.exception("a check was not published")
            self._server.rest()
            if self._server.is_current(document):
                return


def serve() -> int:
    """Serve one client on standard input and output, until it says so; the exit status of the process."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it shows what is refused as if it were a fault
    reading, writing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what anybody prints must not get between the messages
    threading.stack_size(STACK)
    sys.setswitchinterval(SWITCH)
    server = Server()
    server.warm_up()
    gc.disable()  # see Server.rest
    server.start_io(reading, writing)
    return 0 if server.was_shut_down else 1
