"""A signal at any line of the code that writes: what was there is whole or replaced, and nothing is left beside it."""

from __future__ import annotations

import runpy
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from models.test_outputs import posix, tree

from miltext.files import staging
from miltext.files.interrupts import ended_by_signals
from miltext.files.staging import Staging

WRITING = {module.__file__ for module in (staging,)}
CALLED_BY_WITH = {"__enter__", "__exit__"}
"""Before the first line of these, nothing of theirs is in force."""


def struck(line: int, write: Callable[[], None]) -> bool:
    """Have a signal come when `write` is at this line of the writing modules; whether it came so far."""
    passed = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal passed
        code = frame.f_code
        if event == "line" and code.co_filename in WRITING and code.co_name not in CALLED_BY_WITH:
            passed += 1
            if passed == line:
                signal.raise_signal(signal.SIGTERM)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with suppress(SystemExit):
            write()
    finally:
        sys.settrace(before)
    return passed >= line


def a_file(path: Path, content: str) -> None:
    path.write_text(content)


def a_folder(path: Path, content: str) -> None:
    path.mkdir()
    (path / "Manifest.json").write_text(content)


@posix
@pytest.mark.parametrize("there", [True, False], ids=["replaced", "new"])
@pytest.mark.parametrize("make", [a_file, a_folder])
def test_an_interrupt_at_any_line(make: Callable[[Path, str], None], there: bool, tmp_path: Path) -> None:
    room = tmp_path / "room"
    target = room / "out" if there else room / "folder" / "inner" / "out"

    def prepare() -> None:
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir()
        if there:
            make(target, "old")

    def write() -> None:
        with ended_by_signals(), Staging(replace=there, parents=True) as made:
            make(made.place(target), "new")
            made.commit()

    prepare()
    before = tree(room)
    write()
    after = tree(room)
    line = 0
    while True:
        prepare()
        if not struck(line := line + 1, write):
            break
        assert tree(room) in (before, after), f"line {line}"
    assert line > 30


# ---- code that swallows what a handler raises


def bare_except(folder: Path) -> None:
    with suppress(BaseException):
        signal.raise_signal(signal.SIGTERM)


def destructor(folder: Path) -> None:
    class Ended:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    Ended()


def an_import(folder: Path) -> None:
    """As packages import what they may do without."""
    (folder / "swallowing.py").write_text("import signal\ntry:\n    signal.raise_signal(15)\nexcept:\n    pass\n")
    runpy.run_path(str(folder / "swallowing.py"))


def another_error(folder: Path) -> None:
    try:
        signal.raise_signal(signal.SIGTERM)
    except SystemExit as ending:
        raise ImportError("as a module written in C says it") from ending


SWALLOWING = [bare_except, destructor, an_import, another_error]


@posix
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("lasts", [True, False], ids=["goes on", "ends"])
@pytest.mark.parametrize("swallow", SWALLOWING)
def test_a_request_to_end_is_not_swallowed(swallow: Callable[[Path], None], lasts: bool, tmp_path: Path) -> None:
    passed = False

    def work() -> None:
        nonlocal passed
        with ended_by_signals():
            swallow(tmp_path)
            wait(20 * lasts)
            passed = lasts

    with pytest.raises(SystemExit) as ended:
        work()
    assert (ended.value.code, passed) == (128 + signal.SIGTERM, False)


def wait(seconds: float) -> None:
    """Wait in short steps, between which Python handles signals."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)


@posix
def test_cleaning_up_is_not_interrupted_again(tmp_path: Path) -> None:
    done = list[str]()

    def work() -> None:
        with ended_by_signals():
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                wait(0.5)
                done.append("finally")

    with pytest.raises(SystemExit):
        work()
    assert done == ["finally"]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
