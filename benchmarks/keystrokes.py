"""Type without a rest, and measure how long each key takes to reach the diagnostics.

    python benchmarks/keystrokes.py                        # a generated text of 25 kB: three minutes
    python benchmarks/keystrokes.py --seconds 5 model.mil

A probe tells which version of the text the diagnostics are of, for a server need not say so of a text that has changed
meanwhile: with each key the value above the typed line gets another size, and the last operation of the block does not
agree with it, which its diagnostic says with the size.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parent.parent / "src"))  # where miltext is not installed

from benchmarks.programs import network_text
from benchmarks.server import URI, Session

Message = dict[str, Any]

KINDS = ("name", "operation", "type")
"""What is typed: letters of an operation's name, whole operations, which break the text until they end, and sizes."""

PLACES = ("first", "middle", "last")
"""Which operation of the text it is typed into."""

GAPS = (0.08, 0.15)
"""Seconds between two keys, at least and at most."""

ASKED = ("textDocument/hover", "textDocument/completion")

_SIZE = 1_000_000
_PROBE = (f"tensor<fp32, [{_SIZE}]> probe = probing();", "tensor<fp32, [1]> probed = relu(x = probe);")
_PROBED = re.compile(r"returns tensor<fp32, \[(\d+)\]> here")
_OPERATION = re.compile(r"^ +tensor<\w+, \[.*\]> (\w+) = \w+\(.*;$", re.MULTILINE)


class Key(NamedTuple):
    """A key: what it puts in the place of the characters from `start` to `end` of the typed line."""

    start: int
    end: int
    text: str


class Times(NamedTuple):
    """Seconds from each key to its diagnostics, and from each request to its answer by method; and for how much of the
    time the server kept a processor busy.
    """

    keys: list[float]
    answers: dict[str, list[float]]
    load: float

    def __str__(self) -> str:
        times = {"keys": self.keys, **self.answers}
        shown = [f"{name} {1e3 * statistics.median(each):.0f}/{1e3 * max(each):.0f}" for name, each in times.items()]
        return f"median/worst in ms: {', '.join(shown)}; load {self.load:.2f}"


class Typist:
    """A document that is typed into: `text` is how it begins, `line` is the typed line."""

    def __init__(self, text: str, place: str) -> None:
        operations = list(_OPERATION.finditer(text))
        chosen = operations[{"first": 0, "middle": len(operations) // 2, "last": -1}[place]]
        end = text.rindex("\n", 0, text.rindex("} ->")) + 1
        probe, probed = (f"{' ' * 12}{operation}\n" for operation in _PROBE)
        self.text = f"{text[: chosen.start()]}{probe}{text[chosen.start() : end]}{probed}{text[end:]}"
        self.line = text.count("\n", 0, chosen.start()) + 1
        self.version = _SIZE
        self._operation = chosen[0]
        self._size_at = probe.index(str(_SIZE))

    def keys(self, kind: str) -> Iterator[Key]:
        """Yield keys without end."""
        if kind == "operation":
            for number in itertools.count():
                typed = re.sub(r" (\w+) = ", f" typed_{number} = ", self._operation, count=1)
                yield from (Key(place, place, key) for place, key in enumerate(f"{typed}\n"))
        start = self._operation.rindex('"') if kind == "name" else self._operation.index("]")
        while True:
            yield from (Key(start + nth, start + nth, "7") for nth in range(6))
            yield from (Key(start + nth, start + nth + 1, "") for nth in reversed(range(6)))

    def changes(self, key: Key) -> list[Message]:
        """Return what a key changes: its line, and the size above it, which is the document's next version."""
        self.version += 1
        width = len(str(_SIZE))
        probe = Key(self._size_at, self._size_at + width, str(self.version))
        return [_change(self.line, key), _change(self.line - 1, probe)]


def _change(line: int, key: Key) -> Message:
    place = {"start": {"line": line, "character": key.start}, "end": {"line": line, "character": key.end}}
    return {"range": place, "text": key.text}


class Typing(Session):
    """A server that is typed at."""

    def __enter__(self) -> Typing:
        super().__enter__()
        return self

    def typed(self, text: str, kind: str, place: str, seconds: float, *, asking: bool = False) -> Times:
        """Type for some seconds into a text; with `asking`, hover and complete after every fourth key."""
        typist, random = Typist(text, place), Random(7)
        self.diagnosed(typist.text)
        sent: dict[int, float] = {}
        asked: dict[int, tuple[str, float]] = {}
        messages: list[tuple[float, Message]] = []
        began, used = time.perf_counter(), self._processor_seconds()
        for key in typist.keys(kind):
            changes = typist.changes(key)
            now = sent[typist.version] = time.perf_counter()
            params = {"textDocument": {"uri": URI, "version": typist.version}, "contentChanges": changes}
            self._send({"method": "textDocument/didChange", "params": params})
            for method in ASKED if asking and len(sent) % 4 == 0 else ():
                asked[self._ask_at(method, typist.line, key.start)] = method, now
            messages += self._received_until(now + random.uniform(*GAPS))
            if time.perf_counter() - began > seconds:
                break
        load = (self._processor_seconds() - used) / (time.perf_counter() - began)
        while typist.version not in map(_seen, (message for _, message in messages)):
            messages += self._received_until(time.perf_counter() + 0.05)
        return Times(_key_times(sent, messages), _answer_times(asked, messages), load)

    def _ask_at(self, method: str, line: int, character: int) -> int:
        """Send a request about a place, and return its number without waiting for the answer."""
        self._sent += 1
        params = {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}
        self._send({"id": self._sent, "method": method, "params": params})
        return self._sent

    def _received_until(self, end: float) -> list[tuple[float, Message]]:
        """Return what comes by a time of `time.perf_counter`, and when each message came."""
        found = []
        with suppress(Empty):
            while True:
                message = self._received(max(end - time.perf_counter(), 0.0))
                found.append((time.perf_counter(), message))
        return found

    def _processor_seconds(self) -> float:
        """Return how long the server has run so far, where the system tells that of other processes; else 0."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # user and system time, as of proc(5)


def _seen(message: Message) -> int:
    """Return which version the diagnostics are of; 0 for any other message."""
    if message.get("method") != "textDocument/publishDiagnostics":
        return 0
    found = [_PROBED.search(each["message"]) for each in message["params"]["diagnostics"]]
    return max((int(match[1]) for match in found if match), default=0)


def _key_times(sent: Mapping[int, float], messages: list[tuple[float, Message]]) -> list[float]:
    shown = [(_seen(message), came) for came, message in messages]
    return [next(came for seen, came in shown if seen >= version) - began for version, began in sent.items()]


def _answer_times(
    asked: Mapping[int, tuple[str, float]], messages: list[tuple[float, Message]]
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    for came, message in messages:
        if "id" in message and message["id"] in asked:
            method, began = asked[message["id"]]
            times.setdefault(method if "result" in message else f"{method}, refused", []).append(came - began)
    return times


def main() -> None:
    """Type into the texts that are named, or a generated one of 25 kB, and print how long the keys took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", type=Path, metavar="TEXT", help="a text whose last block has operations")
    parser.add_argument("--seconds", type=float, default=20, help="how long to type into each (default: 20)")
    options = parser.parse_args()
    texts = {path.name: path.read_text(encoding="utf-8") for path in options.texts} or {"25 kB": network_text(130)}
    for name, kind, place in itertools.product(texts, KINDS, PLACES):
        with Typing() as session:
            times = session.typed(texts[name], kind, place, options.seconds, asking=True)
        print(f"{name}, {kind} in the {place} operation: {times}", flush=True)


if __name__ == "__main__":
    main()
