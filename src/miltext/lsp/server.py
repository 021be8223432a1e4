"""The server itself: pygls moves the messages, and slow work is done in threads.

Each change makes a new Document. It is read once, for the first request that needs it or for its check, and checked
soon after the change, whether or not others follow. Diagnostics of an outdated version are published at their current
places.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from lsprotocol import types as lsp
from pygls.exceptions import FeatureNotificationError, FeatureRequestError, JsonRpcException, JsonRpcInternalError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method
from pygls.uris import to_fs_path

from miltext.checking.further import together
from miltext.checking.verifier import check_text
from miltext.diagnostics import codes, error
from miltext.lsp import completion, diagnosing, hover, workspace
from miltext.lsp.bundles import surroundings
from miltext.lsp.client import Abilities, content_modified
from miltext.lsp.documents import Document, View
from miltext.lsp.outlet import Outlet, end_with_the_guard
from miltext.lsp.positions import Positions
from miltext.lsp.reading import Reading, past, read_past, read_whole
from miltext.lsp.requests import REQUESTS, Request
from miltext.lsp.workers import PING
from miltext.parsing.rule_texts import is_rule_file

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.dynamic import Record

    T = TypeVar("T")

_LOG = logging.getLogger("miltext")

DELAY = 0.2
"""Seconds after a change until a text is checked, with the changes made by then."""

STACK = 1 << 24
"""Bytes of stack for a thread: some systems give a thread less than the main thread, and texts may nest deeply."""

SWITCH = 0.001
"""Seconds after which a checking thread lets an answering one run: a fifth of Python's default."""

SMALLEST = "program(1.3){func main<ios18>(fp32 x){fp32 y = relu(x = x);}->(y);}"
"""A text with at least one of each construct."""


class Protocol(LanguageServerProtocol):
    """The protocol with miltext's own documents: pygls' documents break lines at more characters than it allows."""

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

    def structure_message(self, data: Record) -> object:
        """Return a message from JSON; answer a malformed request with an error, which pygls omits."""
        try:
            return super().structure_message(data)
        except JsonRpcException as failure:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=failure.to_response_error())
            raise


class Server(LanguageServer):
    """The language server, for one client. A guarded one reports the documents in work to an `outlet`."""

    def __init__(self, outlet: Outlet | None = None) -> None:
        converter = default_converter()  # type: ignore[no-untyped-call]
        super().__init__("miltext", version("miltext"), protocol_cls=Protocol, converter_factory=lambda: converter)
        self._converter = converter
        self.documents: dict[str, Document] = {}
        self.was_shut_down = False
        self._outlet = outlet
        self._reader = ThreadPoolExecutor(1, "reading")
        self._checker = ThreadPoolExecutor(1, "checking")
        self._checks: dict[str, asyncio.Task[None]] = {}
        self._files = workspace.WorkspaceFiles()
        for request in REQUESTS:
            self.feature(request.method, request.options)(self._answering(request))
        self.feature(lsp.COMPLETION_ITEM_RESOLVE)(lambda item: completion.resolve(item, self._client()))
        self.feature(lsp.WORKSPACE_SYMBOL)(self._symbols())
        self.feature(lsp.TEXT_DOCUMENT_DID_SAVE)(lambda params: self.saved(params.text_document.uri))
        self.feature(lsp.SHUTDOWN)(lambda _: self._shut_down())
        self.feature(PING)(lambda _: None)

    # ---- documents

    def opened(self, item: lsp.TextDocumentItem) -> None:
        """Keep a document, and check it at once."""
        with self._at(item.uri):
            self._keep(Document(item.uri, item.version, Positions(item.text, self._encoding)), 0)

    def changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        """Keep the document's next version, and start its check. Ignore a closed document."""
        document = self.documents.get(params.text_document.uri)
        if document is not None:
            with self._at(document.uri):
                edited = document.edited(params.text_document.version, params.content_changes)
            self._keep(edited, DELAY)

    def saved(self, uri: str) -> None:
        """Check a document again, since files beside it may have changed. Ignore a closed document."""
        document = self.documents.get(uri)
        if document is not None:
            self._keep(replace(document), 0)  # a new object, which a check in progress does not replace

    def closed(self, uri: str) -> None:
        """Forget a document, and its diagnostics."""
        if self.documents.pop(uri, None) is not None:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def _is_current(self, document: Document) -> bool:
        """Return whether this is the last version of an open document."""
        return self.documents.get(document.uri) is document

    def _keep(self, document: Document, delay: float) -> None:
        self.documents[document.uri] = document
        task = self._checks.get(document.uri)
        if task is None or task.done():
            self._checks[document.uri] = asyncio.get_running_loop().create_task(self._check(document.uri, delay))

    @property
    def _encoding(self) -> str:
        """The unit of positions in a line that the client uses."""
        return lsp.PositionEncodingKind(self.server_capabilities.position_encoding or "utf-16").value

    # ---- requests

    def _symbols(self) -> Callable[[lsp.WorkspaceSymbolParams], Awaitable[list[lsp.SymbolInformation]]]:
        """Return the function that answers with the symbols of all open documents, and of the texts in the client's
        folders.
        """

        async def answer(params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
            folders = [path for each in self.workspace.folders.values() if (path := to_fs_path(each.uri))]
            documents = [*self.documents.values()]
            found = partial(workspace.found, params.query, documents, folders, self._files, self._encoding)
            return await self._in_thread(self.thread_pool, found)

        return answer

    def _client(self) -> Abilities:
        return Abilities.of(self.client_capabilities)

    def _answering(self, request: Request) -> Callable[[Any], Awaitable[object]]:
        async def answer(params: Any) -> object:
            document = self.documents.get(params.text_document.uri)
            if document is None:
                return None
            reading = document.reading if request.waits else document.last_tree
            if reading is None:
                reading = await self._reading(document)
            reading = reading if reading.root.children else document.before or reading
            view = View(document, reading, self._client())
            if request.is_long:
                return await self._in_thread(self.thread_pool, self._answer, request, view, params)
            return self._answer(request, view, params)

        return answer

    def _answer(self, request: Request, view: View, params: Any) -> object:
        with self._at(view.document.uri):
            return request.answer(view, params)

    async def _reading(self, document: Document) -> Reading:
        """Return the reading of a document; for a broken one, until it is checked, the reading of the last version that
        was not broken.

        Raise ContentModified if the document was superseded before it was read.
        """
        await self._in_thread(self._reader, self._read_noted, document)
        found = document.reading or (document.before if document.is_broken else None)
        if found is None:
            raise content_modified()
        return found

    def _read_noted(self, document: Document) -> None:
        with self._at(document.uri):
            self._read(document)

    def _read(self, document: Document) -> None:
        if document.reading is not None or document.is_broken or not self._is_current(document):
            return
        before = document.before
        is_undone = before is not None and before.text == document.text and not before.names_arrays
        found = before if is_undone else read_whole(document.text, document.path)
        document.reading = read_past(document.text, document.path) if found is None and before is None else found
        document.is_broken = found is None or not found.is_whole

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Log a bug in an answer or a notification. A refused or malformed message is none."""
        is_refused = isinstance(error, JsonRpcException) and not isinstance(error, JsonRpcInternalError)
        if source in (FeatureRequestError, FeatureNotificationError) and not is_refused:
            _LOG.error("a message was not answered", exc_info=True)

    # ---- diagnostics

    async def _check(self, uri: str, delay: float) -> None:
        """Check a document after a delay, and again until its last version is checked.

        Cyclic garbage is then collected, while the client is idle, among the new objects. There is little of it, but
        the search for it in the trees of long texts takes a while; so Python does not do it in the middle of an answer.
        """
        await asyncio.sleep(delay)
        while (document := self.documents.get(uri)) is not None:
            try:
                found = await self._found(document)
            except Exception as fault:  # noqa: BLE001  # the server lives on, and reports it
                _LOG.exception("a check failed")
                found = [
                    error(codes.INTERNAL_ERROR, f"internal error: the check failed: {type(fault).__name__}: {fault}")
                ]
            self._publish(document, found)
            if self._is_current(document):
                gc.collect(0)
                return
            await asyncio.sleep(DELAY)

    async def _found(self, document: Document) -> list[Diagnostic]:
        """Read a document, then check it, so that everything else is ready when the client gets the diagnostics."""
        await self._in_thread(self._reader, self._read_noted, document)
        return await self._in_thread(self._checker, self._checked_noted, document)

    def _checked_noted(self, document: Document) -> list[Diagnostic]:
        with self._at(document.uri):
            return self._checked(document)

    def _checked(self, document: Document) -> list[Diagnostic]:
        around = surroundings(document.path, document.text)
        also = diagnosing.further(document.path)
        checked = check_text(document.text, document.path, model=around.model, also=together(also))
        is_rules = is_rule_file(document.text)
        if is_rules:
            from miltext.rewriting.rule_checking import rule_findings

            checked = checked._replace(diagnostics=rule_findings(document.text, document.path))
        if self._is_current(document):
            document.reading = document.reading or past(document.text, checked, document.path)
            if not is_rules:  # rules have no types to learn
                document.reading.learn(checked, also)
        return diagnosing.selected(document.uri, [*around.diagnostics, *checked.diagnostics])

    def _publish(self, document: Document, found: list[Diagnostic]) -> None:
        """Publish the findings of a document; if it was superseded meanwhile, the still valid ones for the latest
        version.
        """
        latest = self.documents.get(document.uri)
        if latest is not None:
            latest.checked = found if latest is document else diagnosing.moved(found, document.text, latest.text)
            version = latest.version if latest is document else None
            params = lsp.PublishDiagnosticsParams(latest.uri, diagnosing.sent(latest), version)
            self.text_document_publish_diagnostics(params)

    async def _in_thread(self, pool: ThreadPoolExecutor, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)

    # ---- the beginning and the end

    def warm_up(self) -> None:
        """Import and make everything that the first document and the first answers need."""
        found = read_whole(SMALLEST)
        assert found is not None
        view = View(Document("", 0, Positions(SMALLEST)), found)
        check_text(SMALLEST)
        document, place = lsp.TextDocumentIdentifier(""), lsp.Position(0, SMALLEST.index("relu"))
        self._converter.unstructure(hover.hover(view, lsp.HoverParams(document, place)))
        self._converter.unstructure(completion.complete(view, lsp.CompletionParams(document, place)))

    @contextmanager
    def _at(self, uri: str) -> Iterator[None]:
        """Report a document in work, which may keep the process from reporting anything else."""
        if self._outlet is None:
            yield
            return
        self._outlet.say(uri, begins=True)
        try:
            yield
        finally:
            self._outlet.say(uri, begins=False)

    def _shut_down(self) -> None:
        self.was_shut_down = True

    def shutdown(self) -> None:
        """Stop the threads, without waiting for their work."""
        self._reader.shutdown(wait=False, cancel_futures=True)
        self._checker.shutdown(wait=False, cancel_futures=True)
        super().shutdown()  # type: ignore[no-untyped-call]


def serve(*, is_guarded: bool = False) -> int:
    """Serve one client on standard input and output; return the exit status of the process when the client leaves.

    If it `is_guarded`, the client is the Guard that started it.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it shows refused messages as if they were bugs
    reading, outlet = sys.stdin.buffer, Outlet(sys.stdout.buffer, is_guarded=is_guarded)
    sys.stdout = sys.stderr  # prints must not get between the messages
    threading.stack_size(STACK)
    sys.setswitchinterval(SWITCH)
    server = Server(outlet)
    if is_guarded:
        end_with_the_guard()
    server.warm_up()
    gc.disable()  # see Server._check
    server.start_io(reading, cast("BinaryIO", outlet))
    return 0 if server.was_shut_down else 1
