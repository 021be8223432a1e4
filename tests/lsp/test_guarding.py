"""No text silences the server for another: one that hangs, takes long or ends its process is alone with that."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.json_rpc import message

pytest.importorskip("pygls", reason="needs the extra")

from miltext.lsp import guarding
from miltext.lsp.frames import bodies, message_in
from miltext.lsp.opened import MOST, Opened

pytestmark = pytest.mark.any_version

WAIT = 60
"""Seconds until a test gives up; what it waits for comes in two, unless the machine is busy."""

GOOD = "program(1.3){func main<ios18>(fp32 x){fp32 y = relu(x = x);}->(y);}"

WORKER = """
import ctypes, os, sys, time
sys.path[:] = {path!r}
import miltext.lsp.outlet, miltext.lsp.server as server
from miltext.checking.verifier import check_text
miltext.lsp.outlet.LIFE = 5

def faulty(text, path=None, **around):
    if "HANG" in text:  # no other thread runs meanwhile, as PyDLL keeps the interpreter's lock; no core is kept busy
        ctypes.PyDLL("kernel32").Sleep(1000000) if os.name == "nt" else ctypes.PyDLL(None).sleep(1000)
    if "SLOW" in text:
        end = time.monotonic() + 4
        while time.monotonic() < end:
            pass
    if "DIE" in text:
        os._exit(3)
    return check_text(text, path, **around)

server.check_text = faulty
sys.exit(server.serve(is_guarded=True))
"""

GUARD = f"""
import sys
from miltext.lsp import guarding, workers
workers._START = {WORKER!r}
guarding.PATIENCE = float(sys.argv[1])
sys.exit(guarding.serve())
"""


class Client:
    """An editor: what it was sent, by its method or the number of its request."""

    def __init__(self, patience: float = 1000) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", GUARD, str(patience)]
        self.server = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        self.sent: queue.Queue[dict[str, Any]] = queue.Queue()
        self.seen: list[dict[str, Any]] = []
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.answer("initialize", {"capabilities": {}, "processId": None, "rootUri": None})
        self.say("initialized", {})

    def _read(self) -> None:
        assert self.server.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            for body in bodies(self.server.stdout):
                self.sent.put(message_in(body))

    def write(self, data: bytes) -> None:
        assert self.server.stdin is not None
        self.server.stdin.write(data)
        self.server.stdin.flush()

    def say(self, method: str, params: Any) -> None:
        self.write(message(method, params))

    def ask(self, method: str, params: Any) -> int:
        self.number += 1
        self.write(message(method, params, self.number))
        return self.number

    def answer(self, method: str, params: Any) -> dict[str, Any]:
        number = self.ask(method, params)
        return self.until(lambda each: each.get("id") == number and "method" not in each)

    def until(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + WAIT
        while True:
            found = next((each for each in self.seen if fits(each)), None)
            if found is not None:
                self.seen.remove(found)
                return found
            self.seen.append(self.sent.get(timeout=max(end - time.monotonic(), 0.01)))

    def open(self, name: str, text: str) -> None:
        item = {"uri": f"untitled:{name}", "languageId": "mil", "version": 1, "text": text}
        self.say("textDocument/didOpen", {"textDocument": item})

    def change(self, name: str, text: str, version: int = 2) -> None:
        identifier = {"uri": f"untitled:{name}", "version": version}
        self.say("textDocument/didChange", {"textDocument": identifier, "contentChanges": [{"text": text}]})

    def close(self, name: str) -> None:
        self.say("textDocument/didClose", {"textDocument": {"uri": f"untitled:{name}"}})

    def hover(self, name: str) -> int:
        place = {"line": 0, "character": GOOD.index("relu")}
        return self.ask("textDocument/hover", {"textDocument": {"uri": f"untitled:{name}"}, "position": place})

    def said(self, name: str) -> list[dict[str, Any]]:
        """What is published next of a document."""
        found = self.until(
            lambda each: (
                each.get("method") == "textDocument/publishDiagnostics" and each["params"]["uri"] == f"untitled:{name}"
            )
        )
        return found["params"]["diagnostics"]  # type: ignore[no-any-return]

    def answered(self, number: int) -> dict[str, Any]:
        return self.until(lambda each: each.get("id") == number and "method" not in each)

    def leave(self) -> int:
        self.answer("shutdown", None)
        self.say("exit", None)
        return self.server.wait(WAIT)


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.server.kill()
    made.server.wait()


def children(process: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=,stat=", "--ppid", str(process)], capture_output=True, check=False)
    return [int(line.split()[0]) for line in found.stdout.splitlines() if b"Z" not in line.split()[1]]


needs_ps = pytest.mark.skipif(not os.path.exists("/proc/self"), reason="needs Linux' processes")


@pytest.mark.parametrize("fault", ["HANG", "SLOW", "DIE"])
def test_a_text_that_comes_first_does_not_silence_the_next(client: Client, fault: str) -> None:
    client.open("bad", f"{GOOD} // {fault}")
    time.sleep(0.3)
    client.open("good", GOOD)
    assert client.said("good") == []
    assert "relu" in str(client.answered(client.hover("good")))


@pytest.mark.parametrize("fault", ["HANG", "SLOW", "DIE"])
def test_a_later_text_does_not_silence_earlier_ones(client: Client, fault: str) -> None:
    for name in "abc":
        client.open(name, GOOD)
        assert client.said(name) == []
    client.open("bad", f"{GOOD} // {fault}")
    time.sleep(0.1)
    asked = [client.hover(name) for name in "abc"]
    client.change("a", GOOD.replace("relu", "nope"))
    for number in asked:
        client.answered(number)
    client.until(lambda each: "nope" in str(each.get("params")))


def test_two_texts_that_hang_do_not_silence_a_third(client: Client) -> None:
    client.open("good", GOOD)
    client.open("one", f"{GOOD} // HANG")
    client.open("two", f"{GOOD} // HANG")
    client.change("good", GOOD.replace("relu", "nope"))
    client.until(lambda each: "nope" in str(each.get("params")))
    client.open("last", GOOD)
    assert client.said("last") == []


def test_a_text_that_only_takes_long_is_checked_in_the_end(client: Client) -> None:
    client.open("slow", f"{GOOD} // SLOW".replace("relu", "nope"))
    client.open("good", GOOD)
    assert client.said("good") == []
    assert any("nope" in each["message"] for each in client.said("slow"))


@pytest.mark.parametrize(
    ("fault", "others", "seconds"), [("HANG", 0, 0), ("HANG", 1, 2.5), ("HANG", 0, 2.5), ("DIE", 1, 0), ("DIE", 0, 2.5)]
)
def test_a_text_is_checked_again_once_it_is_edited(client: Client, fault: str, others: int, seconds: float) -> None:
    """Also if the edit comes before the process is known not to listen."""
    for number in range(others):
        client.open(f"other {number}", GOOD)
    client.open("bad", f"{GOOD} // {fault}")
    time.sleep(seconds)
    client.change("bad", GOOD.replace("relu", "nope"))
    client.until(lambda each: "nope" in str(each.get("params")))
    assert "result" in client.answered(client.hover("bad"))


def test_a_text_whose_process_ends_reports_it(client: Client) -> None:
    client.open("bad", f"{GOOD} // DIE")
    [said] = client.said("bad")
    assert said["code"] == "MIL900"
    assert "has ended" in said["message"]
    assert "error" in client.answered(client.hover("bad"))
    client.open("good", GOOD)
    assert client.said("good") == []


def test_a_text_that_hangs_for_long_is_given_up() -> None:
    client = Client(patience=2)
    client.open("bad", f"{GOOD} // HANG")
    [said] = client.said("bad")
    assert said["code"] == "MIL900"
    assert "kept the server from listening for 2 seconds" in said["message"]
    assert client.leave() == 0


@needs_ps
def test_a_text_that_is_closed_leaves_no_process(client: Client) -> None:
    client.open("good", GOOD)
    client.open("bad", f"{GOOD} // HANG")
    time.sleep(3)
    client.change("good", GOOD.replace("relu", "nope"))
    client.until(lambda each: "nope" in str(each.get("params")))
    before = children(client.server.pid)
    client.close("bad")
    assert client.said("bad") == []
    client.change("good", GOOD.replace("relu", "other"), 3)
    client.until(lambda each: "other" in str(each.get("params")))
    assert len(children(client.server.pid)) == len(before) - 1


@pytest.mark.parametrize("fault", ["HANG", "SLOW", "DIE", ""])
def test_the_server_ends_when_the_client_reports_it(fault: str) -> None:
    client = Client()
    client.open("good", GOOD)
    client.open("bad", f"{GOOD} // {fault}")
    time.sleep(1.5)
    workers = children(client.server.pid) if os.path.exists("/proc/self") else []
    assert client.leave() == 0
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


@needs_ps
@pytest.mark.parametrize("fault", ["HANG", ""])
def test_no_process_outlives_a_server_that_was_killed(fault: str) -> None:
    client = Client()
    client.open("good", GOOD)
    client.said("good")
    client.open("bad", f"{GOOD} // {fault}")
    time.sleep(2)
    workers = children(client.server.pid)
    client.server.kill()
    client.server.wait()
    end = time.monotonic() + WAIT
    while workers and time.monotonic() < end:
        workers = [each for each in workers if os.path.exists(f"/proc/{each}")]
        time.sleep(0.2)
    assert not workers


def test_many_documents_move_together(client: Client) -> None:
    for number in range(40):
        client.open(f"d{number}", GOOD)
    client.open("bad", f"{GOOD} // HANG")
    time.sleep(0.5)
    for number in range(40):
        client.change(f"d{number}", GOOD.replace("relu", f"nope{number}"))
    for number in range(40):
        client.until(lambda each, number=number: f"`nope{number}`" in str(each.get("params")))  # type: ignore[misc]


def test_a_document_is_handed_on_as_it_was_edited() -> None:
    """Also by places in it, and after so many changes that they are made in the text."""
    opened = Opened({"uri": "untitled:x", "languageId": "mil", "version": 1, "text": "a\U0001f600b\n"})
    for number in range(MOST + 10):
        place = {"line": 0, "character": 3}
        change = {"range": {"start": place, "end": place}, "text": str(number % 10)}
        params = {"textDocument": {"uri": "untitled:x", "version": 2 + number}, "contentChanges": [change]}
        opened.change(params, "utf-16")
    opened.change({"textDocument": {}, "contentChanges": 7}, "utf-16")
    found = opened.as_opened("utf-16")["textDocument"]
    digits = "".join(str(number % 10) for number in reversed(range(MOST + 10)))
    assert found["text"] == f"a\U0001f600{digits}b\n"
    assert found["version"] == MOST + 11
    assert found["languageId"] == "mil"


def test_a_server_without_an_interpreter_of_its_own_serves_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that was frozen into one file cannot start others."""
    from miltext.lsp import server

    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(server, "serve", lambda: 7)
    assert guarding.serve() == 7
