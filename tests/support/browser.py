"""A real Chromium for tests of pages, through Playwright; such tests are skipped where one of the two is absent.

`chromium` is the browser. `open_page` opens a page in it and fails its test on whatever the page should not do: an
error on its console, an exception that nobody catches, a request that leaves the place where the page came from.
`serve` gives a folder a port of this machine.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

SWITCHES = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
ONLY_THIS_MACHINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
OWN_SCHEMES = {"data", "blob", "about"}
PHONE = 390
"""The width of a phone, in CSS pixels."""
CUT = """(() => {
  const title = document.querySelector("h1");
  return [title.scrollWidth - title.clientWidth, title.scrollHeight - title.clientHeight];
})()"""
"""How much of the title of a page is cut, in width and height."""


def chromium_path() -> str | None:
    """Where Chromium is: what CHROMIUM names, or the first that the system has."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def no_browser() -> str | None:
    """The reason to skip a test that needs a browser."""
    if find_spec("playwright") is None:
        return "playwright is not installed: pip install -e '.[site]'"
    return None if chromium_path() else "chromium is not installed; CHROMIUM names another place"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium, as long as a module lasts: in a session, its loop would be in the way of others' loops."""
    if reason := no_browser():
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=[*SWITCHES, ONLY_THIS_MACHINE])
        yield browser
        browser.close()


class Opener:
    """Opens pages in windows of their own, and keeps what they did that they should not do."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.wrong: list[str] = []
        self.contexts: list[BrowserContext] = []

    def __call__(
        self,
        url: str,
        *,
        width: int = 1280,
        height: int = 800,
        scheme: Literal["light", "dark"] = "light",
        scripts: bool = True,
    ) -> Page:
        """A page in a window of its own; one of a phone's width is touched, too."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            has_touch=width <= PHONE,
            java_script_enabled=scripts,
        )
        context.set_default_timeout(20_000)
        self.contexts.append(context)
        page = context.new_page()
        context.on("console", self._console)
        context.on("weberror", lambda error: self.wrong.append(f"uncaught: {error.error}"))
        context.on("request", partial(self._request, place_of(url)))
        page.goto(url)
        return page

    def close(self) -> None:
        for context in self.contexts:
            context.close()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _request(self, home: tuple[str, str], request: Request) -> None:
        if place_of(request.url) != home and urlsplit(request.url).scheme not in OWN_SCHEMES:
            self.wrong.append(f"request: {request.url}")


def place_of(url: str) -> tuple[str, str]:
    """The part of a URL that all of a page's own files share."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Opener]:
    """Opens a page at a URL. The test fails if the page does what it should not; one that means it clears `wrong`."""
    opener = Opener(chromium)
    yield opener
    opener.close()
    assert opener.wrong == []


class _Files(SimpleHTTPRequestHandler):
    """The files of a folder, without a word on standard error."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The URL of a folder, which ends in a slash, while it is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(folder))) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


Serve = Callable[[Path], str]


@pytest.fixture(scope="module")
def serve() -> Iterator[Serve]:
    """Serves folders until the module's tests are done; returns their URLs."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(served(folder))
