"""Python's cyclic collector is off while a text is parsed, and as it was afterwards, however the parse ends."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from conftest import GOLDEN

from miltext import ParseError, parse, parse_with_source
from miltext.parsing import parser
from miltext.parsing.lowering import Lowering
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.parser import Parser

TEXT = (GOLDEN / "print" / "operations.mil").read_text(encoding="utf-8")
DEEP = f"program(1.3) [a = {'tuple<' * 300}int32{'>' * 300}($unset)] {{}}"
TOO_DEEP = f"program(1.3) [a = {'tuple<' * 60}int32{'>' * 60}($unset)] {{}}"
WRONG = ["", TEXT.replace(";", ""), TEXT + "x", TEXT.replace("int32(1)", "int32(1.5)"), DEEP, TOO_DEEP, "(" * 100_000]


@pytest.fixture(autouse=True, params=[True, False], ids=["collector on", "collector off"])
def before(request: pytest.FixtureRequest) -> Iterator[bool]:
    """The collector on, and off, before each test."""
    was = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if was else gc.disable)()


def watch(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the collector was on each time that a function's phrase was lowered."""
    seen: list[bool] = []

    def outputs(self: Lowering, children: list[str]) -> list[bytes]:
        seen.append(gc.isenabled())
        return [child.encode() for child in children[1:-1:2]]

    monkeypatch.setattr(Lowering, "outputs", outputs)
    monkeypatch.setattr(parser, "_parser_of", lambda text: Parser(Lowering()))  # not built before
    return seen


def test_collection_is_off_during_a_parse(monkeypatch: pytest.MonkeyPatch, before: bool) -> None:
    seen = watch(monkeypatch)
    parse("program(1.3) { func f() {} -> (); func g() {} -> (); }")
    assert seen == [False, False]
    assert gc.isenabled() is before


def test_collection_is_restored_after_a_parse(before: bool) -> None:
    parse(TEXT)
    assert gc.isenabled() is before
    parse_with_source(TEXT)
    assert gc.isenabled() is before


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_collection_is_restored_after_an_error(text: str, before: bool) -> None:
    with pytest.raises(ParseError):
        parse(text)
    assert gc.isenabled() is before
    with pytest.raises(ParseError):
        parse_with_source(text)
    assert gc.isenabled() is before


class Interrupted(BaseException):
    """Stands for a KeyboardInterrupt."""


@pytest.mark.parametrize("kind", [Interrupted, MemoryError, RuntimeError])
def test_collection_is_restored_after_any_exception(
    monkeypatch: pytest.MonkeyPatch, kind: type[BaseException], before: bool
) -> None:
    watch(monkeypatch)

    def outputs(self: Lowering, children: list[str]) -> list[bytes]:
        raise kind

    monkeypatch.setattr(Lowering, "outputs", outputs)
    with pytest.raises(kind):
        parse(TEXT)
    assert gc.isenabled() is before


def test_pauses_nest(before: bool) -> None:
    with gc_paused:
        with gc_paused:
            assert not gc.isenabled()
        assert not gc.isenabled()
        parse(TEXT)
        assert not gc.isenabled()
    assert gc.isenabled() is before


def test_overlapping_pauses_of_threads(before: bool) -> None:
    """The first to begin is the first to end: the collector stays off until the last has ended."""
    began, end = threading.Event(), threading.Event()

    def first() -> None:
        with gc_paused:
            began.set()
            end.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    assert began.wait(10)
    with gc_paused:
        end.set()
        thread.join()
        assert not gc.isenabled()
    assert gc.isenabled() is before


def test_concurrent_parses(before: bool) -> None:
    def work(index: int) -> int:
        try:
            parse(TEXT if index % 3 else WRONG[index % len(WRONG)])
        except ParseError:
            return 1
        return 0

    with ThreadPoolExecutor(8) as pool:
        errors = sum(pool.map(work, range(200)))
    assert errors == len(range(0, 200, 3))
    assert gc.isenabled() is before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("own_pauses", [0, 1, 2])
def test_a_fork_while_other_threads_parse(own_pauses: int, before: bool) -> None:
    """The child has only the thread that forked, and so only its pauses; the parent goes on with all."""
    began, end = threading.Barrier(4), threading.Event()

    def other() -> None:
        with gc_paused:
            began.wait(10)
            end.wait(10)

    threads = [threading.Thread(target=other) for _ in range(3)]
    for thread in threads:
        thread.start()
    began.wait(10)
    with ExitStack() as stack:
        for _ in range(own_pauses):
            stack.enter_context(gc_paused)
        child = os.fork()
        if child == 0:
            paused = gc.isenabled() is (before and not own_pauses)
            stack.close()
            parse(TEXT)
            os._exit(0 if paused and gc.isenabled() is before else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not gc.isenabled()
    end.set()
    for thread in threads:
        thread.join()
    assert gc.isenabled() is before
