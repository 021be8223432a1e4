"""A signal at any line of the code that writes: what was there is whole or replaced, and nothing is left beside it."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from models.test_outputs import posix, tree

from miltext.models import staging
from miltext.models.interrupts import ended_by_signals
from miltext.models.staging import Staging

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
def test_at_any_line(make: Callable[[Path, str], None], there: bool, tmp_path: Path) -> None:
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
